/** Which of several processes may do something: who took it last, how many have taken it, and until when nobody else can. */
export const leases = `
create table lease (
  name text collate "C" primary key,
  holder text not null,
  token bigint not null,
  expires_at timestamptz not null
);
`
