/** Workflows. */
export const workflows = `
create table workflow (
  realm integer not null references realm (number) on delete cascade,
  id text collate "C" not null,
  name text collate "C" not null,
  version bigint not null,
  body jsonb not null,
  primary key (realm, id),
  constraint workflow_name unique (realm, name) deferrable
);
`
