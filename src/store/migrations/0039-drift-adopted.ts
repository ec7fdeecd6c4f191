/** Live values that a run found to be drift and let count as if they were stated, by path. */
export const driftAdopted = `
alter table inventory add adopted jsonb;
`
