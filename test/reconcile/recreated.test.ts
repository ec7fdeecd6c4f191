// An object that was deleted and created again is another one: what is declared for it is granted with an approval only.
import { expect, test } from 'vitest'
import { type Caller, SYSTEM } from '../../src/service/context/service.ts'
import { liveObject, make, remove } from '../support/changes.ts'
import { plansOn } from '../support/plans.ts'
import { type Administered, administeredRealm } from '../support/realm-with-boss.ts'
import { applyAs, source } from '../support/reconcile.ts'
import { testServer } from '../support/server.ts'
import { testService } from '../support/service.ts'

const server = await testServer()
const { service } = await testService()
const ADMIN = { 'realm-management': ['realm-admin'] }

/** A move of an administrator with `roles`, who makes an object of theirs of the one that is declared. */
interface Takeover {
  readonly roles: string
  /** What is declared at first, and then. */
  readonly before: object
  readonly after: object
  readonly message: RegExp
  prepare?(own: Administered): Promise<unknown>
  take(own: Administered): Promise<void>
}

const idOf = (address: string) => address.split('/').at(-1)!
const done = async (answer: Promise<{ status: number; headers: Readonly<Record<string, unknown>> }>) => {
  const { status, headers } = await answer
  expect(status).toBeLessThan(300)
  return idOf(String(headers.location))
}
const userNamed = async ({ as }: Administered, username: string) =>
  (await as('weak', 'GET', `users?username=${username}&exact=true`)).body[0].id as string
