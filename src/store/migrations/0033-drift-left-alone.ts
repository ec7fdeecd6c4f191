/** Live values that a run found to be drift and left alone, by path: they are shown until they are gone. */
export const driftLeftAlone = `
alter table inventory add drifted jsonb;
create index inventory_drifted on inventory (realm) where drifted is not null;
`
