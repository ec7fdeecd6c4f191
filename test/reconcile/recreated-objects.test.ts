// An object that was deleted and created again is another object: it gets declared permissions and credentials with an approval only.
import { expect, test } from 'vitest'
import { type Caller, SYSTEM } from '../../src/service/context/service.ts'
import { type AdminRealm, createAdminRealm } from '../support/admin-realm.ts'
import { createObject, deleteObject, getLiveObject } from '../support/live-objects.ts'
import { logInWithPassword } from '../support/password-login.ts'
import { createPlanClient } from '../support/plan-client.ts'
import { testServer } from '../support/server.ts'
import { testService } from '../support/service.ts'
import { applySource, createSource } from '../support/sources.ts'

const server = await testServer()
const { service } = await testService()
const ADMIN = { 'realm-management': ['realm-admin'] }

/** A privilege escalation by an administrator with `roles`, who replaces a declared object by one of their own. */
interface Takeover {
  readonly roles: string
  /** The declarations before and after the replacement. */
  readonly before: object
  readonly after: object
  readonly message: RegExp
  prepare?(administered: AdminRealm): Promise<unknown>
  replaceObject(administered: AdminRealm): Promise<void>
}

const lastSegment = (address: string) => address.split('/').at(-1)!
const expectSuccess = async (response: Promise<{ status: number; headers: Readonly<Record<string, unknown>> }>) => {
  const { status, headers } = await response
  expect(status).toBeLessThan(300)
  return lastSegment(String(headers.location))
}
const getUserId = async ({ as }: AdminRealm, username: string) =>
  (await as('weak', 'GET', `users?username=${username}&exact=true`)).body[0].id as string
const getClientId = async ({ as }: AdminRealm, clientId: string) =>
  (await as('weak', 'GET', `clients?clientId=${clientId}`)).body[0].id as string
const credentials = [{ type: 'password', value: 'evil' }]
const evil = { enabled: true, email: 'e@evil.example', firstName: 'E', lastName: 'V', credentials }
const chief = {
  username: 'chief',
  enabled: true,
  clientRoles: ADMIN,
  credentials: [{ type: 'password', value: 'good' }],
}

