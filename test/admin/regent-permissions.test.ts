// Regent's own permissions: to approve plans, roll back a realm, suspend sources and accept drift, each on its own.
import { beforeAll, expect, test } from 'vitest'
import { PERMISSIONS_CLIENT, type RegentRole, regentRoles } from '../../src/kinds/admin-roles.ts'
import { SYSTEM } from '../../src/service/context/service.ts'
import { type AdminRealm, createAdminRealm } from '../support/admin-realm.ts'
import { createAdminToken } from '../support/admin-tokens.ts'
import { createObject, deleteObject, updateObject } from '../support/live-objects.ts'
import { createPlanClient, toSourceBody } from '../support/plan-client.ts'
import { testServer } from '../support/server.ts'
import { newName, testService } from '../support/service.ts'
import { ANN } from '../support/sources.ts'

const { service } = await testService()
const server = await testServer()
const { call } = server

let realm: AdminRealm
let source: string
const tokens = new Map<string, string>()

const declared = (more: object = {}) => ({
  realm: realm.name,
  clients: [{ clientId: PERMISSIONS_CLIENT }],
  roles: { client: { [PERMISSIONS_CLIENT]: regentRoles.map((name) => ({ name })) } },
  ...more,
})
const roles = Array.from({ length: 30 }, (_, at) => ({ name: `role-${at}` }))
const withRoles = (count: number) => {
  const { clients, roles: declaredRoles } = declared()
  return { realm: realm.name, clients, roles: { ...declaredRoles, realm: roles.slice(0, count) } }
}
const planOf = () => createPlanClient(server, source)
const leavePending = async (): Promise<string> => {
  await planOf().apply(withRoles(30))
  return (await planOf().apply(withRoles(0))).realms[0].pendingApproval.plan
}
const getRevision = async () => (await call('GET', `/regent/v1/history/${realm.name}?max=1`)).body[0].number

beforeAll(async () => {
  realm = await createAdminRealm({ manager: 'manage-users manage-clients manage-realm' })
  source = newName('source')
  await planOf().apply(declared())
  for (const role of regentRoles)
    tokens.set(role, await createAdminToken(realm.name, { clientRoles: { [PERMISSIONS_CLIENT]: [role] } }))
  tokens.set('realm-admin', await realm.token('admin'))
})

/** The operations by the permission that they need. Each returns its response. */
const operations: Readonly<Record<string, readonly [RegentRole, (token: string) => ReturnType<typeof call>]>> = {
  'show a plan': ['approve-plans', async (token) => call('GET', `/regent/v1/plans/${await leavePending()}`, { token })],
  'approve a plan': ['approve-plans', async (token) => planOf().approve(await leavePending(), undefined, token)],
  'reject a plan': [
    'approve-plans',
    async (token) => call('DELETE', `/regent/v1/plans/${await leavePending()}`, { token }),
  ],
  'plan changes': [
    'plan-changes',
    (token) => call('POST', '/regent/v1/plan', { token, body: toSourceBody([declared()], source) }),
  ],
  'explain the permissions of a source': [
    'plan-changes',
    (token) => call('POST', '/regent/v1/explain', { token, body: toSourceBody([declared()], source) }),
  ],
  'list revisions': ['roll-back-realm', (token) => call('GET', `/regent/v1/history/${realm.name}`, { token })],
  'roll back': [
    'roll-back-realm',
    async (token) => {
      const revision = await getRevision()
      await updateObject(service, ANN, realm.name, 'realm', [realm.name], { displayName: newName() })
      return call('POST', `/regent/v1/rollback/${realm.name}`, { token, body: { revision } })
    },
  ],
  'suspend a source': [
    'suspend-sources',
    (token) => call('POST', `/regent/v1/source-states/suspend?source=${source}`, { token }),
  ],
  'resume a source': [
    'suspend-sources',
    (token) => call('POST', `/regent/v1/source-states/resume?source=${source}`, { token }),
  ],
  'accept drift': ['accept-drift', (token) => call('GET', `/regent/v1/accept/${realm.name}`, { token })],
  'list drift': ['accept-drift', (token) => call('GET', `/regent/v1/drift?realm=${realm.name}`, { token })],
}

