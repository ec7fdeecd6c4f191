// Generates realms for properties of permissions: users with groups and composite roles, and administrators with few roles.
import fc from 'fast-check'
import { type AdminRole, adminRoles } from '../../src/kinds/admin-roles.ts'
import { builtInObjects } from '../../src/kinds/built-in/index.ts'
import { type AdminPermissions, toAdminPermissions } from '../../src/service/context/admin-permissions.ts'
import { hashPassword } from '../../src/service/users/password-hashing.ts'
import type { RoleName } from '../../src/store/roles.ts'
import { testServer } from './server.ts'

/** The client with the admin roles of a realm. */
export const MANAGEMENT = 'realm-management'

const OWN = adminRoles.filter((role) => role !== 'create-realm')
const PASSWORD = 'pw'
const credentials = [await hashPassword(PASSWORD)]

/** Generates positions in a list of the length. */
const somePositions = (length: number, maxLength = 2) => fc.uniqueArray(fc.nat(length - 1), { maxLength })

/** Generates composite roles with admin roles, nested groups, users, and two administrators with a few admin roles. */
export const generatedAdminRealms = fc.record({
  roles: fc.array(fc.record({ parts: somePositions(6), administers: fc.subarray(OWN, { maxLength: 2 }) }), {
    minLength: 3,
    maxLength: 6,
  }),
  groups: fc.array(fc.record({ above: fc.option(fc.nat(5)), roles: somePositions(6) }), { minLength: 2, maxLength: 5 }),
  users: fc.array(fc.record({ groups: somePositions(5), roles: somePositions(6) }), { minLength: 2, maxLength: 5 }),
  clients: fc.array(fc.record({ scope: somePositions(6) }), { minLength: 1, maxLength: 3 }),
  administrators: fc.tuple(weak(), weak()),
})

function weak(): fc.Arbitrary<AdminRole[]> {
  const listing: AdminRole[] = [
    'query-users',
    'view-users',
    'manage-users',
    'query-groups',
    'query-clients',
    'view-clients',
  ]
  return fc
    .tuple(fc.subarray(listing, { minLength: 1, maxLength: 2 }), fc.subarray(OWN, { maxLength: 2 }))
    .map((chosen) => [...new Set(chosen.flat())])
}

type Content = typeof generatedAdminRealms extends fc.Arbitrary<infer T> ? T : never

/** Returns the realm as a document. In addition to the generated administrators it has `full` with all admin roles. */
export function toAdminRealmDocument(realm: string, { roles, groups, users, clients, administrators }: Content) {
  const toRoleNames = (positions: readonly number[]) =>
    positions.filter((at) => at < roles.length).map((at) => `role-${at}`)
  const paths: string[] = []
  for (const [at, { above }] of groups.entries()) paths.push(`${paths[above ?? at] ?? ''}/group-${at}`)
  const listSubGroups = (parent: string): object[] =>
    paths.flatMap((path, at) => {
      const [, above, name] = /^(.*)\/(.*)$/.exec(path)!
      const realmRoles = toRoleNames(groups[at]!.roles)
      return above === parent ? [{ name, realmRoles, subGroups: listSubGroups(path) }] : []
    })
  const createUser = (username: string, more: object) => ({
    username,
    email: `${username}@example.org`,
    firstName: 'A',
    lastName: 'B',
    enabled: true,
    credentials,
    ...more,
  })
  return {
    realm,
    enabled: true,
    organizationsEnabled: true,
    accessTokenLifespan: 3600,
    roles: {
      realm: roles.map(({ parts, administers }, at) => ({
        name: `role-${at}`,
        // Later roles only, so that no role contains itself.
        composites: { realm: toRoleNames(parts.filter((part) => part > at)), client: { [MANAGEMENT]: administers } },
      })),
      client: { 'client-0': [{ name: 'plain' }, { name: 'strong', composites: { realm: ['role-0'] } }] },
    },
    groups: listSubGroups(''),
    clients: clients.map((_, at) => ({ clientId: `client-${at}`, fullScopeAllowed: false })),
    scopeMappings: clients.map(({ scope }, at) => ({ client: `client-${at}`, roles: toRoleNames(scope) })),
    clientScopes: [{ name: 'scope-0', protocol: 'openid-connect' }],
    organizations: [
      { name: 'org', alias: 'org', domains: [{ name: 'example.org' }], members: [{ username: 'user-0' }] },
    ],
    users: [
      ...users.map((user, at) =>
        createUser(`user-${at}`, {
          groups: user.groups.flatMap((group) => paths[group] ?? []),
          realmRoles: toRoleNames(user.roles),
        }),
      ),
      createUser('full', { clientRoles: { [MANAGEMENT]: ['realm-admin'] } }),
      ...administrators.map((roles, at) => createUser(`weak-${at}`, { clientRoles: { [MANAGEMENT]: roles } })),
    ],
  }
}

/** The document of a generated realm. */
export type AdminRealmDocument = ReturnType<typeof toAdminRealmDocument>

/** Returns the admin permissions of roles, composites included, by the document and by the built-in roles. */
export function getAdminPermissions(document: AdminRealmDocument, roles: readonly RoleName[]): AdminPermissions {
  const contained = new Map<string, RoleName[]>()
  const key = ({ client, name }: RoleName) => `${client} ${name}`
  type Parts = { realm?: readonly string[]; client?: Readonly<Record<string, readonly string[]>> }
  const add = (role: RoleName, { realm = [], client = {} }: Parts = {}) =>
    contained.set(key(role), [
      ...realm.map((name) => ({ client: null, name })),
      ...Object.entries(client).flatMap(([owner, names]) => names.map((name) => ({ client: owner, name }))),
    ])
  for (const {
    kind,
    key: [first, owner, name],
    representation,
  } of builtInObjects(document.realm))
    if (kind === 'role')
      add(owner ? { client: owner, name: name! } : { client: null, name: first! }, representation.composites as Parts)
  for (const { name, composites } of document.roles.realm) add({ client: null, name }, composites)
  for (const { name, composites } of document.roles.client['client-0']) add({ client: 'client-0', name }, composites)
  const all = new Map(roles.map((role) => [key(role), role]))
  for (const role of all.values()) for (const part of contained.get(key(role)) ?? []) all.set(key(part), part)
  return toAdminPermissions(document.realm, [...all.values()])
}

/** Returns an access token of a user of the realm. */
export async function getToken(realm: string, username: string): Promise<string> {
  const { call } = await testServer()
  const form = { grant_type: 'password', client_id: 'admin-cli', username, password: PASSWORD }
  const { body } = await call('POST', `/realms/${realm}/protocol/openid-connect/token`, {
    token: null,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams(form).toString(),
  })
  return body.access_token
}
