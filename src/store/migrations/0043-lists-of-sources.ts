/** Somebody made something since the source was applied: it may belong into a list of which the source states all. */
export const listsOfSources = `
alter table source_realm add added boolean not null default false;
`