const takeovers: Record<string, Takeover> = {
  'a user': {
    roles: 'manage-users',
    before: { users: [{ username: 'chief' }] },
    after: { users: [chief] },
    message: /the applied user chief was deleted by weak .*, and it was created again by weak /,
    async replaceObject(administered) {
      await expectSuccess(administered.as('weak', 'DELETE', `users/${await getUserId(administered, 'chief')}`))
      await expectSuccess(administered.as('weak', 'POST', 'users', { username: 'CHIEF', ...evil }))
    },
  },
  'a user whose name was given to another user': {
    roles: 'manage-users',
    before: { users: [{ username: 'chief' }] },
    after: { users: [chief] },
    message: /the applied user chief was deleted by weak .*, and another object was renamed to it by weak /,
    async replaceObject(administered) {
      const id = await expectSuccess(administered.as('weak', 'POST', 'users', { username: 'eve', ...evil }))
      await administered.as('admin', 'PUT', '', { editUsernameAllowed: true })
      await expectSuccess(administered.as('weak', 'DELETE', `users/${await getUserId(administered, 'chief')}`))
      await expectSuccess(administered.as('weak', 'PUT', `users/${id}`, { username: 'chief' }))
    },
  },
  'a group': {
    roles: 'manage-users',
    before: { groups: [{ name: 'admins' }] },
    after: { groups: [{ name: 'admins', clientRoles: ADMIN }] },
    message: /the applied group \/admins was deleted/,
    async replaceObject(administered) {
      const groups = (await administered.as('weak', 'GET', 'groups?search=admins')).body
      await expectSuccess(administered.as('weak', 'DELETE', `groups/${groups[0].id}`))
      const group = await expectSuccess(administered.as('weak', 'POST', 'groups', { name: 'admins' }))
      await expectSuccess(administered.as('weak', 'PUT', `users/${administered.users.weak}/groups/${group}`))
    },
  },
  'a group of which only subgroups are declared': {
    roles: 'manage-users',
    before: { groups: [{ name: 'all', subGroups: [{ name: 'admins' }] }] },
    after: { groups: [{ name: 'all', subGroups: [{ name: 'admins', clientRoles: ADMIN }] }] },
    message: /the applied group \/all was deleted/,
    async replaceObject(administered) {
      const groups = (await administered.as('weak', 'GET', 'groups?search=all&exact=true')).body
      await expectSuccess(administered.as('weak', 'DELETE', `groups/${groups[0].id}`))
      const all = await expectSuccess(administered.as('weak', 'POST', 'groups', { name: 'all' }))
      const admins = await expectSuccess(administered.as('weak', 'POST', `groups/${all}/children`, { name: 'admins' }))
      await expectSuccess(administered.as('weak', 'PUT', `users/${administered.users.weak}/groups/${admins}`))
    },
  },
  'a client with its service account': {
    roles: 'manage-clients',
    before: {
      clients: [{ clientId: 'robot', serviceAccountsEnabled: true, secret: 'good' }],
      users: [{ username: 'service-account-robot', serviceAccountClientId: 'robot' }],
    },
    after: {
      clients: [{ clientId: 'robot', serviceAccountsEnabled: true, secret: 'good' }],
      users: [{ username: 'service-account-robot', serviceAccountClientId: 'robot', clientRoles: ADMIN }],
    },
    message: /the applied client robot was deleted .*; the applied user service-account-robot was deleted/,
    async replaceObject(administered) {
      await expectSuccess(administered.as('weak', 'DELETE', `clients/${await getClientId(administered, 'robot')}`))
      const body = { clientId: 'robot', serviceAccountsEnabled: true, secret: 'evil' }
      await expectSuccess(administered.as('weak', 'POST', 'clients', body))
    },
  },
  'a role of an undeclared client': {
    roles: 'manage-clients',
    before: { roles: { client: { shop: [{ name: 'seller' }] } } },
    after: { roles: { client: { shop: [{ name: 'seller', composites: { client: ADMIN } }] } } },
    message: /the applied role seller of client shop was deleted/,
    prepare: (administered) => administered.as('admin', 'POST', 'clients', { clientId: 'shop' }),
    async replaceObject(administered) {
      await expectSuccess(administered.as('weak', 'DELETE', `clients/${await getClientId(administered, 'shop')}`))
      const id = await expectSuccess(administered.as('weak', 'POST', 'clients', { clientId: 'shop' }))
      await expectSuccess(administered.as('weak', 'POST', `clients/${id}/roles`, { name: 'seller' }))
    },
  },
  'a role': {
    roles: 'manage-realm manage-users',
    before: { roles: { realm: [{ name: 'ops' }] } },
    after: { roles: { realm: [{ name: 'ops', composites: { client: ADMIN } }] } },
    message: /the applied role ops was deleted/,
    async replaceObject(administered) {
      await expectSuccess(administered.as('weak', 'DELETE', 'roles/ops'))
      await expectSuccess(administered.as('weak', 'POST', 'roles', { name: 'ops' }))
      const { body: role } = await administered.as('weak', 'GET', 'roles/ops')
      await expectSuccess(
        administered.as('weak', 'POST', `users/${administered.users.weak}/role-mappings/realm`, [role]),
      )
    },
  },
  'a client scope': {
    roles: 'manage-clients',
    before: { clientScopes: [{ name: 'wide', protocol: 'openid-connect' }] },
    after: {
      clientScopes: [{ name: 'wide', protocol: 'openid-connect' }],
      clientScopeMappings: { 'realm-management': [{ clientScope: 'wide', roles: ['realm-admin'] }] },
    },
    message: /the applied client scope wide was deleted/,
    async replaceObject(administered) {
      const scopes = (await administered.as('weak', 'GET', 'client-scopes')).body as { id: string; name: string }[]
      await expectSuccess(
        administered.as('weak', 'DELETE', `client-scopes/${scopes.find(({ name }) => name === 'wide')!.id}`),
      )
      await expectSuccess(
        administered.as('weak', 'POST', 'client-scopes', { name: 'wide', protocol: 'openid-connect' }),
      )
    },
  },
  'an identity provider': {
    roles: 'manage-identity-providers',
    before: { identityProviders: [{ alias: 'corp', providerId: 'github' }] },
    after: {
      identityProviders: [{ alias: 'corp', providerId: 'github' }],
      users: [{ ...chief, federatedIdentities: [{ identityProvider: 'corp', userId: '7', userName: 'chief' }] }],
    },
    message: /the applied identity provider corp was deleted/,
    async replaceObject(administered) {
      await expectSuccess(administered.as('weak', 'DELETE', 'identity-provider/instances/corp'))
      await expectSuccess(
        administered.as('weak', 'POST', 'identity-provider/instances', { alias: 'corp', providerId: 'github' }),
      )
    },
  },
  'an organization': {
    roles: 'manage-organizations',
    before: {
      organizationsEnabled: true,
      organizations: [{ name: 'acme', alias: 'acme', domains: [{ name: 'acme.example' }] }],
    },
    after: {
      organizations: [{ name: 'acme', alias: 'acme', domains: [{ name: 'acme.example' }] }],
      users: [{ username: 'ann', organizations: ['acme'] }],
    },
    message: /the applied organization acme was deleted/,
    async replaceObject(administered) {
      const [{ id }] = (await administered.as('weak', 'GET', 'organizations')).body
      await expectSuccess(administered.as('weak', 'DELETE', `organizations/${id}`))
      await expectSuccess(
        administered.as('weak', 'POST', 'organizations', {
          name: 'acme',
          alias: 'acme',
          domains: [{ name: 'evil.example' }],
        }),
      )
    },
  },
  'a flow': {
    roles: 'manage-realm',
    before: {
      authenticationFlows: [{ alias: 'in', providerId: 'basic-flow', topLevel: true, authenticationExecutions: [] }],
    },
    after: {
      authenticationFlows: [{ alias: 'in', providerId: 'basic-flow', topLevel: true, authenticationExecutions: [] }],
      clients: [{ clientId: 'app', authenticationFlowBindingOverrides: { browser: 'in' } }],
    },
    message: /the applied authentication flow in was deleted/,
    async replaceObject(administered) {
      const flows = (await administered.as('weak', 'GET', 'authentication/flows')).body as {
        id: string
        alias: string
      }[]
      await expectSuccess(
        administered.as('weak', 'DELETE', `authentication/flows/${flows.find(({ alias }) => alias === 'in')!.id}`),
      )
      await expectSuccess(
        administered.as('weak', 'POST', 'authentication/flows', {
          alias: 'in',
          providerId: 'basic-flow',
          topLevel: true,
        }),
      )
    },
  },
}

