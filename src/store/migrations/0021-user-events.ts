/** What people and clients did at log-in and afterwards. Nothing hangs on who did it: an event outlives its person. */
export const userEvents = `
create table user_event (
  realm integer not null references realm (number) on delete cascade,
  number bigint generated always as identity,
  id text collate "C" not null,
  at timestamptz not null,
  type text not null,
  client text collate "C",
  user_id text collate "C",
  session text collate "C",
  address text collate "C",
  error text,
  details jsonb,
  primary key (realm, number)
);

create index user_event_at on user_event (realm, at);
create index user_event_user on user_event (realm, user_id, number);
`
