/** Names of groups and people in lower case, as they are looked for; groups by the path that the wire shows. */
export const peopleSearch = `
alter table realm_group add path_folded text collate "C";

alter table realm_group
  alter path_folded type text collate "C" using lower(path collate "default"),
  alter path_folded set not null;

alter table realm_group
  add name_folded text collate "C"
    generated always as (replace(regexp_replace(path_folded, '^.*(?<!~)/', ''), '~/', '/')) stored;

create index realm_group_wire_path on realm_group (realm, replace(path, '~/', '/'));

alter table user_account
  add first_name_folded text collate "C",
  add last_name_folded text collate "C";

alter table user_account
  alter first_name_folded type text collate "C" using lower((body ->> 'firstName') collate "default"),
  alter last_name_folded type text collate "C" using lower((body ->> 'lastName') collate "default");

create index user_account_first_name on user_account (realm, first_name_folded);
create index user_account_last_name on user_account (realm, last_name_folded);
`
