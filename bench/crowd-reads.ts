// What administrators read in a realm with very many people, each beside the best single statement that gives the same text.
import { isDeepStrictEqual } from 'node:util'
import { type Crowd, crowd, idOf } from './crowd.ts'
import type { Bench, Case, Statement } from './measure.ts'
import { openServers, type Reading, type Servers } from './requests.ts'

/** Reads that are measured. */
export interface CrowdReads {
  readonly cases: Case[]
  /** Ends the servers. */
  close(): Promise<void>
}

/** The reads, on a realm with so many people. Throws where the two servers do not answer the same. */
export async function crowdReads(bench: Bench, people: number): Promise<CrowdReads> {
  const made = await crowd(bench, 'crowd', people)
  const servers = await openServers(bench)
  const all = Object.entries(readings(made))
  for (const [name, [first]] of all) await demandSame(servers, name, first!)
  return { cases: all.map(([name, some]) => servers.reads(name, some)), close: () => servers.close() }
}

async function demandSame(servers: Servers, name: string, reading: Reading): Promise<void> {
  const [ours, bare] = [await servers.answer(reading.path), await servers.bareAnswer(reading)]
  if (isDeepStrictEqual(JSON.parse(ours), JSON.parse(bare))) return
  throw new Error(`${name}: ${reading.path} gives ${ours.slice(0, 1_000)}\nand the statement ${bare.slice(0, 1_000)}`)
}

