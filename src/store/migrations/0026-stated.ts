/**
 * A digest of all that a row of the inventory says, so that a run need not read what is stated as it was applied. Rows
 * from before have none, and are read.
 */
export const stated = `
alter table inventory add stated text collate "C";
`
