/** Who has which role, and the role that everybody new gets. */
export const roleMappings = `
create table user_role (
  realm integer not null references realm (number) on delete cascade,
  user_account text collate "C" not null,
  role text collate "C" not null,
  primary key (realm, user_account, role),
  foreign key (realm, user_account) references user_account (realm, id) on delete cascade,
  foreign key (realm, role) references role (realm, id) on delete cascade
);

create index user_role_role on user_role (realm, role);

alter table realm
  add default_role text collate "C",
  add foreign key (number, default_role) references role (realm, id) on delete set null (default_role);
`
