/**
 * Users and service accounts, their credentials, mappings, memberships and consents.
 * `sole_email` is the email address if it is unique, and null if the realm allows several users to share it (decision 0074).
 */
export const users = [
  `create table user_account (
    realm integer not null references realm (number) on delete cascade,
    id text collate "C" not null,
    username text collate "C" not null,
    email text collate "C",
    sole_email text collate "C",
    first_name_folded text collate "C",
    last_name_folded text collate "C",
    service_account_client text collate "C",
    version bigint not null,
    body jsonb not null,
    primary key (realm, id),
    constraint user_account_username unique (realm, username),
    constraint user_account_sole_email unique (realm, sole_email) deferrable initially immediate,
    foreign key (realm, service_account_client) references client (realm, id) on delete cascade
  )`,
  `create unique index user_account_service_account on user_account (realm, service_account_client)`,
  `create index user_account_email on user_account (realm, email)`,
  `create index user_account_first_name on user_account (realm, first_name_folded)`,
  `create index user_account_last_name on user_account (realm, last_name_folded)`,
  `create index user_account_users on user_account (realm, username) include (id) where service_account_client is null`,
  `create unique index user_account_username_folded on user_account (lower(username collate "default"), realm)`,
  `create table credential (
    realm integer not null references realm (number) on delete cascade,
    id text collate "C" not null,
    user_account text collate "C" not null,
    type text not null,
    position integer not null,
    created_at timestamptz not null,
    body jsonb not null,
    primary key (realm, id),
    foreign key (realm, user_account) references user_account (realm, id) on delete cascade
  )`,
  `create index credential_user_account on credential (realm, user_account)`,
  `create table user_role (
    realm integer not null references realm (number) on delete cascade,
    user_account text collate "C" not null,
    role text collate "C" not null,
    primary key (realm, user_account, role),
    foreign key (realm, user_account) references user_account (realm, id) on delete cascade,
    foreign key (realm, role) references role (realm, id) on delete cascade
  )`,
  `create index user_role_role on user_role (realm, role)`,
  `create table user_group (
    realm integer not null references realm (number) on delete cascade,
    user_account text collate "C" not null,
    realm_group text collate "C" not null,
    primary key (realm, user_account, realm_group),
    foreign key (realm, user_account) references user_account (realm, id) on delete cascade,
    foreign key (realm, realm_group) references realm_group (realm, id) on delete cascade
  )`,
  `create index user_group_group on user_group (realm, realm_group)`,
  `create table user_organization (
    realm integer not null references realm (number) on delete cascade,
    user_account text collate "C" not null,
    organization text collate "C" not null,
    primary key (realm, user_account, organization),
    foreign key (realm, user_account) references user_account (realm, id) on delete cascade,
    foreign key (realm, organization) references organization (realm, id) on delete cascade
  )`,
  `create index user_organization_organization on user_organization (realm, organization)`,
  `create table user_managing_organization (
    realm integer not null references realm (number) on delete cascade,
    user_account text collate "C" not null,
    organization text collate "C" not null,
    primary key (realm, user_account, organization),
    foreign key (realm, user_account, organization)
      references user_organization (realm, user_account, organization) on delete cascade
  )`,
  `create index user_managing_organization_organization on user_managing_organization (realm, organization)`,
  `create table user_consent (
    realm integer not null references realm (number) on delete cascade,
    user_account text collate "C" not null,
    client text collate "C" not null,
    body jsonb not null,
    primary key (realm, user_account, client),
    foreign key (realm, user_account) references user_account (realm, id) on delete cascade,
    foreign key (realm, client) references client (realm, id) on delete cascade
  )`,
  `create index user_consent_client on user_consent (realm, client)`,
  `create table user_consent_client_scope (
    realm integer not null references realm (number) on delete cascade,
    user_account text collate "C" not null,
    client text collate "C" not null,
    client_scope text collate "C" not null,
    primary key (realm, user_account, client, client_scope),
    foreign key (realm, user_account, client) references user_consent (realm, user_account, client) on delete cascade,
    foreign key (realm, client_scope) references client_scope (realm, id) on delete cascade
  )`,
  `create index user_consent_client_scope_scope on user_consent_client_scope (realm, client_scope)`,
  `create table federated_identity (
    realm integer not null references realm (number) on delete cascade,
    user_account text collate "C" not null,
    identity_provider text collate "C" not null,
    user_id text collate "C" not null,
    user_name text,
    primary key (realm, user_account, identity_provider),
    foreign key (realm, user_account) references user_account (realm, id) on delete cascade,
    foreign key (realm, identity_provider) references identity_provider (realm, id) on delete cascade
  )`,
  `create index federated_identity_user_id on federated_identity (realm, identity_provider, user_id)`,
]
