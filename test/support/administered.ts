// Realms for properties of administrators: what people have through groups and roles, and some who administer a little.
import fc from 'fast-check'
import { type AdminRole, adminRoles } from '../../src/kinds/admin-roles.ts'
import { builtInObjects } from '../../src/kinds/built-in/index.ts'
import { type AdminRoleName, type AdminPermissions, toAdminPermissions } from '../../src/service/context/admin-permissions.ts'
import { hashPassword } from '../../src/service/users/password-hashing.ts'
import { testServer } from './server.ts'

/** The client whose roles administer a realm. */
export const MANAGEMENT = 'realm-management'

const OWN = adminRoles.filter((role) => role !== 'create-realm')
const PASSWORD = 'pw'
const credentials = [await hashPassword(PASSWORD)]

/** Some of those positions of a list. */
const some = (length: number, maxLength = 2) => fc.uniqueArray(fc.nat(length - 1), { maxLength })

/** Roles that contain each other and roles of administrators, groups inside of groups, people, and two administrators with a few roles. */
export const generatedAdminRealms = fc.record({
  roles: fc.array(fc.record({ parts: some(6), administers: fc.subarray(OWN, { maxLength: 2 }) }), {
    minLength: 3,
    maxLength: 6,
  }),
  groups: fc.array(fc.record({ above: fc.option(fc.nat(5)), roles: some(6) }), { minLength: 2, maxLength: 5 }),
  people: fc.array(fc.record({ groups: some(5), roles: some(6) }), { minLength: 2, maxLength: 5 }),
  clients: fc.array(fc.record({ scope: some(6) }), { minLength: 1, maxLength: 3 }),
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

/** The realm as a document. Besides its administrators there is one with all of it, `full`. */
export function toAdminRealmDocument(realm: string, { roles, groups, people, clients, administrators }: Content) {
  const named = (positions: readonly number[]) => positions.filter((at) => at < roles.length).map((at) => `role-${at}`)
  const paths: string[] = []
  for (const [at, { above }] of groups.entries()) paths.push(`${paths[above ?? at] ?? ''}/group-${at}`)
  const inside = (path: string): object[] =>
    paths.flatMap((one, at) => {
      const [, above, name] = /^(.*)\/(.*)$/.exec(one)!
      return above === path ? [{ name, realmRoles: named(groups[at]!.roles), subGroups: inside(one) }] : []
    })
  const person = (username: string, more: object) => ({
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
        // Of roles that come later, so that none contains itself.
        composites: { realm: named(parts.filter((part) => part > at)), client: { [MANAGEMENT]: administers } },
      })),
      client: { 'client-0': [{ name: 'plain' }, { name: 'strong', composites: { realm: ['role-0'] } }] },
    },
    groups: inside(''),
    clients: clients.map((_, at) => ({ clientId: `client-${at}`, fullScopeAllowed: false })),
    scopeMappings: clients.map(({ scope }, at) => ({ client: `client-${at}`, roles: named(scope) })),
    clientScopes: [{ name: 'scope-0', protocol: 'openid-connect' }],
    organizations: [
      { name: 'org', alias: 'org', domains: [{ name: 'example.org' }], members: [{ username: 'person-0' }] },
    ],
    users: [
      ...people.map((one, at) =>
        person(`person-${at}`, {
          groups: one.groups.flatMap((group) => paths[group] ?? []),
          realmRoles: named(one.roles),
        }),
      ),
      person('full', { clientRoles: { [MANAGEMENT]: ['realm-admin'] } }),
      ...administrators.map((held, at) => person(`weak-${at}`, { clientRoles: { [MANAGEMENT]: held } })),
    ],
  }
}

/** A realm of that form. */
export type AdminRealmDocument = ReturnType<typeof toAdminRealmDocument>

/** What roles let administer, with all that they contain: by the document, and by what a new realm has. */
export function getAdminPermissions(document: AdminRealmDocument, roles: readonly AdminRoleName[]): AdminPermissions {
  const contained = new Map<string, AdminRoleName[]>()
  const key = ({ client, name }: AdminRoleName) => `${client} ${name}`
  type Parts = { realm?: readonly string[]; client?: Readonly<Record<string, readonly string[]>> }
  const add = (role: AdminRoleName, { realm = [], client = {} }: Parts = {}) =>
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

/** A token of somebody in such a realm. */
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
