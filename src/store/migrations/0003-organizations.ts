/** Organizations and identity providers. */
export const organizations = [
  `create table organization (
    realm integer not null references realm (number) on delete cascade,
    id text collate "C" not null,
    alias text collate "C" not null,
    display_name text collate "C" not null,
    display_name_folded text collate "C" not null,
    version bigint not null,
    body jsonb not null,
    primary key (realm, id),
    constraint organization_alias unique (realm, alias) deferrable,
    constraint organization_display_name unique (realm, display_name) deferrable
  )`,
  `create table organization_domain (
    realm integer not null references realm (number) on delete cascade,
    name text collate "C" not null,
    organization text collate "C" not null,
    verified boolean not null,
    primary key (realm, name),
    foreign key (realm, organization) references organization (realm, id) on delete cascade
  )`,
  `create index organization_domain_organization on organization_domain (realm, organization)`,
  `create table identity_provider (
    realm integer not null references realm (number) on delete cascade,
    id text collate "C" not null,
    alias text collate "C" not null,
    version bigint not null,
    body jsonb not null,
    first_broker_login_flow text collate "C",
    post_broker_login_flow text collate "C",
    organization text collate "C",
    primary key (realm, id),
    constraint identity_provider_alias unique (realm, alias) deferrable,
    foreign key (realm, first_broker_login_flow) references authentication_flow (realm, id) on delete set null (first_broker_login_flow),
    foreign key (realm, post_broker_login_flow) references authentication_flow (realm, id) on delete set null (post_broker_login_flow),
    foreign key (realm, organization) references organization (realm, id) on delete set null (organization)
  )`,
  `create index identity_provider_first_broker_login_flow on identity_provider (realm, first_broker_login_flow)`,
  `create index identity_provider_post_broker_login_flow on identity_provider (realm, post_broker_login_flow)`,
  `create index identity_provider_organization on identity_provider (realm, organization)`,
  `create table identity_provider_mapper (
    realm integer not null references realm (number) on delete cascade,
    id text collate "C" not null,
    identity_provider text collate "C" not null,
    name text collate "C" not null,
    version bigint not null,
    body jsonb not null,
    primary key (realm, id),
    constraint identity_provider_mapper_name unique (realm, identity_provider, name) deferrable,
    foreign key (realm, identity_provider) references identity_provider (realm, id) on delete cascade
  )`,
]
