// Reads of administrators in a realm with very many users, each with the fastest single statement that returns the same text.
import { isDeepStrictEqual } from 'node:util'
import { createLargeRealm, getId, type LargeRealm } from './large-realm.ts'
import type { Bench, Case, Statement } from './measure.ts'
import { type MeasuredRead, type ReadServers, startReadServers } from './read-servers.ts'

/** A read is sent this many times before it is measured, or for this many milliseconds, if that is less. */
const WARM_UP = { requests: 100, time: 1_000 }

/** The cases of these reads, with the servers that they use. */
export interface LargeRealmReads {
  readonly cases: Case[]
  /** Stops the servers. */
  close(): Promise<void>
}

/** Creates a realm with this many users and returns the reads. Throws if the responses of the two servers differ. */
export async function openLargeRealmReads(bench: Bench, userCount: number): Promise<LargeRealmReads> {
  const realm = await createLargeRealm(bench, 'large', userCount)
  const servers = await startReadServers(bench)
  const reads = Object.entries(listReads(realm))
  for (const [name, read] of reads) {
    await checkSameResponse(servers, name, read)
    await warmUp(servers, read)
  }
  return { cases: reads.map(([name, read]) => servers.createCase(name, [read])), close: () => servers.close() }
}

async function warmUp(servers: ReadServers, read: MeasuredRead): Promise<void> {
  const end = performance.now() + WARM_UP.time
  for (let request = 0; request < WARM_UP.requests && performance.now() < end; request++)
    await servers.measureTimes([read])
}

async function checkSameResponse(servers: ReadServers, name: string, read: MeasuredRead): Promise<void> {
  const [actual, expected] = [await servers.getResponse(read.path), await servers.getStatementResponse(read)]
  if (isDeepStrictEqual(JSON.parse(actual), JSON.parse(expected))) return
  throw new Error(
    `${name}: ${read.path} returns ${actual.slice(0, 1_000)}\nbut the statement ${expected.slice(0, 1_000)}`,
  )
}

/** The reads by name. */
type Reads = Record<string, MeasuredRead>

function listReads(realm: LargeRealm): Reads {
  const sql = createStatements(realm)
  const read = (path: string, baseline: Statement): MeasuredRead => ({
    path: `/admin/realms/${realm.realm}/${path}`,
    baseline,
  })
  return {
    ...listUserReads(realm, sql, read),
    ...listUserSearches(realm, sql, read),
    ...listGroupReads(sql, read),
    ...listRoleReads(realm, sql, read),
    ...listSessionReads(sql, read),
  }
}

type CreateRead = (path: string, baseline: Statement) => MeasuredRead
type Statements = ReturnType<typeof createStatements>

/** Returns functions that create statements. Parameter $1 is the number of the realm, the others begin with $2. */
function createStatements({ number }: LargeRealm) {
  const rows = (json: string, from: string, ...parameters: unknown[]): Statement => [
    `select coalesce(json_agg(${json}), '[]')::text as body from (${from}) x`,
    [number, ...parameters],
  ]
  return {
    rows,
    statement: (text: string, ...parameters: unknown[]): Statement => [text, [number, ...parameters]],
    /** The number of rows. */
    count: (from: string, ...parameters: unknown[]): Statement => [
      `select count(*)::text as body from ${from}`,
      [number, ...parameters],
    ],
    /** The number of rows, in an object. */
    countObject: (from: string, ...parameters: unknown[]): Statement => [
      `select json_build_object('count', count(*))::text as body from ${from}`,
      [number, ...parameters],
    ],
    /** The first 100 users that match the condition. */
    users: (where: string, ...parameters: unknown[]) =>
      rows(
        userJson(ACCESS),
        `select u.* from user_account u where u.realm = $1 and ${where} order by u.username limit 100`,
        ...parameters,
      ),
    /** The 100 users after the offset. Only their own rows are read completely. */
    usersFrom: (offset: number) =>
      rows(
        userJson(ACCESS),
        `select u.* from (select u.id from user_account u where u.realm = $1 and ${IS_USER} order by u.username offset $2 limit 100) p
       join user_account u on u.realm = $1 and u.id = p.id order by u.username`,
        offset,
      ),
  }
}

