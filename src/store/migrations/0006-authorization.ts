/** Authorization scopes, resources and policies of clients. */
export const authorization = [
  `create table authorization_scope (
    realm integer not null references realm (number) on delete cascade,
    id text collate "C" not null,
    client text collate "C" not null,
    name text collate "C" not null,
    version bigint not null,
    body jsonb not null,
    primary key (realm, id),
    constraint authorization_scope_name unique (realm, client, name) deferrable,
    foreign key (realm, client) references client (realm, id) on delete cascade
  )`,
  `create table authorization_resource (
    realm integer not null references realm (number) on delete cascade,
    id text collate "C" not null,
    client text collate "C" not null,
    name text collate "C" not null,
    version bigint not null,
    body jsonb not null,
    owner text collate "C",
    primary key (realm, id),
    constraint authorization_resource_name unique (realm, client, name) deferrable,
    foreign key (realm, client) references client (realm, id) on delete cascade,
    foreign key (realm, owner) references user_account (realm, id) on delete set null (owner)
  )`,
  `create index authorization_resource_owner on authorization_resource (realm, owner)`,
  `create table authorization_policy (
    realm integer not null references realm (number) on delete cascade,
    id text collate "C" not null,
    client text collate "C" not null,
    name text collate "C" not null,
    version bigint not null,
    body jsonb not null,
    primary key (realm, id),
    constraint authorization_policy_name unique (realm, client, name) deferrable,
    foreign key (realm, client) references client (realm, id) on delete cascade
  )`,
  `create table authorization_resource_scope (
    realm integer not null references realm (number) on delete cascade,
    resource text collate "C" not null,
    scope text collate "C" not null,
    primary key (realm, resource, scope),
    foreign key (realm, resource) references authorization_resource (realm, id) on delete cascade,
    foreign key (realm, scope) references authorization_scope (realm, id) on delete cascade
  )`,
  `create index authorization_resource_scope_scope on authorization_resource_scope (realm, scope)`,
  `create table authorization_policy_resource (
    realm integer not null references realm (number) on delete cascade,
    policy text collate "C" not null,
    resource text collate "C" not null,
    primary key (realm, policy, resource),
    foreign key (realm, policy) references authorization_policy (realm, id) on delete cascade,
    foreign key (realm, resource) references authorization_resource (realm, id) on delete cascade
  )`,
  `create index authorization_policy_resource_resource on authorization_policy_resource (realm, resource)`,
  `create table authorization_policy_scope (
    realm integer not null references realm (number) on delete cascade,
    policy text collate "C" not null,
    scope text collate "C" not null,
    primary key (realm, policy, scope),
    foreign key (realm, policy) references authorization_policy (realm, id) on delete cascade,
    foreign key (realm, scope) references authorization_scope (realm, id) on delete cascade
  )`,
  `create index authorization_policy_scope_scope on authorization_policy_scope (realm, scope)`,
  `create table authorization_policy_policy (
    realm integer not null references realm (number) on delete cascade,
    policy text collate "C" not null,
    associated_policy text collate "C" not null,
    primary key (realm, policy, associated_policy),
    foreign key (realm, policy) references authorization_policy (realm, id) on delete cascade,
    foreign key (realm, associated_policy) references authorization_policy (realm, id) on delete cascade
  )`,
  `create index authorization_policy_policy_associated_policy on authorization_policy_policy (realm, associated_policy)`,
  `create table authorization_policy_user (
    realm integer not null references realm (number) on delete cascade,
    policy text collate "C" not null,
    user_account text collate "C" not null,
    primary key (realm, policy, user_account),
    foreign key (realm, policy) references authorization_policy (realm, id) on delete cascade,
    foreign key (realm, user_account) references user_account (realm, id) on delete cascade
  )`,
  `create index authorization_policy_user_user_account on authorization_policy_user (realm, user_account)`,
  `create table authorization_policy_client (
    realm integer not null references realm (number) on delete cascade,
    policy text collate "C" not null,
    client text collate "C" not null,
    primary key (realm, policy, client),
    foreign key (realm, policy) references authorization_policy (realm, id) on delete cascade,
    foreign key (realm, client) references client (realm, id) on delete cascade
  )`,
  `create index authorization_policy_client_client on authorization_policy_client (realm, client)`,
  `create table authorization_policy_role (
    realm integer not null references realm (number) on delete cascade,
    policy text collate "C" not null,
    role text collate "C" not null,
    optional boolean not null,
    primary key (realm, policy, role),
    foreign key (realm, policy) references authorization_policy (realm, id) on delete cascade,
    foreign key (realm, role) references role (realm, id) on delete cascade
  )`,
  `create index authorization_policy_role_role on authorization_policy_role (realm, role)`,
  `create table authorization_policy_group (
    realm integer not null references realm (number) on delete cascade,
    policy text collate "C" not null,
    realm_group text collate "C" not null,
    optional boolean not null,
    primary key (realm, policy, realm_group),
    foreign key (realm, policy) references authorization_policy (realm, id) on delete cascade,
    foreign key (realm, realm_group) references realm_group (realm, id) on delete cascade
  )`,
  `create index authorization_policy_group_realm_group on authorization_policy_group (realm, realm_group)`,
  `create table authorization_policy_client_scope (
    realm integer not null references realm (number) on delete cascade,
    policy text collate "C" not null,
    client_scope text collate "C" not null,
    optional boolean not null,
    primary key (realm, policy, client_scope),
    foreign key (realm, policy) references authorization_policy (realm, id) on delete cascade,
    foreign key (realm, client_scope) references client_scope (realm, id) on delete cascade
  )`,
  `create index authorization_policy_client_scope_client_scope on authorization_policy_client_scope (realm, client_scope)`,
]
