/**
 * Authentication sessions, sessions, single-use objects and login failures. A login failure has no foreign key to a user:
 * a row for an unknown name must cost as much as one for a user.
 */
export const sessions = [
  `create table authentication_session (
    realm integer not null references realm (number) on delete cascade,
    id text collate "C" not null,
    tab text collate "C" not null,
    code text collate "C" not null,
    expires_at timestamptz not null,
    body jsonb not null,
    primary key (realm, id, tab)
  )`,
  `create index authentication_session_expires_at on authentication_session (realm, expires_at)`,
  `create table user_session (
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
  )`,
  `create index user_session_user_account on user_session (realm, user_account)`,
  `create table client_session (
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
  )`,
  `create index client_session_client on client_session (realm, client)`,
  `create table single_use (
    realm integer not null references realm (number) on delete cascade,
    key text collate "C" not null,
    uses integer not null,
    expires_at timestamptz not null,
    body jsonb not null,
    primary key (realm, key)
  )`,
  `create index single_use_expires_at on single_use (realm, expires_at)`,
  `create table login_failure (
    realm integer not null references realm (number) on delete cascade,
    is_user boolean not null,
    subject text collate "C" not null,
    failures integer not null,
    lockouts integer not null,
    otp_failures integer not null,
    failed_at timestamptz,
    address text,
    locked_until timestamptz,
    permanently_locked boolean not null,
    primary key (realm, is_user, subject)
  )`,
]