test.each(Object.keys(operations))(
  'only the permission of its own and realm-admin permit an administrator to: %s',
  async (name) => {
    const [permission, execute] = operations[name]!
    for (const role of regentRoles.filter((other) => other !== permission)) {
      const { status, body } = await execute(tokens.get(role)!)
      expect([role, status, body.error_description]).toEqual([
        role,
        403,
        `You lack the permission ${permission} in realm ${realm.name}. The role ${permission} of its client regent-permissions grants it, and so does realm-admin.`,
      ])
    }
    for (const role of [permission, 'realm-admin']) {
      const { status, body } = await execute(tokens.get(role)!)
      expect(status, `${role}: ${JSON.stringify(body)}`).toBeLessThan(300)
    }
  },
)

test('these permissions permit no apply, export or change of the realm', async () => {
  for (const role of regentRoles) {
    const token = tokens.get(role)!
    const body = toSourceBody([declared()], source)
    expect((await call('POST', '/regent/v1/apply', { token, body })).status).toBe(403)
    expect((await call('GET', `/regent/v1/export/${realm.name}`, { token })).status).toBe(403)
    expect((await call('GET', realm.path, { token })).status).toBe(403)
    expect((await call('GET', `/regent/v1/accept/${realm.name}?users=true`, { token })).status).toBe(403)
  }
})

test('a user who may only plan sees the changes and their consequences, saves no plan and changes nothing', async () => {
  const token = tokens.get('plan-changes')!
  const strong = { username: 'strong', clientRoles: { 'realm-management': ['realm-admin'] } }
  const body = toSourceBody([declared({ displayName: 'Planned', users: [strong] })], source)
  const revision = await getRevision()
  const planned = await call('POST', '/regent/v1/plan', { token, body })
  expect([planned.status, planned.body.realms[0].plan.actions.map(({ key }: { key: string[] }) => key)]).toEqual([
    200,
    expect.arrayContaining([[realm.name], ['strong']]),
  ])
  for (const address of ['/regent/v1/plan?save=true', '/regent/v1/apply'])
    expect((await call('POST', address, { token, body })).status).toBe(403)
  expect(await getRevision()).toBe(revision)
  expect((await call('GET', `${realm.path}/users?username=strong&exact=true`)).body).toEqual([])
})

test('a plan shows no secret to a user who may only plan', async () => {
  const smtpServer = {
    host: 'mail.example.org',
    from: 'a@example.org',
    auth: 'true',
    user: 'u',
    password: 'live-secret-1',
  }
  const app = { clientId: 'app', secret: 'live-secret-2' }
  const name = newName('source')
  const plans = createPlanClient(server, name)
  await plans.apply({ realm: realm.name, smtpServer, clients: [app] })
  const changed = { ...smtpServer, password: 'new-secret-1' }
  const document = { realm: realm.name, smtpServer: changed, clients: [{ ...app, secret: 'new-secret-2' }] }
  const body = toSourceBody([document], name)
  const planned = await call('POST', '/regent/v1/plan', { token: tokens.get('plan-changes')!, body })
  expect(planned.body.realms[0].plan.actions).toHaveLength(2)
  expect(JSON.stringify(planned.body)).not.toMatch(/(live|new)-secret/)
})

test('in master, the permission to plan is for every realm, also for one to be created', async () => {
  const { body: clients } = await call('GET', `/admin/realms/master/clients?clientId=${PERMISSIONS_CLIENT}`)
  if (!clients.length) await server.create('/admin/realms/master/clients', { clientId: PERMISSIONS_CLIENT })
  const [client] = (await call('GET', `/admin/realms/master/clients?clientId=${PERMISSIONS_CLIENT}`)).body
  await server.create(`/admin/realms/master/clients/${client.id}/roles`, { name: 'plan-changes' })
  const token = await createAdminToken('master', { clientRoles: { [PERMISSIONS_CLIENT]: ['plan-changes'] } })
  const body = toSourceBody([{ realm: newName(), enabled: true }, declared()], source)
  expect((await call('POST', '/regent/v1/plan', { token, body })).status).toBe(200)
  expect((await call('POST', '/regent/v1/apply', { token, body })).status).toBe(403)
  expect((await call('GET', realm.path, { token })).status).toBe(403)
  await call('DELETE', `/admin/realms/master/clients/${client.id}`)
})