const clientNamed = async ({ as }: Administered, clientId: string) =>
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
    message:
      /user chief is not the one that was applied: that was deleted by weak .*, and it was created again by weak /,
    async take(own) {
      await done(own.as('weak', 'DELETE', `users/${await userNamed(own, 'chief')}`))
      await done(own.as('weak', 'POST', 'users', { username: 'CHIEF', ...evil }))
    },
  },
  'a user whose name another one was given': {
    roles: 'manage-users',
    before: { users: [{ username: 'chief' }] },
    after: { users: [chief] },
    message: /user chief is not the one .* deleted by weak .*, and another one was renamed to it by weak /,
    async take(own) {
      const id = await done(own.as('weak', 'POST', 'users', { username: 'eve', ...evil }))
      await own.as('boss', 'PUT', '', { editUsernameAllowed: true })
      await done(own.as('weak', 'DELETE', `users/${await userNamed(own, 'chief')}`))
      await done(own.as('weak', 'PUT', `users/${id}`, { username: 'chief' }))
    },
  },
  'a group': {
    roles: 'manage-users',
    before: { groups: [{ name: 'admins' }] },
    after: { groups: [{ name: 'admins', clientRoles: ADMIN }] },
    message: /group \/admins is not the one/,
    async take(own) {
      const groups = (await own.as('weak', 'GET', 'groups?search=admins')).body
      await done(own.as('weak', 'DELETE', `groups/${groups[0].id}`))
      const group = await done(own.as('weak', 'POST', 'groups', { name: 'admins' }))
      await done(own.as('weak', 'PUT', `users/${own.people.weak}/groups/${group}`))
    },
  },
  'a group of which the documents only say what is below it': {
    roles: 'manage-users',
    before: { groups: [{ name: 'all', subGroups: [{ name: 'admins' }] }] },
    after: { groups: [{ name: 'all', subGroups: [{ name: 'admins', clientRoles: ADMIN }] }] },
    message: /group \/all is not the one/,
    async take(own) {
      const groups = (await own.as('weak', 'GET', 'groups?search=all&exact=true')).body
      await done(own.as('weak', 'DELETE', `groups/${groups[0].id}`))
      const all = await done(own.as('weak', 'POST', 'groups', { name: 'all' }))
      const admins = await done(own.as('weak', 'POST', `groups/${all}/children`, { name: 'admins' }))
      await done(own.as('weak', 'PUT', `users/${own.people.weak}/groups/${admins}`))
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
    message: /client robot is not the one .*; user service-account-robot is not the one/,
    async take(own) {
      await done(own.as('weak', 'DELETE', `clients/${await clientNamed(own, 'robot')}`))
      const body = { clientId: 'robot', serviceAccountsEnabled: true, secret: 'evil' }
      await done(own.as('weak', 'POST', 'clients', body))
    },
  },
  'a role of a client that no document states': {
    roles: 'manage-clients',
    before: { roles: { client: { shop: [{ name: 'seller' }] } } },
    after: { roles: { client: { shop: [{ name: 'seller', composites: { client: ADMIN } }] } } },
    message: /role seller of client shop is not the one/,
    prepare: (own) => own.as('boss', 'POST', 'clients', { clientId: 'shop' }),
    async take(own) {
      await done(own.as('weak', 'DELETE', `clients/${await clientNamed(own, 'shop')}`))
      const id = await done(own.as('weak', 'POST', 'clients', { clientId: 'shop' }))
      await done(own.as('weak', 'POST', `clients/${id}/roles`, { name: 'seller' }))
    },
  },
  'a role': {
    roles: 'manage-realm manage-users',
    before: { roles: { realm: [{ name: 'ops' }] } },
    after: { roles: { realm: [{ name: 'ops', composites: { client: ADMIN } }] } },
    message: /role ops is not the one/,
    async take(own) {
      await done(own.as('weak', 'DELETE', 'roles/ops'))
      await done(own.as('weak', 'POST', 'roles', { name: 'ops' }))
      const { body: role } = await own.as('weak', 'GET', 'roles/ops')
      await done(own.as('weak', 'POST', `users/${own.people.weak}/role-mappings/realm`, [role]))
    },
  },
  'a client scope': {
    roles: 'manage-clients',
    before: { clientScopes: [{ name: 'wide', protocol: 'openid-connect' }] },
    after: {
      clientScopes: [{ name: 'wide', protocol: 'openid-connect' }],
      clientScopeMappings: { 'realm-management': [{ clientScope: 'wide', roles: ['realm-admin'] }] },
    },
    message: /client scope wide is not the one/,
    async take(own) {
      const scopes = (await own.as('weak', 'GET', 'client-scopes')).body as { id: string; name: string }[]
      await done(own.as('weak', 'DELETE', `client-scopes/${scopes.find(({ name }) => name === 'wide')!.id}`))
      await done(own.as('weak', 'POST', 'client-scopes', { name: 'wide', protocol: 'openid-connect' }))
    },
  },
  'an identity provider': {
    roles: 'manage-identity-providers',
    before: { identityProviders: [{ alias: 'corp', providerId: 'github' }] },
    after: {
      identityProviders: [{ alias: 'corp', providerId: 'github' }],
      users: [{ ...chief, federatedIdentities: [{ identityProvider: 'corp', userId: '7', userName: 'chief' }] }],
    },
    message: /identity provider corp is not the one/,
    async take(own) {
      await done(own.as('weak', 'DELETE', 'identity-provider/instances/corp'))
      await done(own.as('weak', 'POST', 'identity-provider/instances', { alias: 'corp', providerId: 'github' }))
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
    message: /organization acme is not the one/,
    async take(own) {
      const [{ id }] = (await own.as('weak', 'GET', 'organizations')).body
      await done(own.as('weak', 'DELETE', `organizations/${id}`))
      await done(
        own.as('weak', 'POST', 'organizations', { name: 'acme', alias: 'acme', domains: [{ name: 'evil.example' }] }),
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
    message: /authentication flow in is not the one/,
    async take(own) {
      const flows = (await own.as('weak', 'GET', 'authentication/flows')).body as { id: string; alias: string }[]
      await done(own.as('weak', 'DELETE', `authentication/flows/${flows.find(({ alias }) => alias === 'in')!.id}`))
      await done(
        own.as('weak', 'POST', 'authentication/flows', { alias: 'in', providerId: 'basic-flow', topLevel: true }),
      )
    },
  },
}

test.each(Object.entries(takeovers))(
  '%s that was deleted and created again gets nothing that is declared without an approval',
  async (_, { roles, before, after, message, prepare, take }) => {
    const own = await administeredRealm({ weak: roles })
    const name = `source-of-${own.name}`
    const content = { realm: own.name, editUsernameAllowed: true, organizationsEnabled: true }
    await prepare?.(own)
    await applyAs(service, source([{ ...content, ...before }], name))
    await take(own)
    const declared = { ...content, ...after, displayName: 'Changed' }
    // As a followed source applies it, and as an administrator does.
    const followed = await applyAs(service, source([declared], name))
    expect(followed.realms[0]!.pendingApproval?.guards).toEqual(
      [{ guard: 'recreated', message: expect.stringMatching(message), objects: expect.any(Array) }].map((one) =>
        expect.objectContaining(one),
      ),
    )
    const regent = plansOn(server, name)
    const [{ pendingApproval }] = (await regent.apply(declared)).realms
    expect(pendingApproval.guards).toMatchObject([{ guard: 'recreated', message: expect.stringMatching(message) }])
    expect((await liveObject(service, SYSTEM, own.name, 'realm')).representation.displayName).not.toBe('Changed')
    expect((await own.as('weak', 'GET', 'components')).status).toBe(roles.includes('manage-realm') ? 200 : 403)

    // A person who approves that makes it the object of the source: the next run has nothing to ask.
    expect((await regent.approve(pendingApproval.plan)).body.outcome.realms[0].approval).toMatchObject({
      plan: pendingApproval.plan,
    })
    const again = (await regent.plan(declared)).body.realms[0]
    expect([again.plan.actions, again.guards]).toEqual([[], undefined])
  },
)

const EVE: Caller = { actor: { kind: 'administrator', realm: 'master', user: 'eve' } }

test('a recreated user keeps the password of who made it unless the approval says otherwise; once deleted it is created as declared', async () => {
  const own = await administeredRealm({})
  const name = `source-of-${own.name}`
  const regent = plansOn(server, name)
  const declared = { realm: own.name, users: [chief] }
  const logsIn = async (password: string) => {
    const { body } = await server.call('POST', `/realms/${own.name}/protocol/openid-connect/token`, {
      token: null,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({
        grant_type: 'password',
        client_id: 'admin-cli',
        username: 'chief',
        password,
      }).toString(),
    })
    return body.access_token !== undefined
  }
  const recreate = async () => {
    await remove(service, EVE, own.name, 'user', 'chief')
    await server.make(`${own.path}/users`, { username: 'chief', ...evil })
  }
  const named = { ...chief, email: 'chief@example.org', firstName: 'C', lastName: 'H' }
  declared.users = [named] as never
  await regent.apply(declared)
  expect(await logsIn('good')).toBe(true)
  await recreate()
  await regent.approve((await regent.apply(declared)).realms[0].pendingApproval.plan)
  expect([await logsIn('good'), await logsIn('evil')]).toEqual([false, true])
  await recreate()
  await regent.approve((await regent.apply(declared)).realms[0].pendingApproval.plan, { withCredentials: true })
  expect([await logsIn('good'), await logsIn('evil')]).toEqual([true, false])
  await recreate()
  await remove(service, EVE, own.name, 'user', 'chief')
  expect((await regent.apply(declared)).realms[0].pendingApproval).toBeUndefined()
  expect([await logsIn('good'), await logsIn('evil')]).toEqual([true, false])
})

test('the id of an object that a source applied is given to no object of a weaker administrator', async () => {
  const own = await administeredRealm({ weak: 'manage-clients manage-realm' })
  const name = `source-of-${own.name}`
  const clients = [{ clientId: 'robot', serviceAccountsEnabled: true }]
  const clientScopes = [{ name: 'wide', protocol: 'openid-connect' }]
  const content = { realm: own.name, clients, clientScopes, roles: { realm: [{ name: 'ops' }] } }
  await applyAs(service, source([content], name))
  const [scope] = (await own.as('weak', 'GET', 'client-scopes')).body.filter(
    (one: { name: string }) => one.name === 'wide',
  )
  const role = (await own.as('weak', 'GET', 'roles/ops')).body
  const attempts = [
    ['clients', { id: await clientNamed(own, 'robot'), clientId: 'robot', secret: 'evil' }],
    ['client-scopes', { id: scope.id, name: 'wide', protocol: 'openid-connect' }],
    ['roles', { id: role.id, name: 'ops' }],
  ] as const
  for (const [collection, { id }] of attempts)
    await done(own.as('weak', 'DELETE', collection === 'roles' ? 'roles/ops' : `${collection}/${id}`))
  for (const [collection, body] of attempts) {
    expect(await own.as('weak', 'POST', collection, body)).toMatchObject({ status: 409 })
    await done(own.as('weak', 'POST', collection, { ...body, id: crypto.randomUUID() }))
  }
  const { realms } = await applyAs(service, source([content], name))
  expect(realms[0]!.pendingApproval?.guards).toMatchObject([
    {
      guard: 'recreated',
      message: expect.stringMatching(/client scope wide is not .*; client robot is not .*; role ops is not /),
    },
  ])
})

test('a source creates an object that was deleted with the id that it declares', async () => {
  const own = await administeredRealm({ weak: 'manage-clients' })
  const id = crypto.randomUUID()
  const declared = { realm: own.name, clients: [{ id, clientId: 'robot' }] }
  const limited = { ...source([declared], `source-of-${own.name}`), ceiling: { realms: [own.name], roles: [] } }
  await applyAs(service, limited)
  await done(own.as('weak', 'DELETE', `clients/${id}`))
  expect((await applyAs(service, limited)).realms[0]!.pendingApproval).toBeUndefined()
  expect(await clientNamed(own, 'robot')).toBe(id)
})

test('a saved plan is not applied once an object of it was deleted and created again', async () => {
  const own = await administeredRealm({})
  const regent = plansOn(server, `source-of-${own.name}`)
  await regent.apply({ realm: own.name, groups: [{ name: 'admins' }] })
  const { saved } = await regent.save({ realm: own.name, groups: [{ name: 'admins', clientRoles: ADMIN }] })
  await remove(service, EVE, own.name, 'group', '/admins')
  await make(service, EVE, own.name, 'group', { path: '/admins' })
  expect((await regent.carryOut(saved.id)).status).toBe(409)
})

test('an object whose re-creation was only reported is still another one when the source declares more', async () => {
  const own = await administeredRealm({})
  const name = `source-of-${own.name}`
  const settings = { drift: [{ policy: 'report' as const }] }
  const reporting = (...groups: object[]) => ({ ...source([{ realm: own.name, groups }], name), settings })
  await applyAs(service, reporting({ name: 'admins' }))
  await remove(service, EVE, own.name, 'group', '/admins')
  await applyAs(service, reporting({ name: 'admins' }))
  await make(service, EVE, own.name, 'group', { path: '/admins' })
  await applyAs(service, reporting({ name: 'admins' }))
  const { realms } = await applyAs(service, reporting({ name: 'admins', clientRoles: ADMIN }))
  expect(realms[0]!.pendingApproval?.guards).toMatchObject([{ guard: 'recreated' }])
})

test('what a source deletes and creates again by itself needs no approval', async () => {
  const own = await administeredRealm({})
  const regent = plansOn(server, `source-of-${own.name}`)
  const declared = { realm: own.name, groups: [{ name: 'admins', clientRoles: ADMIN }] }
  await regent.apply(declared)
  await regent.apply({ realm: own.name })
  expect((await regent.apply(declared)).realms[0].pendingApproval).toBeUndefined()
})