test.each(Object.entries(takeovers))(
  '%s that was deleted and created again gets declared permissions only with an approval',
  async (_, { roles, before, after, message, prepare, replaceObject }) => {
    const administered = await createAdminRealm({ weak: roles })
    const name = `source-of-${administered.name}`
    const content = { realm: administered.name, editUsernameAllowed: true, organizationsEnabled: true }
    await prepare?.(administered)
    await applySource(service, createSource([{ ...content, ...before }], name))
    await replaceObject(administered)
    const declared = { ...content, ...after, displayName: 'Changed' }
    // As a followed source, and as an administrator.
    const followed = await applySource(service, createSource([declared], name))
    expect(followed.realms[0]!.pendingApproval?.guards).toEqual(
      [{ guard: 'recreated', message: expect.stringMatching(message), objects: expect.any(Array) }].map((guard) =>
        expect.objectContaining(guard),
      ),
    )
    const regent = createPlanClient(server, name)
    const [{ pendingApproval }] = (await regent.apply(declared)).realms
    expect(pendingApproval.guards).toMatchObject([{ guard: 'recreated', message: expect.stringMatching(message) }])
    expect((await getLiveObject(service, SYSTEM, administered.name, 'realm')).representation.displayName).not.toBe(
      'Changed',
    )
    expect((await administered.as('weak', 'GET', 'components')).status).toBe(roles.includes('manage-realm') ? 200 : 403)

    // After the approval, the source manages the object, and the next run needs no approval.
    expect((await regent.approve(pendingApproval.plan)).body.outcome.realms[0].approval).toMatchObject({
      plan: pendingApproval.plan,
    })
    const again = (await regent.plan(declared)).body.realms[0]
    expect([again.plan.actions, again.guards]).toEqual([[], undefined])
  },
)

const EVE: Caller = { actor: { kind: 'administrator', realm: 'master', user: 'eve' } }

test('a recreated user keeps its password unless the approval includes credentials; once deleted, it is created as declared', async () => {
  const administered = await createAdminRealm({})
  const name = `source-of-${administered.name}`
  const regent = createPlanClient(server, name)
  const declared = { realm: administered.name, users: [chief] }
  const canLogIn = async (password: string) => {
    const { body } = await logInWithPassword(administered.name, { username: 'chief', password })
    return body.access_token !== undefined
  }
  const recreate = async () => {
    await deleteObject(service, EVE, administered.name, 'user', 'chief')
    await server.create(`${administered.path}/users`, { username: 'chief', ...evil })
  }
  const complete = { ...chief, email: 'chief@example.org', firstName: 'C', lastName: 'H' }
  declared.users = [complete] as never
  await regent.apply(declared)
  expect(await canLogIn('good')).toBe(true)
  await recreate()
  await regent.approve((await regent.apply(declared)).realms[0].pendingApproval.plan)
  expect([await canLogIn('good'), await canLogIn('evil')]).toEqual([false, true])
  await recreate()
  await regent.approve((await regent.apply(declared)).realms[0].pendingApproval.plan, { withCredentials: true })
  expect([await canLogIn('good'), await canLogIn('evil')]).toEqual([true, false])
  await recreate()
  await deleteObject(service, EVE, administered.name, 'user', 'chief')
  expect((await regent.apply(declared)).realms[0].pendingApproval).toBeUndefined()
  expect([await canLogIn('good'), await canLogIn('evil')]).toEqual([true, false])
})

