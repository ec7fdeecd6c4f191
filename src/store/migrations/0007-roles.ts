/** Roles of realms and clients, and the roles that a role contains. */
export const roles = `
create table role (
  realm integer not null references realm (number) on delete cascade,
  id text collate "C" not null,
  client text collate "C",
  name text collate "C" not null,
  version bigint not null,
  body jsonb not null,
  primary key (realm, id),
  constraint role_name unique nulls not distinct (realm, client, name) deferrable,
  foreign key (realm, client) references client (realm, id) on delete cascade
);

create table role_composite (
  realm integer not null references realm (number) on delete cascade,
  role text collate "C" not null,
  part text collate "C" not null,
  primary key (realm, role, part),
  foreign key (realm, role) references role (realm, id) on delete cascade,
  foreign key (realm, part) references role (realm, id) on delete cascade
);

create index role_composite_part on role_composite (realm, part);
`
