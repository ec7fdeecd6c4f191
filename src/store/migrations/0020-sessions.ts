/** Who is logged in, with which clients, and what may be used once only. */
export const sessions = `
create table user_session (
  realm integer not null references realm (number) on delete cascade,
  offline boolean not null,
  id text collate "C" not null,
  user_account text collate "C" not null,
  started_at timestamptz not null,
  refreshed_at timestamptz not null,
  remember_me boolean not null,
  address text,
  body jsonb not null,
  primary key (realm, offline, id),
  foreign key (realm, user_account) references user_account (realm, id) on delete cascade
);

create index user_session_user_account on user_session (realm, user_account);

create table client_session (
  realm integer not null references realm (number) on delete cascade,
  offline boolean not null,
  session text collate "C" not null,
  client text collate "C" not null,
  started_at timestamptz not null,
  refreshed_at timestamptz not null,
  body jsonb not null,
  primary key (realm, offline, session, client),
  foreign key (realm, offline, session) references user_session (realm, offline, id) on delete cascade,
  foreign key (realm, client) references client (realm, id) on delete cascade
);

create index client_session_client on client_session (realm, client);

create table single_use (
  realm integer not null references realm (number) on delete cascade,
  key text collate "C" not null,
  uses integer not null,
  expires_at timestamptz not null,
  body jsonb not null,
  primary key (realm, key)
);

create index single_use_expires_at on single_use (realm, expires_at);
`
