/** Organizations with their domains, the people and the identity providers that belong to them. */
export const organizations = `
create table organization (
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
);

create table organization_domain (
  realm integer not null references realm (number) on delete cascade,
  name text collate "C" not null,
  organization text collate "C" not null,
  verified boolean not null,
  primary key (realm, name),
  foreign key (realm, organization) references organization (realm, id) on delete cascade
);

create index organization_domain_organization on organization_domain (realm, organization);

create table user_organization (
  realm integer not null references realm (number) on delete cascade,
  user_account text collate "C" not null,
  organization text collate "C" not null,
  primary key (realm, user_account, organization),
  foreign key (realm, user_account) references user_account (realm, id) on delete cascade,
  foreign key (realm, organization) references organization (realm, id) on delete cascade
);

create index user_organization_organization on user_organization (realm, organization);

create table user_managing_organization (
  realm integer not null references realm (number) on delete cascade,
  user_account text collate "C" not null,
  organization text collate "C" not null,
  primary key (realm, user_account, organization),
  foreign key (realm, user_account, organization)
    references user_organization (realm, user_account, organization) on delete cascade
);

create index user_managing_organization_organization on user_managing_organization (realm, organization);

alter table identity_provider add organization text collate "C";

alter table identity_provider
  add foreign key (realm, organization) references organization (realm, id) on delete set null (organization);

create index identity_provider_organization on identity_provider (realm, organization);
`
