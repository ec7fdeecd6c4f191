/** What administrators did, as event viewers read it. */
export const adminEvents = `
create table admin_event (
  realm integer not null references realm (number) on delete cascade,
  number bigint generated always as identity,
  id text collate "C" not null,
  at timestamptz not null,
  operation_type text not null,
  resource_type text not null,
  resource_path text collate "C",
  auth_realm text collate "C",
  auth_client text collate "C",
  auth_user text collate "C",
  auth_address text collate "C",
  representation text,
  details jsonb,
  primary key (realm, number)
);

create index admin_event_at on admin_event (realm, at);
`
