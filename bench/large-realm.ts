// Creates a realm with very many users, groups and roles by bare SQL statements.
import { SYSTEM } from '../src/service/context/service.ts'
import type { Bench, Statement } from './measure.ts'

/** Such a realm. Its objects are numbered from 0, and their names contain the number. */
export interface LargeRealm {
  readonly realm: string
  /** The value of the columns `realm`. */
  readonly number: number
  /** The id of the realm in Keycloak's API, which is the container id of realm roles. */
  readonly id: string
  readonly userCount: number
}

/** Number of groups: 100 top-level groups with 9 subgroups each, which have about 10 subgroups each. */
const GROUPS = 10_000
const ROLES = 5_000
const CLIENTS = 100

/** Returns the id of an object, which for users is also the user name. */
export function getId(kind: 'user' | 'group' | 'role' | 'client', number: number): string {
  return `${kind}-${String(number).padStart(8, '0')}`
}

/** Returns an SQL expression for the id of the object whose number is the value of an SQL expression. */
function idExpression(kind: string, number: string): string {
  return `'${kind}-' || lpad((${number})::text, 8, '0')`
}

/** The attributes of the user profile, which every user may view. */
const PROFILE = ['username', 'email', 'firstName', 'lastName', 'department', 'number'].map((name) => ({
  name,
  permissions: { view: ['admin', 'user'], edit: ['admin'] },
}))

/** Creates the realm. */
export async function createLargeRealm(bench: Bench, realm: string, userCount: number): Promise<LargeRealm> {
  await bench.service.createRealm(SYSTEM, { representation: { realm, enabled: true } }, async () => {})
  const [{ number, id }] = (await bench.query<{ number: number; id: string }>(
    'select number, id from realm where name = $1',
    [realm],
  )) as [{ number: number; id: string }]
  await bench.runStatements(listInsertStatements(number, userCount))
  // A store in use has been vacuumed. One vacuum may not mark all pages as visible to all transactions, so there are two.
  for (const table of [...TABLES, ...TABLES]) await bench.query(`vacuum analyze ${table}`)
  return { realm, number, id, userCount }
}

const TABLES = [
  'user_account',
  'credential',
  'realm_group',
  'user_group',
  'role',
  'role_composite',
  'user_role',
  'client',
  'user_session',
  'client_session',
]

function listInsertStatements(realm: number, userCount: number): Statement[] {
  const series = (count: number) => `generate_series(0, ${count - 1}) as at`
  const insert = (table: string, columns: string, from: string): Statement => [
    `insert into ${table} (realm, ${columns}) select ${realm}, ${from}`,
  ]
  const profile = JSON.stringify({ attributes: PROFILE }).replaceAll("'", "''")
  return [
    [
      `insert into component (realm, id, path, version, body)
       select ${realm}, 'profile', 'org.keycloak.userprofile.UserProfileProvider/declarative-user-profile', 1,
         jsonb_build_object('providerId', 'declarative-user-profile', 'config',
           jsonb_build_object('kc.user.profile.config', jsonb_build_array('${profile}'::text)))`,
    ],
    insert(
      'user_account',
      'id, username, email, first_name_folded, last_name_folded, version, body',
      `${idExpression('user', 'at')}, ${idExpression('user', 'at')}, ${idExpression('user', 'at')} || '@example.com',
       'first' || at % 500, 'last' || at % 5003, 1, jsonb_build_object(
         'firstName', 'First' || at % 500, 'lastName', 'Last' || at % 5003, 'enabled', true, 'emailVerified', at % 2 = 0,
         'createdTimestamp', 1700000000000 + at,
         'attributes', jsonb_build_object('department', jsonb_build_array('Department ' || at % 100), 'number', jsonb_build_array(at::text)))
       from ${series(userCount)}`,
    ),
    insert(
      'credential',
      'id, user_account, type, position, created_at, body',
      `'password-' || at, ${idExpression('user', 'at')}, 'password', 0, now(),
       '{"secretData": "sealed-sealed-sealed-sealed-sealed-sealed-sealed-sealed-sealed-sealed", "credentialData": "{}"}'
       from ${series(userCount)}`,
    ),
    insert(
      'credential',
      'id, user_account, type, position, created_at, body',
      `'otp-' || at, ${idExpression('user', 'at')}, 'otp', 1, now(), '{"secretData": "sealed", "credentialData": "{}"}'
       from ${series(userCount)} where at % 10 = 0`,
    ),
    // Groups 0 to 99 are top-level groups, 100 to 999 are their subgroups, all others are subgroups of those.
    insert(
      'realm_group',
      'id, path, path_folded, parent, version, body',
      `${idExpression('group', 'at')}, path, path, parent, 1, jsonb_build_object('attributes', jsonb_build_object('number', jsonb_build_array(at::text)))
       from (
         select at, null as parent, '/top-' || at as path from generate_series(0, 99) as at
         union all
         select at, ${idExpression('group', 'at % 100')}, '/top-' || at % 100 || '/middle-' || at from generate_series(100, 999) as at
         union all
         select at, ${idExpression('group', '100 + at % 900')},
           '/top-' || at % 900 % 100 || '/middle-' || 100 + at % 900 || '/leaf-' || at
         from generate_series(1000, ${GROUPS - 1}) as at
       ) g`,
    ),
    insert(
      'user_group',
      'user_account, realm_group',
      `${idExpression('user', 'at')}, ${idExpression('group', `1000 + at % ${GROUPS - 1000}`)} from ${series(userCount)}`,
    ),
    insert(
      'user_group',
      'user_account, realm_group',
      `${idExpression('user', 'at * 10')}, ${idExpression('group', '0')} from ${series(userCount / 10)}`,
    ),
    insert(
      'client',
      'id, client_id, version, body',
      `${idExpression('client', 'at')}, 'client-' || at, 1, '{"enabled": true, "protocol": "openid-connect"}' from ${series(CLIENTS)}`,
    ),
    insert(
      'role',
      'id, client, name, version, body',
      `${idExpression('role', 'at')}, case when at >= 4000 then ${idExpression('client', `at % ${CLIENTS}`)} end, 'role-' || at, 1,
       jsonb_build_object('description', 'Role ' || at) from ${series(ROLES)}`,
    ),
    // Role 0 contains 500 roles on three levels.
    insert(
      'role_composite',
      'role, child_role',
      `${idExpression('role', 'case when at < 20 then 0 else at / 20 end')}, ${idExpression('role', 'at')} from generate_series(1, 500) as at`,
    ),
    insert(
      'user_role',
      'user_account, role',
      `${idExpression('user', 'at')}, r.default_role from ${series(userCount)}, realm r where r.number = ${realm}`,
    ),
    insert(
      'user_role',
      'user_account, role',
      `${idExpression('user', 'at')}, ${idExpression('role', `1000 + at % 4000`)} from ${series(userCount)}`,
    ),
    // Every tenth user has role 0.
    insert(
      'user_role',
      'user_account, role',
      `${idExpression('user', 'at * 10')}, ${idExpression('role', '0')} from ${series(userCount / 10)}`,
    ),
    insert(
      'user_session',
      'offline, id, user_account, started_at, refreshed_at, remember_me, address, body',
      `false, 'session-' || at, ${idExpression('user', 'at')}, now(), now(), false, '127.0.0.1', '{}' from ${series(userCount)}`,
    ),
    insert(
      'client_session',
      'offline, session, client, started_at, refreshed_at, body',
      `false, 'session-' || at, ${idExpression('client', `at % ${CLIENTS / 10}`)}, now(), now(), '{}' from ${series(userCount)}`,
    ),
  ]
}
