/** Audit entries to deliver. They outlive their realm, so that the deletion of a realm does not delete what happened in it. */
export const auditOutbox = [
  `create table audit_outbox (
    number bigint generated always as identity primary key,
    sink text collate "C" not null,
    due timestamptz not null,
    attempts integer not null,
    entries integer not null,
    body text not null
  )`,
  `create index audit_outbox_sink on audit_outbox (sink, number)`,
]
