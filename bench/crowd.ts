// A realm with very many people, groups and roles, written by bare statements.
import { SYSTEM } from '../src/service/context/service.ts'
import type { Bench, Statement } from './measure.ts'

/** Such a realm: what its objects are called follows from their numbers, from 0. */
export interface Crowd {
  readonly realm: string
  /** Its number. */
  readonly number: number
  /** Its own id, which roles name. */
  readonly id: string
  readonly people: number
}

/** How many groups there are: 100 at the top, each with 9 below it, each of those with 10. */
const GROUPS = 10_000
const ROLES = 5_000
const CLIENTS = 100

/** The id of an object, as the statements below make it. */
export const idOf = (kind: 'user' | 'group' | 'role' | 'client', at: number): string =>
  `${kind}-${String(at).padStart(8, '0')}`

const id = (kind: string, at: string) => `'${kind}-' || lpad((${at})::text, 8, '0')`

/** The attributes of its people, which everybody may see. */
const PROFILE = ['username', 'email', 'firstName', 'lastName', 'department', 'number'].map((name) => ({
  name,
  permissions: { view: ['admin', 'user'], edit: ['admin'] },
}))

/** Makes the realm. */
export async function crowd(bench: Bench, realm: string, people: number): Promise<Crowd> {
  await bench.service.createRealm(SYSTEM, { representation: { realm, enabled: true } }, async () => {})
  const [{ number, id }] = (await bench.rows<{ number: number; id: string }>(
    'select number, id from realm where name = $1',
    [realm],
  )) as [{ number: number; id: string }]
  await bench.raw(filling(number, people))
  // As in a store that has been there for a while. What is vacuumed at once may not count as seen by everybody.
  for (const table of [...TABLES, ...TABLES]) await bench.rows(`vacuum analyze ${table}`)
  return { realm, number, id, people }
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

function filling(realm: number, people: number): Statement[] {
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
      `${id('user', 'at')}, 'person-' || lpad(at::text, 8, '0'), 'person-' || lpad(at::text, 8, '0') || '@example.com',
       'first' || at % 500, 'last' || at % 5003, 1, jsonb_build_object(
         'firstName', 'First' || at % 500, 'lastName', 'Last' || at % 5003, 'enabled', true, 'emailVerified', at % 2 = 0,
         'createdTimestamp', 1700000000000 + at,
         'attributes', jsonb_build_object('department', jsonb_build_array('Department ' || at % 100), 'number', jsonb_build_array(at::text)))
       from ${series(people)}`,
    ),
    insert(
      'credential',
      'id, user_account, type, position, created_at, body',
      `'password-' || at, ${id('user', 'at')}, 'password', 0, now(),
       '{"secretData": "sealed-sealed-sealed-sealed-sealed-sealed-sealed-sealed-sealed-sealed", "credentialData": "{}"}'
       from ${series(people)}`,
    ),
    insert(
      'credential',
      'id, user_account, type, position, created_at, body',
      `'otp-' || at, ${id('user', 'at')}, 'otp', 1, now(), '{"secretData": "sealed", "credentialData": "{}"}'
       from ${series(people)} where at % 10 = 0`,
    ),
    // Numbers: 0 to 99 at the top, 100 to 999 below these, the others below those.
    insert(
      'realm_group',
      'id, path, path_folded, parent, version, body',
      `${id('group', 'at')}, path, path, parent, 1, jsonb_build_object('attributes', jsonb_build_object('number', jsonb_build_array(at::text)))
       from (
         select at, null as parent, '/top-' || at as path from generate_series(0, 99) as at
         union all
         select at, ${id('group', 'at % 100')}, '/top-' || at % 100 || '/middle-' || at from generate_series(100, 999) as at
         union all
         select at, ${id('group', '100 + at % 900')},
           '/top-' || at % 900 % 100 || '/middle-' || 100 + at % 900 || '/leaf-' || at
         from generate_series(1000, ${GROUPS - 1}) as at
       ) g`,
    ),
    insert(
      'user_group',
      'user_account, realm_group',
      `${id('user', 'at')}, ${id('group', `1000 + at % ${GROUPS - 1000}`)} from ${series(people)}`,
    ),
    insert(
      'user_group',
      'user_account, realm_group',
      `${id('user', 'at * 10')}, ${id('group', '0')} from ${series(people / 10)}`,
    ),
    insert(
      'client',
      'id, client_id, version, body',
      `${id('client', 'at')}, 'client-' || at, 1, '{"enabled": true, "protocol": "openid-connect"}' from ${series(CLIENTS)}`,
    ),
    insert(
      'role',
      'id, client, name, version, body',
      `${id('role', 'at')}, case when at >= 4000 then ${id('client', `at % ${CLIENTS}`)} end, 'role-' || at, 1,
       jsonb_build_object('description', 'Role ' || at) from ${series(ROLES)}`,
    ),
    // Role 0 contains 500 roles in three steps.
    insert(
      'role_composite',
      'role, child_role',
      `${id('role', 'case when at < 20 then 0 else at / 20 end')}, ${id('role', 'at')} from generate_series(1, 500) as at`,
    ),
    insert(
      'user_role',
      'user_account, role',
      `${id('user', 'at')}, r.default_role from ${series(people)}, realm r where r.number = ${realm}`,
    ),
    insert(
      'user_role',
      'user_account, role',
      `${id('user', 'at')}, ${id('role', `1000 + at % 4000`)} from ${series(people)}`,
    ),
    // Everybody tenth has the role that contains many.
    insert(
      'user_role',
      'user_account, role',
      `${id('user', 'at * 10')}, ${id('role', '0')} from ${series(people / 10)}`,
    ),
    insert(
      'user_session',
      'offline, id, user_account, started_at, refreshed_at, remember_me, address, body',
      `false, 'session-' || at, ${id('user', 'at')}, now(), now(), false, '127.0.0.1', '{}' from ${series(people)}`,
    ),
    insert(
      'client_session',
      'offline, session, client, started_at, refreshed_at, body',
      `false, 'session-' || at, ${id('client', `at % ${CLIENTS / 10}`)}, now(), now(), '{}' from ${series(people)}`,
    ),
  ]
}
