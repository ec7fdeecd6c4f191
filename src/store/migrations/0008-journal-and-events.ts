/**
 * The two streams of the journal, and events of administrators and users.
 * An event refers to no user, because it outlives its user.
 */
export const journalAndEvents = [
  `create table journal (
    realm integer not null,
    number bigint not null,
    at timestamptz not null,
    actor jsonb not null,
    operation text not null check (operation in ('create', 'update', 'delete')),
    kind text not null,
    object text collate "C" not null,
    key jsonb not null,
    fields jsonb not null,
    primary key (realm, number)
  )`,
  `create index journal_object on journal (realm, kind, object, number desc)`,
  `create table user_journal (
    realm integer not null,
    number bigint generated always as identity,
    transaction xid8 not null default pg_current_xact_id(),
    at timestamptz not null,
    actor jsonb not null,
    operation text not null check (operation in ('create', 'update', 'delete')),
    kind text not null,
    object text collate "C" not null,
    key jsonb not null,
    fields jsonb not null,
    primary key (realm, number)
  )`,
  `create index user_journal_object on user_journal (realm, kind, object, number desc)`,
  `create table admin_event (
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
  )`,
  `create index admin_event_at on admin_event (realm, at)`,
  `create table user_event (
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
  )`,
  `create index user_event_at on user_event (realm, at)`,
  `create index user_event_user on user_event (realm, user_id, number)`,
]
