/** Components: each below the one that it belongs to. Their paths may repeat. */
export const components = `
create table component (
  realm integer not null references realm (number) on delete cascade,
  id text collate "C" not null,
  path text collate "C" not null,
  parent text collate "C",
  version bigint not null,
  body jsonb not null,
  primary key (realm, id),
  foreign key (realm, parent) references component (realm, id) on delete cascade
);

create index component_path on component (realm, path);
create index component_parent on component (realm, parent);
`
