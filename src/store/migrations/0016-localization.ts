/** Texts by language. */
export const localization = `
create table localization (
  realm integer not null references realm (number) on delete cascade,
  id text collate "C" not null,
  locale text collate "C" not null,
  version bigint not null,
  body jsonb not null,
  primary key (realm, id),
  constraint localization_locale unique (realm, locale) deferrable
);
`
