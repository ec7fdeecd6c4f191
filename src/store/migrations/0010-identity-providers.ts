/** Identity providers and their mappers. */
export const identityProviders = `
create table identity_provider (
  realm integer not null references realm (number) on delete cascade,
  id text collate "C" not null,
  alias text collate "C" not null,
  version bigint not null,
  body jsonb not null,
  first_broker_login_flow text collate "C",
  post_broker_login_flow text collate "C",
  primary key (realm, id),
  constraint identity_provider_alias unique (realm, alias) deferrable,
  foreign key (realm, first_broker_login_flow) references authentication_flow (realm, id) on delete set null (first_broker_login_flow),
  foreign key (realm, post_broker_login_flow) references authentication_flow (realm, id) on delete set null (post_broker_login_flow)
);

create index identity_provider_first_broker_login_flow on identity_provider (realm, first_broker_login_flow);
create index identity_provider_post_broker_login_flow on identity_provider (realm, post_broker_login_flow);

create table identity_provider_mapper (
  realm integer not null references realm (number) on delete cascade,
  id text collate "C" not null,
  identity_provider text collate "C" not null,
  name text collate "C" not null,
  version bigint not null,
  body jsonb not null,
  primary key (realm, id),
  constraint identity_provider_mapper_name unique (realm, identity_provider, name) deferrable,
  foreign key (realm, identity_provider) references identity_provider (realm, id) on delete cascade
);
`