const ACCESS = `, 'access', json_build_object('manage', true)`
/** The condition that leaves out service accounts. */
const IS_USER = 'u.service_account_client is null'
/** The condition of a search by any name. */
const HAS_NAME_LIKE = `(u.username like $2 or u.email like $2 or u.first_name_folded like $2 or u.last_name_folded like $2)`

/** Returns the condition of a search for an attribute value, which parameter $2 is in lower case. */
function hasAttribute(name: string): string {
  return `exists (select from jsonb_array_elements_text(u.body -> 'attributes' -> '${name}') a
    where lower(a collate "default") = $2)`
}

/** Returns the expression for a user, with further members. */
function userJson(more: string, isBrief = false): string {
  return `json_build_object('id', x.id, 'username', x.username,
    'firstName', x.body -> 'firstName', 'lastName', x.body -> 'lastName', 'email', x.email, 'emailVerified', x.body -> 'emailVerified',
    'enabled', x.body -> 'enabled', 'createdTimestamp', x.body -> 'createdTimestamp'${more}
    ${
      isBrief
        ? ''
        : `, 'attributes', x.body -> 'attributes', 'totp',
            exists (select from credential c where c.realm = x.realm and c.user_account = x.id and c.type = 'otp'),
            'disableableCredentialTypes', '[]'::json, 'requiredActions', '[]'::json, 'notBefore', 0`
    })`
}

/** Returns the expression for a group in the row `alias`, with these subgroups. */
function groupJson(alias: string, more = '', subGroups = `'[]'::json`): string {
  return `json_build_object('id', ${alias}.id, 'name', ${alias}.name,
    'path', ${alias}.path${more}, 'subGroupCount',
    (select count(*) from realm_group c where c.realm = ${alias}.realm and c.parent = ${alias}.id), 'subGroups', ${subGroups},
    'access', '{"view": true, "viewMembers": true, "manageMembers": true, "manage": true, "manageMembership": true}'::json)`
}

function subGroupJson(alias: string, subGroups?: string): string {
  return groupJson(alias, `, 'parentId', ${alias}.parent`, subGroups)
}

/** The expression for a realm role. Parameter $2 is the id of the realm. */
const ROLE_JSON = `json_build_object('id', x.id, 'name', x.name, 'description', x.body -> 'description',
    'composite', exists (select from role_composite c where c.realm = x.realm and c.role = x.id),
    'clientRole', x.client is not null, 'containerId', $2::text)`

const SESSION_JSON = `json_build_object('id', x.id, 'username', x.username, 'userId', x.user_account, 'ipAddress', x.address,
    'start', floor(extract(epoch from x.started_at))::bigint * 1000, 'lastAccess', floor(extract(epoch from x.refreshed_at))::bigint * 1000,
    'rememberMe', x.remember_me, 'transientUser', false, 'clients',
    (select json_object_agg(k.id, k.client_id) from client_session c join client k on k.realm = c.realm and k.id = c.client
      where c.realm = x.realm and c.offline = x.offline and c.session = x.id))`

/** The client sessions whose user session has not expired. */
const ACTIVE_CLIENT_SESSIONS = `client_session c join user_session s on s.realm = $1 and not s.offline and s.id = c.session
    and s.refreshed_at > now() - interval '30 minutes' where c.realm = $1 and not c.offline`

