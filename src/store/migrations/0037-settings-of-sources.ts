/** What a source settles about itself, as it was when it applied last. */
export const settingsOfSources = `
alter table source_realm add settings jsonb not null default '{}';
`