test('the plan of an administrator is approved by a user who may only approve, and its author applies it', async () => {
  const id = await leavePending()
  const { body } = await planOf().approve(id, undefined, tokens.get('approve-plans')!)
  expect(body).toMatchObject({ plan: { state: 'approved' } })
  expect(body.outcome).toBeUndefined()
  expect((await planOf().applySaved(id)).status).toBe(200)
})

test('nobody gives themselves or others such a permission without having it', async () => {
  const { as, users, name } = realm
  const [client] = (await call('GET', `${realm.path}/clients?clientId=${PERMISSIONS_CLIENT}`)).body
  const [role] = (await call('GET', `${realm.path}/clients/${client.id}/roles`)).body.filter(
    (candidate: { name: string }) => candidate.name === 'approve-plans',
  )
  const refused = async (method: string, address: string, body?: unknown) => {
    const response = await as('manager', method, address, body)
    expect([method, address, response.status, response.body?.error]).toEqual([
      method,
      address,
      403,
      'HTTP 403 Forbidden',
    ])
  }
  await refused('POST', `users/${users.manager}/role-mappings/clients/${client.id}`, [role])
  await refused('POST', `groups/${realm.adminGroup}/role-mappings/clients/${client.id}`, [role])
  await createObject(service, SYSTEM, name, 'role', { name: 'composite' })
  await refused('POST', 'roles/composite/composites', [role])
  await refused('DELETE', `clients/${client.id}/roles/approve-plans`)
  await refused('DELETE', `clients/${client.id}`)
  await refused('PUT', `clients/${client.id}`, { ...client, clientId: 'other' })
  await call('DELETE', `${realm.path}/clients/${client.id}/roles/approve-plans`)
  await refused('POST', `clients/${client.id}/roles`, { name: 'approve-plans' })
  await as('manager', 'POST', `clients/${client.id}/roles`, { name: 'renamed' })
  await refused('PUT', `clients/${client.id}/roles/renamed`, { name: 'approve-plans' })
  // Without the client, a role of another one cannot take its place.
  await call('DELETE', `${realm.path}/clients/${client.id}`)
  await as('manager', 'POST', 'clients', { clientId: 'harmless' })
  const [harmless] = (await call('GET', `${realm.path}/clients?clientId=harmless`)).body
  await as('manager', 'POST', `clients/${harmless.id}/roles`, { name: 'approve-plans' })
  await refused('PUT', `clients/${harmless.id}`, { ...harmless, clientId: PERMISSIONS_CLIENT })
  await deleteObject(service, SYSTEM, name, 'client', 'harmless')
})

test('a new realm has neither the client nor such roles', async () => {
  const path = await server.createRealm()
  const clients: { id: string; clientId: string }[] = (await call('GET', `${path}/clients`)).body
  expect(clients.map(({ clientId }) => clientId)).not.toContain(PERMISSIONS_CLIENT)
  const management = clients.find(({ clientId }) => clientId === 'realm-management')!
  const names = (await call('GET', `${path}/clients/${management.id}/roles`)).body.map(
    (role: { name: string }) => role.name,
  )
  expect(names.filter((name: RegentRole) => regentRoles.includes(name))).toEqual([])
})

test('roles with these names of other clients permit nothing', async () => {
  const { path, name, token } = await createAdminRealm({ viewer: 'view-realm' })
  await server.create(`${path}/clients`, { clientId: 'shop' })
  const [shop] = (await call('GET', `${path}/clients?clientId=shop`)).body
  await server.create(`${path}/clients/${shop.id}/roles`, { name: 'roll-back-realm' })
  const other = await createAdminToken(name, { clientRoles: { shop: ['roll-back-realm'] } })
  for (const caller of [other, await token('viewer')])
    expect((await call('GET', `/regent/v1/history/${name}`, { token: caller })).status).toBe(403)
})
