/** Groups of organizations, which were a field of the organization, with their roles and members. */
export const organizationGroups = [
  `create table organization_group (
    realm integer not null references realm (number) on delete cascade,
    id text collate "C" not null,
    organization text collate "C" not null,
    path text collate "C" not null,
    path_folded text collate "C" not null,
    name text collate "C" generated always as (replace(regexp_replace(path, '^.*(?<!~)/', ''), '~/', '/')) stored,
    name_folded text collate "C"
      generated always as (replace(regexp_replace(path_folded, '^.*(?<!~)/', ''), '~/', '/')) stored,
    parent text collate "C",
    version bigint not null,
    body jsonb not null,
    primary key (realm, id),
    constraint organization_group_path unique (realm, organization, path) deferrable,
    foreign key (realm, organization) references organization (realm, id) on delete cascade,
    foreign key (realm, parent) references organization_group (realm, id) on delete cascade
  )`,
  `create index organization_group_parent on organization_group (realm, parent)`,
  `create table organization_group_role (
    realm integer not null references realm (number) on delete cascade,
    organization_group text collate "C" not null,
    role text collate "C" not null,
    primary key (realm, organization_group, role),
    foreign key (realm, organization_group) references organization_group (realm, id) on delete cascade,
    foreign key (realm, role) references role (realm, id) on delete cascade
  )`,
  `create index organization_group_role_role on organization_group_role (realm, role)`,
  `create table user_organization_group (
    realm integer not null references realm (number) on delete cascade,
    user_account text collate "C" not null,
    organization_group text collate "C" not null,
    primary key (realm, user_account, organization_group),
    foreign key (realm, user_account) references user_account (realm, id) on delete cascade,
    foreign key (realm, organization_group) references organization_group (realm, id) on delete cascade
  )`,
  `create index user_organization_group_group on user_organization_group (realm, organization_group)`,
  // Of several groups with the same path, one is retained.
  `with recursive tree as (
    select o.realm, o.id as organization, o.version, '' as parent, '/' || replace(g.node ->> 'name', '/', '~/') as path, g.node
    from organization o cross join lateral jsonb_array_elements(o.body -> 'groups') as g(node)
    where jsonb_typeof(o.body -> 'groups') = 'array'
    union all
    select t.realm, t.organization, t.version, t.path, t.path || '/' || replace(g.node ->> 'name', '/', '~/'), g.node
    from tree t cross join lateral jsonb_array_elements(t.node -> 'subGroups') as g(node)
    where jsonb_typeof(t.node -> 'subGroups') = 'array'
  )
  insert into organization_group (realm, id, organization, path, path_folded, version, body)
  select distinct on (realm, organization, path) realm, gen_random_uuid()::text, organization, path, lower(path), version,
    node - 'name' - 'subGroups' || jsonb_build_object('parentPath', parent)
  from tree`,
  `update organization_group g set parent = p.id from organization_group p
  where p.realm = g.realm and p.organization = g.organization and p.path = g.body ->> 'parentPath'`,
  `insert into organization_group_role (realm, organization_group, role)
  select g.realm, g.id, r.id from organization_group g
  cross join lateral jsonb_array_elements_text(coalesce(g.body -> 'realmRoles', '[]')) as n(name)
  join role r on r.realm = g.realm and r.client is null and r.name = n.name
  union
  select g.realm, g.id, r.id from organization_group g
  cross join lateral jsonb_each(coalesce(g.body -> 'clientRoles', '{}')) as c(client, names)
  cross join lateral jsonb_array_elements_text(c.names) as n(name)
  join client on client.realm = g.realm and client.client_id = c.client
  join role r on r.realm = g.realm and r.client = client.id and r.name = n.name`,
  `update organization_group set body = body - 'realmRoles' - 'clientRoles' - 'parentPath'`,
  `update organization set body = body - 'groups' where body ? 'groups'`,
  // Their declarations are compared again, so that the sources manage the groups.
  `update inventory set fields = fields - 'groups', lines = lines - 'groups', declared_digest = null
  where kind = 'organization' and fields ? 'groups'`,
]
