// Authorization services of clients over REST, beyond the recorded exchanges.
import { expect, test } from 'vitest'
import { testServer } from '../support/server.ts'
import { testService } from '../support/service.ts'

const { call, make, realm } = await testServer()

const server = (client: string) => `${client}/authz/resource-server`
const deciding = { serviceAccountsEnabled: true, authorizationServicesEnabled: true }
const settings = {
  allowRemoteResourceManagement: true,
  policyEnforcementMode: 'PERMISSIVE',
  decisionStrategy: 'UNANIMOUS',
  scopes: [{ name: 'open' }],
  resources: [{ name: 'Safe', ownerManagedAccess: false, attributes: {}, uris: ['/safe'], scopes: [{ name: 'open' }] }],
  policies: [
    {
      name: 'Open',
      type: 'scope',
      logic: 'NEGATIVE',
      decisionStrategy: 'AFFIRMATIVE',
      config: { resources: '["Safe"]', scopes: '["open"]', applyPolicies: '["Tellers"]' },
    },
    {
      name: 'Tellers',
      type: 'role',
      logic: 'POSITIVE',
      decisionStrategy: 'UNANIMOUS',
      config: { roles: '[{"id":"cashier","required":true}]' },
    },
  ],
}

async function bank(): Promise<string> {
  const path = await realm({ adminEventsEnabled: true, adminEventsDetailsEnabled: true })
  await make(`${path}/roles`, { name: 'cashier' })
  return path
}

test('authorization settings in a new client are exported again, and can be imported into another client', async () => {
  const path = await bank()
  const client = await make(`${path}/clients`, { clientId: 'api', ...deciding, authorizationSettings: settings })
  expect((await call('GET', client)).body).not.toHaveProperty('authorizationSettings')
  const exported = (await call('GET', `${server(client)}/settings`)).body
  expect(exported).toEqual(settings)
  const other = await make(`${path}/clients`, { clientId: 'other', ...deciding })
  expect((await call('POST', `${server(other)}/import`, { body: exported })).status).toBe(204)
  expect((await call('GET', `${server(other)}/settings`)).body).toEqual(settings)
  expect((await call('POST', `${server(other)}/import`, { body: exported })).status).toBe(204)
})

test('an import with a missing reference changes nothing, and the message names it', async () => {
  const client = await make(`${await bank()}/clients`, { clientId: 'api', ...deciding })
  const policies = [{ name: 'Ghosts', type: 'user', config: { users: '["ghost"]' } }]
  const response = await call('POST', `${server(client)}/import`, { body: { policies, scopes: [{ name: 'open' }] } })
  expect(response.status).toBe(400)
  expect(response.body.error_description).toContain('user ghost, which does not exist')
  expect((await call('GET', `${server(client)}/scope`)).body).toEqual([])
})

test('an update without authorizationServicesEnabled deletes the authorization services and their policies', async () => {
  const client = await make(`${await bank()}/clients`, {
    clientId: 'api',
    ...deciding,
    authorizationSettings: settings,
  })
  expect((await call('PUT', client, { body: { description: 'An API' } })).status).toBe(204)
  expect((await call('GET', client)).body).not.toHaveProperty('authorizationServicesEnabled')
  expect((await call('PUT', client, { body: { authorizationServicesEnabled: true } })).status).toBe(204)
  expect((await call('GET', `${server(client)}/settings`)).body).toMatchObject({ resources: [], policies: [] })
})

test('a public client has no authorization services', async () => {
  const path = `${await bank()}/clients`
  const body = { clientId: 'api', publicClient: true, ...deciding }
  expect(await call('POST', path, { body })).toMatchObject({ status: 400 })
  const client = await make(path, { clientId: 'api', ...deciding })
  expect((await call('PUT', client, { body: { ...deciding, publicClient: true } })).status).toBe(204)
  expect((await call('GET', server(client))).status).toBe(404)
})

test('a policy cannot refer to resources of another client', async () => {
  const path = `${await bank()}/clients`
  const client = await make(path, { clientId: 'api', ...deciding, authorizationSettings: settings })
  const other = await make(path, { clientId: 'other', ...deciding })
  const [resource] = (await call('GET', `${server(client)}/resource`)).body
  const foreign = { name: 'Theirs', resources: [resource._id] }
  expect(await call('POST', `${server(other)}/permission/resource`, { body: foreign })).toMatchObject({ status: 400 })
  expect((await call('GET', `${server(other)}/resource/${resource._id}`)).status).toBe(404)
})

