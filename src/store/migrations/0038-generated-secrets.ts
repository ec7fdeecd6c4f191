/** Secrets that are made for what sources state of realms: what each is derived from, by the name that documents give it. */
export const generatedSecrets = `
create table generated_secret (
  realm integer not null references realm (number) on delete cascade,
  source integer not null references source (number) on delete cascade,
  name text collate "C" not null,
  seed text not null,
  made_at timestamptz not null,
  primary key (realm, source, name)
);
`
