/** Client scopes, and those that a new client of the realm gets. */
export const clientScopes = `
create table client_scope (
  realm integer not null references realm (number) on delete cascade,
  id text collate "C" not null,
  name text collate "C" not null,
  version bigint not null,
  body jsonb not null,
  primary key (realm, id),
  constraint client_scope_name unique (realm, name) deferrable
);

create table realm_client_scope (
  realm integer not null references realm (number) on delete cascade,
  client_scope text collate "C" not null,
  optional boolean not null,
  primary key (realm, client_scope),
  foreign key (realm, client_scope) references client_scope (realm, id) on delete cascade
);
`