function readings({ realm, number, id: realmId, people }: Crowd): Record<string, Reading[]> {
  const at = (path: string, floor: Statement): Reading[] => [{ path: `/admin/realms/${realm}/${path}`, floor }]
  const rows = (json: string, from: string, ...parameters: unknown[]): Statement => [
    `select coalesce(json_agg(${json}), '[]')::text as body from (${from}) x`,
    [number, ...parameters],
  ]
  const count = (from: string, ...parameters: unknown[]): Statement => [
    `select count(*)::text as body from ${from}`,
    [number, ...parameters],
  ]
  const counted = (from: string, ...parameters: unknown[]): Statement => [
    `select json_build_object('count', count(*))::text as body from ${from}`,
    [number, ...parameters],
  ]

  const user = (more: string, brief = false) => `json_build_object('id', x.id, 'username', x.username,
    'firstName', x.body -> 'firstName', 'lastName', x.body -> 'lastName', 'email', x.email, 'emailVerified', x.body -> 'emailVerified',
    'enabled', x.body -> 'enabled', 'createdTimestamp', x.body -> 'createdTimestamp'${more}
    ${
      brief
        ? ''
        : `, 'attributes', x.body -> 'attributes', 'totp',
            exists (select from credential c where c.realm = x.realm and c.user_account = x.id and c.type = 'otp'),
            'disableableCredentialTypes', '[]'::json, 'requiredActions', '[]'::json, 'notBefore', 0`
    })`
  const access = `, 'access', json_build_object('manage', true)`
  /** A page of the users for whom the condition holds. */
  const users = (where: string, page: string, ...parameters: unknown[]) =>
    rows(
      user(access),
      `select u.* from user_account u where u.realm = $1 and ${where} order by u.username ${page}`,
      ...parameters,
    )
  const person = 'u.service_account_client is null'
  /** The same, of whom the rows before the page need not be read. */
  const deep = (json: string, offset: number) =>
    rows(
      json,
      `select u.* from (select u.id from user_account u where u.realm = $1 and ${person} order by u.username offset $2 limit 100) p
       join user_account u on u.realm = $1 and u.id = p.id order by u.username`,
      offset,
    )
  const anyName = `(u.username like $2 or u.email like $2 or u.first_name_folded like $2 or u.last_name_folded like $2)`
  const attribute = (
    name: string,
  ) => `exists (select from jsonb_array_elements_text(u.body -> 'attributes' -> '${name}') a
    where lower(a collate "default") = $2)`

  /** A group in the row `alias`, with the groups below it that are shown. */
  const group = (
    alias: string,
    more = '',
    below = `'[]'::json`,
  ) => `json_build_object('id', ${alias}.id, 'name', ${alias}.name,
    'path', ${alias}.path${more}, 'subGroupCount',
    (select count(*) from realm_group c where c.realm = ${alias}.realm and c.parent = ${alias}.id), 'subGroups', ${below},
    'access', '{"view": true, "viewMembers": true, "manageMembers": true, "manage": true, "manageMembership": true}'::json)`
  const inner = (alias: string, below?: string) => group(alias, `, 'parentId', ${alias}.parent`, below)
  const role = (
    container: string,
  ) => `json_build_object('id', x.id, 'name', x.name, 'description', x.body -> 'description',
    'composite', exists (select from role_composite c where c.realm = x.realm and c.role = x.id),
    'clientRole', x.client is not null, 'containerId', ${container})`

  const name = (of: number) => `person-${String(of).padStart(8, '0')}`
  const middle = Math.floor(people / 2)
  const client = idOf('client', 0)
  const session = `json_build_object('id', x.id, 'username', x.username, 'userId', x.user_account, 'ipAddress', x.address,
    'start', floor(extract(epoch from x.started_at))::bigint * 1000, 'lastAccess', floor(extract(epoch from x.refreshed_at))::bigint * 1000,
    'rememberMe', x.remember_me, 'transientUser', false, 'clients',
    (select json_object_agg(k.id, k.client_id) from client_session c join client k on k.realm = c.realm and k.id = c.client
      where c.realm = x.realm and c.offline = x.offline and c.session = x.id))`

  const going = `client_session c join user_session s on s.realm = $1 and not s.offline and s.id = c.session
    and s.refreshed_at > now() - interval '30 minutes' where c.realm = $1 and not c.offline`

  return {
    'users, first page': at('users', users(person, 'limit 100')),
    'users, first page in brief': at(
      'users?briefRepresentation=true',
      rows(
        user(access, true),
        `select u.* from user_account u where u.realm = $1 and ${person} order by u.username limit 100`,
      ),
    ),
    'users, from the middle': at(`users?first=${middle}`, deep(user(access), middle)),
    'users, last page': at(`users?first=${people - 100}`, deep(user(access), people - 100)),
    'users by prefix, ten': at(
      `users?search=${name(123).slice(0, -1)}`,
      users(`${person} and ${anyName}`, 'limit 100', `${name(123).slice(0, -1)}%`),
    ),
    'users by prefix, all': at('users?search=person', users(`${person} and ${anyName}`, 'limit 100', 'person%')),
    'users by part of user name': at('users?username=0123', users('u.username like $2', 'limit 100', '%0123%')),
    'users by part of address': at('users?email=0123%40ex', users('u.email like $2', 'limit 100', '%0123@ex%')),
    'users by part of first name': at(
      'users?firstName=rst12',
      users('u.first_name_folded like $2', 'limit 100', '%rst12%'),
    ),
    'users by part of last name': at(
      'users?lastName=ast123',
      users('u.last_name_folded like $2', 'limit 100', '%ast123%'),
    ),
    'users by user name': at(
      `users?exact=true&username=${name(middle)}`,
      users('u.username = $2', 'limit 100', name(middle)),
    ),
    'users by address': at(
      `users?exact=true&email=${name(middle)}%40example.com`,
      users('u.email = $2', 'limit 100', `${name(middle)}@example.com`),
    ),
    'users by first name': at(
      'users?exact=true&firstName=First12',
      users('u.first_name_folded = $2', 'limit 100', 'first12'),
    ),
    'users by last name': at(
      'users?exact=true&lastName=Last12',
      users('u.last_name_folded = $2', 'limit 100', 'last12'),
    ),
    'users by an attribute of one': at(
      `users?q=number:${middle}`,
      users(attribute('number'), 'limit 100', String(middle)),
    ),
    'users by an attribute of many': at(
      'users?q=department:%22Department%207%22',
      users(attribute('department'), 'limit 100', 'department 7'),
    ),
    user: at(`users/${idOf('user', middle)}`, [
      `select ${user(`, 'access', '{"manageGroupMembership": true, "resetPassword": true, "view": true, "mapRoles": true,
          "impersonate": true, "manage": true}'::json`)}::text as body from user_account x where x.realm = $1 and x.id = $2`,
      [number, idOf('user', middle)],
    ]),
    'count users': at('users/count', count(`user_account u where u.realm = $1 and ${person}`)),
    'count users by prefix': at(
      'users/count?search=person-0000',
      count(`user_account u where u.realm = $1 and ${person} and ${anyName}`, 'person-0000%'),
    ),
    'count users by part of a name': at(
      'users/count?lastName=ast12',
      count(`user_account u where u.realm = $1 and u.last_name_folded like $2`, '%ast12%'),
    ),
    'groups at the top': at(
      'groups',
      rows(group('x'), `select g.* from realm_group g where g.realm = $1 and g.parent is null order by g.name`),
    ),
    'groups by part of name, as trees': at('groups?search=eaf-12', [
      `with recursive found as (
         select g.* from realm_group g where g.realm = $1 and g.name_folded like $2
       ), shown as (
         select * from found union select g.* from shown s join realm_group g on g.realm = $1 and g.id = s.parent
       ), bottom as (
         select x.parent, json_agg(${inner('x')} order by x.name) as below from shown x where x.path like '/%/%/%' group by x.parent
       ), middle as (
         select x.parent, json_agg(${inner('x', `coalesce(b.below, '[]')`)} order by x.name) as below
         from shown x left join bottom b on b.parent = x.id where x.path like '/%/%' and x.path not like '/%/%/%' group by x.parent
       )
       select coalesce(json_agg(${group('x', '', `coalesce(m.below, '[]')`)} order by x.name), '[]')::text as body
       from shown x left join middle m on m.parent = x.id where x.parent is null`,
      [number, '%eaf-12%'],
    ]),
    'groups in a group': at(
      `groups/${idOf('group', 0)}/children?briefRepresentation=true`,
      rows(
        inner('x'),
        `select g.* from realm_group g where g.realm = $1 and g.parent = $2 order by g.name limit 10`,
        idOf('group', 0),
      ),
    ),
    'count groups': at('groups/count', counted('realm_group g where g.realm = $1')),
    'members of a large group': at(
      `groups/${idOf('group', 0)}/members`,
      rows(
        user(''),
        `select u.* from user_account u where u.realm = $1
         and u.id in (select m.user_account from user_group m where m.realm = $1 and m.realm_group = $2)
         order by u.username limit 100`,
        idOf('group', 0),
      ),
    ),
    'roles of the realm, a page': at(
      'roles?first=1000&max=100',
      rows(
        role('$2::text'),
        'select r.* from role r where r.realm = $1 and r.client is null order by r.name offset 1000 limit 100',
        realmId,
      ),
    ),
    'roles by part of name': at(
      'roles?search=le-12',
      rows(
        role('$2::text'),
        `select r.* from role r where r.realm = $1 and r.client is null and r.name like '%le-12%' order by r.name`,
        realmId,
      ),
    ),
    'effective roles of a user': at(
      `users/${idOf('user', 0)}/role-mappings/realm/composite`,
      rows(
        role('$2::text'),
        `with recursive above as (
           select g.id, g.parent from user_group m join realm_group g on g.realm = $1 and g.id = m.realm_group
           where m.realm = $1 and m.user_account = $3
           union
           select g.id, g.parent from above a join realm_group g on g.realm = $1 and g.id = a.parent
         ), held as (
           (select m.role from user_role m where m.realm = $1 and m.user_account = $3
            union
            select m.role from above a join group_role m on m.realm = $1 and m.realm_group = a.id)
           union
           select c.child_role from held h join role_composite c on c.realm = $1 and c.role = h.role
         )
         select r.* from held h join role r on r.realm = $1 and r.id = h.role where r.client is null order by r.name, r.id`,
        realmId,
        idOf('user', 0),
      ),
    ),
    'users of a role of many': at(
      'roles/role-0/users',
      rows(
        user(access),
        `select u.* from user_account u where u.realm = $1
         and u.id in (select m.user_account from user_role m where m.realm = $1 and m.role = $2) order by u.username`,
        idOf('role', 0),
      ),
    ),
    'users of a role of all, a page': at(
      `roles/default-roles-${realm}/users?first=${middle}&max=100`,
      rows(
        user(access),
        `select u.* from (
           select u.id from user_account u where u.realm = $1
           and exists (select from user_role m join realm r on r.number = $1 and m.role = r.default_role where m.realm = $1 and m.user_account = u.id)
           order by u.username offset $2 limit 100) p
         join user_account u on u.realm = $1 and u.id = p.id order by u.username`,
        middle,
      ),
    ),
    'sessions at a client, a page': at(
      `clients/${client}/user-sessions?max=20`,
      rows(
        session,
        `select s.*, u.username from user_session s join user_account u on u.realm = $1 and u.id = s.user_account
         where s.realm = $1 and not s.offline
           and exists (select from client_session c where c.realm = $1 and not c.offline and c.session = s.id and c.client = $2)
         order by s.started_at desc, s.id limit 20`,
        client,
      ),
    ),
    'count sessions at a client': at(`clients/${client}/session-count`, counted(`${going} and c.client = $2`, client)),
    'count sessions at all clients': at('client-session-stats', [
      `select json_agg(json_build_object('id', k.id, 'clientId', k.client_id, 'active', k.active::text, 'offline', '0'))::text as body
       from (select c.client as id, k.client_id, c.active from client k
         join (select c.client, count(*) as active from ${going} group by c.client) c on c.client = k.id
         where k.realm = $1 order by k.client_id) k`,
      [number],
    ]),
  }
}
