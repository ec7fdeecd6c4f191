/** How a source is doing, whoever follows it, and since when it is suspended, and by whom. */
export const statesOfSources = `
alter table source add status jsonb not null default '{}', add suspended jsonb;
`