test('the admin event of a policy contains the representation of the response', async () => {
  const path = await bank()
  const client = await make(`${path}/clients`, { clientId: 'api', ...deciding })
  const created = await call('POST', `${server(client)}/policy/time`, {
    body: { name: 'Morning', hour: '6', hourEnd: 9 },
  })
  expect(created.body).toMatchObject({ name: 'Morning', type: 'time', hour: '6', hourEnd: '9' })
  const [event] = (await call('GET', `${path}/admin-events?max=1`)).body
  expect(event).toMatchObject({
    operationType: 'CREATE',
    resourceType: 'AUTHORIZATION_POLICY',
    resourcePath: `clients/${client.split('/').at(-1)}/authz/resource-server/policy/time/${created.body.id}`,
  })
  expect(JSON.parse(event.representation)).toEqual(created.body)
})

test('a list takes as many statements as one object, for any length', async () => {
  const { statements } = await testService()
  const client = await make(`${await bank()}/clients`, {
    clientId: 'api',
    ...deciding,
    authorizationSettings: settings,
  })
  const count = async () => {
    const lists = ['resource', 'scope', 'policy', 'permission'].map((list) => `${server(client)}/${list}`)
    const counts: number[] = []
    for (const list of lists) counts.push((await statements(() => call('GET', list))).length)
    return counts
  }
  const before = await count()
  for (const name of ['one', 'two', 'three']) {
    await call('POST', `${server(client)}/resource`, { body: { name, scopes: ['open', name] } })
    await call('POST', `${server(client)}/permission/resource`, {
      body: { name, resources: [name], policies: ['Tellers'] },
    })
  }
  expect(await count()).toEqual(before)
})

test('a policy is replaced at its URL without a type too, in the form of exports', async () => {
  const path = await bank()
  const client = await make(`${path}/clients`, { clientId: 'api', ...deciding, authorizationSettings: settings })
  const tellers = (await call('GET', `${server(client)}/policy?name=Tellers`)).body[0]
  const roleId = (await call('GET', `${path}/roles/cashier`)).body.id
  const body = { ...tellers, logic: 'NEGATIVE', config: { roles: JSON.stringify([{ id: roleId, required: false }]) } }
  expect((await call('PUT', `${server(client)}/policy/${tellers.id}`, { body })).status).toBe(201)
  expect((await call('GET', `${server(client)}/policy/${tellers.id}`)).body).toEqual(body)
  expect((await call('PUT', `${server(client)}/policy/nowhere`, { body })).status).toBe(404)
})

test('a role policy ignores missing realm roles, and refuses roles of missing clients', async () => {
  const path = await realm({ clients: [{ clientId: 'api', authorizationServicesEnabled: true }] })
  const [{ id }] = (await call('GET', `${path}/clients?clientId=api`)).body
  const policies = `${path}/clients/${id}/authz/resource-server/policy`
  const create = (name: string, ...roles: object[]) => call('POST', `${policies}/role`, { body: { name, roles } })
  expect(await create('some', { id: 'ghost', required: true }, { id: 'offline_access' })).toMatchObject({ status: 201 })
  const [policy] = (await call('GET', `${policies}?name=some`)).body
  expect(policy.config.roles).toContain('id')
  expect(JSON.parse(policy.config.roles)).toHaveLength(1)
  expect(await create('none', { id: 'ghost' })).toMatchObject({ status: 201 })
  expect(await create('lost', { id: 'nowhere/ghost' })).toMatchObject({ status: 400 })
  const body = { name: 'text', type: 'role', config: { roles: '[{"id":"ghost"}]' } }
  expect(await call('POST', policies, { body })).toMatchObject({ status: 201 })
})

test('a role policy ignores missing roles of the realm and of existing clients; roles of missing clients are refused', async () => {
  const client = await make(`${await bank()}/clients`, { clientId: 'a/pi', ...deciding })
  await make(`${client}/roles`, { name: 'x/real' })
  const at = `${server(client)}/policy/role`
  const rolesIn = async () => {
    const { policies } = (await call('GET', `${server(client)}/settings`)).body
    return policies.map(({ config }: { config: { roles: string } }) =>
      (JSON.parse(config.roles) as { id: string }[]).map(({ id }) => id).sort(),
    )
  }
  const roles = ['a/pi/ghost', 'cashier', 'ghost', 'a/pi/x/real', 'a/pi/'].map((id) => ({ id }))
  const created = await call('POST', at, { body: { name: 'Tellers', roles } })
  expect(created.status).toBe(201)
  expect(await rolesIn()).toEqual([['a/pi/x/real', 'cashier']])
  for (const id of ['nowhere/ghost', '/x'])
    for (const [method, path] of [
      ['POST', at],
      ['PUT', `${at}/${created.body.id}`],
    ] as const)
      expect((await call(method, path, { body: { name: 'Ghosts', roles: [{ id }] } })).status).toBe(400)
  const emptied = { name: 'Tellers', roles: [{ id: 'a/pi/ghost' }] }
  expect((await call('PUT', `${at}/${created.body.id}`, { body: emptied })).status).toBe(201)
  expect(await rolesIn()).toEqual([[]])
})
