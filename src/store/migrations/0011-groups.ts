/** Groups as trees, who belongs to which, the roles of groups, and the roles in the scope of clients and client scopes. */
export const groups = `
create table realm_group (
  realm integer not null references realm (number) on delete cascade,
  id text collate "C" not null,
  path text collate "C" not null,
  name text collate "C" generated always as (replace(regexp_replace(path, '^.*(?<!~)/', ''), '~/', '/')) stored,
  parent text collate "C",
  version bigint not null,
  body jsonb not null,
  primary key (realm, id),
  constraint realm_group_path unique (realm, path) deferrable,
  foreign key (realm, parent) references realm_group (realm, id) on delete cascade
);

create index realm_group_parent on realm_group (realm, parent);

create table user_group (
  realm integer not null references realm (number) on delete cascade,
  user_account text collate "C" not null,
  realm_group text collate "C" not null,
  primary key (realm, user_account, realm_group),
  foreign key (realm, user_account) references user_account (realm, id) on delete cascade,
  foreign key (realm, realm_group) references realm_group (realm, id) on delete cascade
);

create index user_group_group on user_group (realm, realm_group);

create table group_role (
  realm integer not null references realm (number) on delete cascade,
  realm_group text collate "C" not null,
  role text collate "C" not null,
  primary key (realm, realm_group, role),
  foreign key (realm, realm_group) references realm_group (realm, id) on delete cascade,
  foreign key (realm, role) references role (realm, id) on delete cascade
);

create index group_role_role on group_role (realm, role);

create table realm_default_group (
  realm integer not null references realm (number) on delete cascade,
  realm_group text collate "C" not null,
  primary key (realm, realm_group),
  foreign key (realm, realm_group) references realm_group (realm, id) on delete cascade
);

create table client_role (
  realm integer not null references realm (number) on delete cascade,
  client text collate "C" not null,
  role text collate "C" not null,
  primary key (realm, client, role),
  foreign key (realm, client) references client (realm, id) on delete cascade,
  foreign key (realm, role) references role (realm, id) on delete cascade
);

create index client_role_role on client_role (realm, role);

create table client_scope_role (
  realm integer not null references realm (number) on delete cascade,
  client_scope text collate "C" not null,
  role text collate "C" not null,
  primary key (realm, client_scope, role),
  foreign key (realm, client_scope) references client_scope (realm, id) on delete cascade,
  foreign key (realm, role) references role (realm, id) on delete cascade
);

create index client_scope_role_role on client_scope_role (realm, role);

create table user_consent (
  realm integer not null references realm (number) on delete cascade,
  user_account text collate "C" not null,
  client text collate "C" not null,
  body jsonb not null,
  primary key (realm, user_account, client),
  foreign key (realm, user_account) references user_account (realm, id) on delete cascade,
  foreign key (realm, client) references client (realm, id) on delete cascade
);

create index user_consent_client on user_consent (realm, client);

create table user_consent_client_scope (
  realm integer not null references realm (number) on delete cascade,
  user_account text collate "C" not null,
  client text collate "C" not null,
  client_scope text collate "C" not null,
  primary key (realm, user_account, client, client_scope),
  foreign key (realm, user_account, client) references user_consent (realm, user_account, client) on delete cascade,
  foreign key (realm, client_scope) references client_scope (realm, id) on delete cascade
);

create table federated_identity (
  realm integer not null references realm (number) on delete cascade,
  user_account text collate "C" not null,
  identity_provider text collate "C" not null,
  user_id text collate "C" not null,
  user_name text,
  primary key (realm, user_account, identity_provider),
  foreign key (realm, user_account) references user_account (realm, id) on delete cascade,
  foreign key (realm, identity_provider) references identity_provider (realm, id) on delete cascade
);

create index federated_identity_user_id on federated_identity (realm, identity_provider, user_id);

create index user_consent_client_scope_scope on user_consent_client_scope (realm, client_scope);
`
