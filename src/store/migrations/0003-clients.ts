/** Clients, the client scopes that they use, and the protocol mappers of both. */
export const clients = `
create table client (
  realm integer not null references realm (number) on delete cascade,
  id text collate "C" not null,
  client_id text collate "C" not null,
  version bigint not null,
  body jsonb not null,
  primary key (realm, id),
  constraint client_client_id unique (realm, client_id) deferrable
);

create table client_client_scope (
  realm integer not null references realm (number) on delete cascade,
  client text collate "C" not null,
  client_scope text collate "C" not null,
  optional boolean not null,
  primary key (realm, client, client_scope),
  foreign key (realm, client) references client (realm, id) on delete cascade,
  foreign key (realm, client_scope) references client_scope (realm, id) on delete cascade
);

create index client_client_scope_scope on client_client_scope (realm, client_scope);

create table protocol_mapper (
  realm integer not null references realm (number) on delete cascade,
  id text collate "C" not null,
  client_scope text collate "C",
  client text collate "C",
  name text collate "C" not null,
  version bigint not null,
  body jsonb not null,
  primary key (realm, id),
  check (num_nonnulls(client_scope, client) = 1),
  constraint protocol_mapper_name unique nulls not distinct (realm, client_scope, client, name) deferrable,
  foreign key (realm, client_scope) references client_scope (realm, id) on delete cascade,
  foreign key (realm, client) references client (realm, id) on delete cascade
);

create index protocol_mapper_client on protocol_mapper (realm, client);
`