test('an administrator with fewer permissions cannot create an object with the id of a managed one', async () => {
  const administered = await createAdminRealm({ weak: 'manage-clients manage-realm' })
  const name = `source-of-${administered.name}`
  const clients = [{ clientId: 'robot', serviceAccountsEnabled: true }]
  const clientScopes = [{ name: 'wide', protocol: 'openid-connect' }]
  const content = { realm: administered.name, clients, clientScopes, roles: { realm: [{ name: 'ops' }] } }
  await applySource(service, createSource([content], name))
  const [scope] = (await administered.as('weak', 'GET', 'client-scopes')).body.filter(
    (clientScope: { name: string }) => clientScope.name === 'wide',
  )
  const role = (await administered.as('weak', 'GET', 'roles/ops')).body
  const attempts = [
    ['clients', { id: await getClientId(administered, 'robot'), clientId: 'robot', secret: 'evil' }],
    ['client-scopes', { id: scope.id, name: 'wide', protocol: 'openid-connect' }],
    ['roles', { id: role.id, name: 'ops' }],
  ] as const
  for (const [collection, { id }] of attempts)
    await expectSuccess(administered.as('weak', 'DELETE', collection === 'roles' ? 'roles/ops' : `${collection}/${id}`))
  for (const [collection, body] of attempts) {
    // A new role gets an id of its own, whatever the body declares.
    if (collection !== 'roles')
      expect(await administered.as('weak', 'POST', collection, body)).toMatchObject({ status: 409 })
    await expectSuccess(administered.as('weak', 'POST', collection, { ...body, id: crypto.randomUUID() }))
  }
  const { realms } = await applySource(service, createSource([content], name))
  expect(realms[0]!.pendingApproval?.guards).toMatchObject([
    {
      guard: 'recreated',
      message: expect.stringMatching(
        /the applied client scope wide was .*; the applied client robot was .*; the applied role ops was /,
      ),
    },
  ])
})

test('a source recreates a deleted object with its declared id', async () => {
  const administered = await createAdminRealm({ weak: 'manage-clients' })
  const id = crypto.randomUUID()
  const declared = { realm: administered.name, clients: [{ id, clientId: 'robot' }] }
  const limited = {
    ...createSource([declared], `source-of-${administered.name}`),
    sourcePermissions: { realms: [administered.name], roles: [] },
  }
  await applySource(service, limited)
  await expectSuccess(administered.as('weak', 'DELETE', `clients/${id}`))
  expect((await applySource(service, limited)).realms[0]!.pendingApproval).toBeUndefined()
  expect(await getClientId(administered, 'robot')).toBe(id)
})

test('a saved plan is refused after one of its objects was deleted and created again', async () => {
  const administered = await createAdminRealm({})
  const regent = createPlanClient(server, `source-of-${administered.name}`)
  await regent.apply({ realm: administered.name, groups: [{ name: 'admins' }] })
  const { saved } = await regent.save({ realm: administered.name, groups: [{ name: 'admins', clientRoles: ADMIN }] })
  await deleteObject(service, EVE, administered.name, 'group', '/admins')
  await createObject(service, EVE, administered.name, 'group', { path: '/admins' })
  expect((await regent.applySaved(saved.id)).status).toBe(409)
})

test('an object whose re-creation was only reported needs an approval when the source declares more', async () => {
  const administered = await createAdminRealm({})
  const name = `source-of-${administered.name}`
  const settings = { drift: [{ policy: 'report' as const }] }
  const toReportingSource = (...groups: object[]) => ({
    ...createSource([{ realm: administered.name, groups }], name),
    settings,
  })
  await applySource(service, toReportingSource({ name: 'admins' }))
  await deleteObject(service, EVE, administered.name, 'group', '/admins')
  await applySource(service, toReportingSource({ name: 'admins' }))
  await createObject(service, EVE, administered.name, 'group', { path: '/admins' })
  await applySource(service, toReportingSource({ name: 'admins' }))
  const { realms } = await applySource(service, toReportingSource({ name: 'admins', clientRoles: ADMIN }))
  expect(realms[0]!.pendingApproval?.guards).toMatchObject([{ guard: 'recreated' }])
})

test('an object that the source itself deletes and recreates needs no approval', async () => {
  const administered = await createAdminRealm({})
  const regent = createPlanClient(server, `source-of-${administered.name}`)
  const declared = { realm: administered.name, groups: [{ name: 'admins', clientRoles: ADMIN }] }
  await regent.apply(declared)
  await regent.apply({ realm: administered.name })
  expect((await regent.apply(declared)).realms[0].pendingApproval).toBeUndefined()
})
