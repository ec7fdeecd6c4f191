/** Client scopes, clients, their protocol mappers, and roles. Realms and roles refer to each other. */
export const clientsAndRoles = [
  `create table client_scope (
    realm integer not null references realm (number) on delete cascade,
    id text collate "C" not null,
    name text collate "C" not null,
    version bigint not null,
    body jsonb not null,
    primary key (realm, id),
    constraint client_scope_name unique (realm, name) deferrable
  )`,
  `create table realm_client_scope (
    realm integer not null references realm (number) on delete cascade,
    client_scope text collate "C" not null,
    optional boolean not null,
    primary key (realm, client_scope),
    foreign key (realm, client_scope) references client_scope (realm, id) on delete cascade
  )`,
  `create table client (
    realm integer not null references realm (number) on delete cascade,
    id text collate "C" not null,
    client_id text collate "C" not null,
    version bigint not null,
    body jsonb not null,
    browser_flow text collate "C",
    direct_grant_flow text collate "C",
    editor_roles jsonb,
    primary key (realm, id),
    constraint client_client_id unique (realm, client_id) deferrable,
    foreign key (realm, browser_flow) references authentication_flow (realm, id) on delete set null (browser_flow),
    foreign key (realm, direct_grant_flow) references authentication_flow (realm, id) on delete set null (direct_grant_flow)
  )`,
  `create index client_browser_flow on client (realm, browser_flow)`,
  `create index client_direct_grant_flow on client (realm, direct_grant_flow)`,
  `create table client_client_scope (
    realm integer not null references realm (number) on delete cascade,
    client text collate "C" not null,
    client_scope text collate "C" not null,
    optional boolean not null,
    primary key (realm, client, client_scope),
    foreign key (realm, client) references client (realm, id) on delete cascade,
    foreign key (realm, client_scope) references client_scope (realm, id) on delete cascade
  )`,
  `create index client_client_scope_scope on client_client_scope (realm, client_scope)`,
  `create table protocol_mapper (
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
  )`,
  `create index protocol_mapper_client on protocol_mapper (realm, client)`,
  `create table role (
    realm integer not null references realm (number) on delete cascade,
    id text collate "C" not null,
    client text collate "C",
    name text collate "C" not null,
    version bigint not null,
    body jsonb not null,
    primary key (realm, id),
    constraint role_name unique nulls not distinct (realm, client, name) deferrable,
    foreign key (realm, client) references client (realm, id) on delete cascade
  )`,
  `alter table realm
    add foreign key (number, default_role) references role (realm, id) on delete set null (default_role)`,
  `create table role_composite (
    realm integer not null references realm (number) on delete cascade,
    role text collate "C" not null,
    child_role text collate "C" not null,
    primary key (realm, role, child_role),
    foreign key (realm, role) references role (realm, id) on delete cascade,
    foreign key (realm, child_role) references role (realm, id) on delete cascade
  )`,
  `create index role_composite_child_role on role_composite (realm, child_role)`,
  `create table client_role (
    realm integer not null references realm (number) on delete cascade,
    client text collate "C" not null,
    role text collate "C" not null,
    primary key (realm, client, role),
    foreign key (realm, client) references client (realm, id) on delete cascade,
    foreign key (realm, role) references role (realm, id) on delete cascade
  )`,
  `create index client_role_role on client_role (realm, role)`,
  `create table client_scope_role (
    realm integer not null references realm (number) on delete cascade,
    client_scope text collate "C" not null,
    role text collate "C" not null,
    primary key (realm, client_scope, role),
    foreign key (realm, client_scope) references client_scope (realm, id) on delete cascade,
    foreign key (realm, role) references role (realm, id) on delete cascade
  )`,
  `create index client_scope_role_role on client_scope_role (realm, role)`,
]