function listUserReads({ userCount }: LargeRealm, sql: Statements, read: CreateRead): Reads {
  const middle = Math.floor(userCount / 2)
  return {
    'users, first page': read('users', sql.users(IS_USER)),
    'users, first page in brief': read(
      'users?briefRepresentation=true',
      sql.rows(
        userJson(ACCESS, true),
        `select u.* from user_account u where u.realm = $1 and ${IS_USER} order by u.username limit 100`,
      ),
    ),
    'users, from the middle': read(`users?first=${middle}`, sql.usersFrom(middle)),
    'users, last page': read(`users?first=${userCount - 100}`, sql.usersFrom(userCount - 100)),
    user: read(
      `users/${getId('user', middle)}`,
      sql.statement(
        `select ${userJson(`, 'access', '{"manageGroupMembership": true, "resetPassword": true, "view": true, "mapRoles": true,
          "impersonate": true, "manage": true}'::json`)}::text as body from user_account x where x.realm = $1 and x.id = $2`,
        getId('user', middle),
      ),
    ),
    'count users': read('users/count', sql.count(`user_account u where u.realm = $1 and ${IS_USER}`)),
    'count users by prefix': read(
      'users/count?search=user-0000',
      sql.count(`user_account u where u.realm = $1 and ${IS_USER} and ${HAS_NAME_LIKE}`, 'user-0000%'),
    ),
    'count users by part of a name': read(
      'users/count?lastName=ast12',
      sql.count(`user_account u where u.realm = $1 and u.last_name_folded like $2`, '%ast12%'),
    ),
  }
}

function listUserSearches({ userCount }: LargeRealm, sql: Statements, read: CreateRead): Reads {
  const middle = Math.floor(userCount / 2)
  const prefix = getId('user', 123).slice(0, -1)
  return {
    'users by prefix, ten': read(`users?search=${prefix}`, sql.users(`${IS_USER} and ${HAS_NAME_LIKE}`, `${prefix}%`)),
    'users by prefix, all': read('users?search=user', sql.users(`${IS_USER} and ${HAS_NAME_LIKE}`, 'user%')),
    'users by part of user name': read('users?username=0123', sql.users('u.username like $2', '%0123%')),
    'users by part of email address': read('users?email=0123%40ex', sql.users('u.email like $2', '%0123@ex%')),
    'users by part of first name': read('users?firstName=rst12', sql.users('u.first_name_folded like $2', '%rst12%')),
    'users by part of last name': read('users?lastName=ast123', sql.users('u.last_name_folded like $2', '%ast123%')),
    'users by user name': read(
      `users?exact=true&username=${getId('user', middle)}`,
      sql.users('u.username = $2', getId('user', middle)),
    ),
    'users by email address': read(
      `users?exact=true&email=${getId('user', middle)}%40example.com`,
      sql.users('u.email = $2', `${getId('user', middle)}@example.com`),
    ),
    'users by first name': read('users?exact=true&firstName=First12', sql.users('u.first_name_folded = $2', 'first12')),
    'users by last name': read('users?exact=true&lastName=Last12', sql.users('u.last_name_folded = $2', 'last12')),
    'users by rare attribute value': read(
      `users?q=number:${middle}`,
      sql.users(hasAttribute('number'), String(middle)),
    ),
    'users by common attribute value': read(
      'users?q=department:%22Department%207%22',
      sql.users(hasAttribute('department'), 'department 7'),
    ),
  }
}

function listGroupReads(sql: Statements, read: CreateRead): Reads {
  return {
    'top-level groups': read(
      'groups',
      sql.rows(groupJson('x'), `select g.* from realm_group g where g.realm = $1 and g.parent is null order by g.name`),
    ),
    'groups by part of name, as trees': read(
      'groups?search=eaf-12',
      sql.statement(
        `with recursive found as (
         select g.* from realm_group g where g.realm = $1 and g.name_folded like $2
       ), shown as (
         select * from found union select g.* from shown s join realm_group g on g.realm = $1 and g.id = s.parent
       ), bottom as (
         select x.parent, json_agg(${subGroupJson('x')} order by x.name) as below from shown x where x.path like '/%/%/%' group by x.parent
       ), middle as (
         select x.parent, json_agg(${subGroupJson('x', `coalesce(b.below, '[]')`)} order by x.name) as below
         from shown x left join bottom b on b.parent = x.id where x.path like '/%/%' and x.path not like '/%/%/%' group by x.parent
       )
       select coalesce(json_agg(${groupJson('x', '', `coalesce(m.below, '[]')`)} order by x.name), '[]')::text as body
       from shown x left join middle m on m.parent = x.id where x.parent is null`,
        '%eaf-12%',
      ),
    ),
    subgroups: read(
      `groups/${getId('group', 0)}/children?briefRepresentation=true`,
      sql.rows(
        subGroupJson('x'),
        `select g.* from realm_group g where g.realm = $1 and g.parent = $2 order by g.name limit 10`,
        getId('group', 0),
      ),
    ),
    'count groups': read('groups/count', sql.countObject('realm_group g where g.realm = $1')),
    'members of a large group': read(
      `groups/${getId('group', 0)}/members`,
      sql.rows(
        userJson(''),
        `select u.* from user_account u where u.realm = $1
         and u.id in (select m.user_account from user_group m where m.realm = $1 and m.realm_group = $2)
         order by u.username limit 100`,
        getId('group', 0),
      ),
    ),
  }
}

