/** People and service accounts, and what they log in with. */
export const users = `
create table user_account (
  realm integer not null references realm (number) on delete cascade,
  id text collate "C" not null,
  username text collate "C" not null,
  email text collate "C",
  service_account_client text collate "C",
  version bigint not null,
  body jsonb not null,
  primary key (realm, id),
  constraint user_account_username unique (realm, username),
  foreign key (realm, service_account_client) references client (realm, id) on delete cascade
);

create unique index user_account_service_account on user_account (realm, service_account_client);
create index user_account_email on user_account (realm, email);

create table credential (
  realm integer not null references realm (number) on delete cascade,
  id text collate "C" not null,
  user_account text collate "C" not null,
  type text not null,
  place integer not null,
  created_at timestamptz not null,
  body jsonb not null,
  primary key (realm, id),
  foreign key (realm, user_account) references user_account (realm, id) on delete cascade
);

create index credential_user_account on credential (realm, user_account);
`
