/** Leases of processes, and the outbox of emails and notifications. */
export const leasesAndOutbox = [
  `create table lease (
    name text collate "C" primary key,
    holder text not null,
    token bigint not null,
    expires_at timestamptz not null
  )`,
  `create table outbox (
    realm integer not null references realm (number) on delete cascade,
    id text collate "C" not null,
    kind text not null,
    due timestamptz not null,
    attempts integer not null,
    body text not null,
    primary key (realm, id)
  )`,
  `create index outbox_due on outbox (due)`,
]
