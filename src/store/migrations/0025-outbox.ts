/** What is to leave the server once its transaction is committed. */
export const outbox = `
create table outbox (
  realm integer not null references realm (number) on delete cascade,
  id text collate "C" not null,
  kind text not null,
  due timestamptz not null,
  attempts integer not null,
  body text not null,
  primary key (realm, id)
);

create index outbox_due on outbox (due);
`
