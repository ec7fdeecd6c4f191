/** Groups as trees, their roles, and the default groups of realms. */
export const groups = [
  `create table realm_group (
    realm integer not null references realm (number) on delete cascade,
    id text collate "C" not null,
    path text collate "C" not null,
    path_folded text collate "C" not null,
    name text collate "C" generated always as (replace(regexp_replace(path, '^.*(?<!~)/', ''), '~/', '/')) stored,
    name_folded text collate "C"
      generated always as (replace(regexp_replace(path_folded, '^.*(?<!~)/', ''), '~/', '/')) stored,
    parent text collate "C",
    version bigint not null,
    body jsonb not null,
    primary key (realm, id),
    constraint realm_group_path unique (realm, path) deferrable,
    foreign key (realm, parent) references realm_group (realm, id) on delete cascade
  )`,
  `create index realm_group_parent on realm_group (realm, parent)`,
  `create index realm_group_wire_path on realm_group (realm, replace(path, '~/', '/'))`,
  `create table group_role (
    realm integer not null references realm (number) on delete cascade,
    realm_group text collate "C" not null,
    role text collate "C" not null,
    primary key (realm, realm_group, role),
    foreign key (realm, realm_group) references realm_group (realm, id) on delete cascade,
    foreign key (realm, role) references role (realm, id) on delete cascade
  )`,
  `create index group_role_role on group_role (realm, role)`,
  `create table realm_default_group (
    realm integer not null references realm (number) on delete cascade,
    realm_group text collate "C" not null,
    primary key (realm, realm_group),
    foreign key (realm, realm_group) references realm_group (realm, id) on delete cascade
  )`,
]