function listRoleReads({ realm, id: realmId, userCount }: LargeRealm, sql: Statements, read: CreateRead): Reads {
  const middle = Math.floor(userCount / 2)
  return {
    'realm roles, a page': read(
      'roles?first=1000&max=100',
      sql.rows(
        ROLE_JSON,
        'select r.* from role r where r.realm = $1 and r.client is null order by r.name offset 1000 limit 100',
        realmId,
      ),
    ),
    'realm roles by part of name': read(
      'roles?search=le-12',
      sql.rows(
        ROLE_JSON,
        `select r.* from role r where r.realm = $1 and r.client is null and r.name like '%le-12%' order by r.name`,
        realmId,
      ),
    ),
    'effective roles of a user': read(
      `users/${getId('user', 0)}/role-mappings/realm/composite`,
      sql.rows(
        ROLE_JSON,
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
        getId('user', 0),
      ),
    ),
    'users of a role': read(
      'roles/role-0/users',
      sql.rows(
        userJson(ACCESS),
        `select u.* from user_account u where u.realm = $1
         and u.id in (select m.user_account from user_role m where m.realm = $1 and m.role = $2) order by u.username`,
        getId('role', 0),
      ),
    ),
    'users of the default role, a page': read(
      `roles/default-roles-${realm}/users?first=${middle}&max=100`,
      sql.rows(
        userJson(ACCESS),
        `select u.* from (
           select u.id from user_account u where u.realm = $1
           and exists (select from user_role m join realm r on r.number = $1 and m.role = r.default_role where m.realm = $1 and m.user_account = u.id)
           order by u.username offset $2 limit 100) p
         join user_account u on u.realm = $1 and u.id = p.id order by u.username`,
        middle,
      ),
    ),
  }
}

function listSessionReads(sql: Statements, read: CreateRead): Reads {
  const client = getId('client', 0)
  return {
    'sessions of a client, a page': read(
      `clients/${client}/user-sessions?max=20`,
      sql.rows(
        SESSION_JSON,
        `select s.*, u.username from user_session s join user_account u on u.realm = $1 and u.id = s.user_account
         where s.realm = $1 and not s.offline
           and exists (select from client_session c where c.realm = $1 and not c.offline and c.session = s.id and c.client = $2)
         order by s.started_at desc, s.id limit 20`,
        client,
      ),
    ),
    'count sessions of a client': read(
      `clients/${client}/session-count`,
      sql.countObject(`${ACTIVE_CLIENT_SESSIONS} and c.client = $2`, client),
    ),
    'count sessions by client': read(
      'client-session-stats',
      sql.statement(
        `select json_agg(json_build_object('id', k.id, 'clientId', k.client_id, 'active', k.active::text, 'offline', '0'))::text as body
       from (select c.client as id, k.client_id, c.active from client k
         join (select c.client, count(*) as active from ${ACTIVE_CLIENT_SESSIONS} group by c.client) c on c.client = k.id
         where k.realm = $1 order by k.client_id) k`,
      ),
    ),
  }
}
