/** Log-ins that people are about to do: a browser may have several, one in each of its tabs. */
export const authenticationSessions = `
create table authentication_session (
  realm integer not null references realm (number) on delete cascade,
  id text collate "C" not null,
  tab text collate "C" not null,
  code text collate "C" not null,
  expires_at timestamptz not null,
  body jsonb not null,
  primary key (realm, id, tab)
);

create index authentication_session_expires_at on authentication_session (realm, expires_at);
`
