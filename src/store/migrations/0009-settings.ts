/** What the store knows of itself: of no realm. */
export const settings = `
create table store_setting (
  name text primary key,
  value text not null
);
`
