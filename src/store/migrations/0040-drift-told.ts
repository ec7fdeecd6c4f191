/** What was told of the drift of each realm, so that of several processes one tells it. */
export const driftTold = `
create table drift_told (
  realm integer primary key references realm (number) on delete cascade,
  number integer not null,
  drift jsonb not null
);
`
