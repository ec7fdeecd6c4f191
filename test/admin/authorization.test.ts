// Authorization services of clients over REST: cases without a recorded exchange of Keycloak.
import { expect, test } from 'vitest'
import { testServer } from '../support/server.ts'
import { testService } from '../support/service.ts'

const { call, create, createRealm } = await testServer()

const toResourceServer = (client: string) => `${client}/authz/resource-server`
const ENABLED = { serviceAccountsEnabled: true, authorizationServicesEnabled: true }
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

/** Creates a realm with the role to which the policy `Tellers` refers. */
async function createBankRealm(): Promise<string> {
  const path = await createRealm({ adminEventsEnabled: true, adminEventsDetailsEnabled: true })
  await create(`${path}/roles`, { name: 'cashier' })
  return path
}

test('authorization settings of a new client are exported unchanged, and can be imported into another client', async () => {
  const path = await createBankRealm()
  const client = await create(`${path}/clients`, { clientId: 'api', ...ENABLED, authorizationSettings: settings })
  expect((await call('GET', client)).body).not.toHaveProperty('authorizationSettings')
  const exportedSettings = (await call('GET', `${toResourceServer(client)}/settings`)).body
  expect(exportedSettings).toEqual(settings)
  const other = await create(`${path}/clients`, { clientId: 'other', ...ENABLED })
  expect((await call('POST', `${toResourceServer(other)}/import`, { body: exportedSettings })).status).toBe(204)
  expect((await call('GET', `${toResourceServer(other)}/settings`)).body).toEqual(settings)
  expect((await call('POST', `${toResourceServer(other)}/import`, { body: exportedSettings })).status).toBe(204)
})

test('an import with a missing reference changes nothing, and the message names it', async () => {
  const client = await create(`${await createBankRealm()}/clients`, { clientId: 'api', ...ENABLED })
  const policies = [{ name: 'Ghosts', type: 'user', config: { users: '["ghost"]' } }]
  const response = await call('POST', `${toResourceServer(client)}/import`, {
    body: { policies, scopes: [{ name: 'open' }] },
  })
  expect(response.status).toBe(400)
  expect(response.body.error_description).toContain('user ghost, which does not exist')
  expect((await call('GET', `${toResourceServer(client)}/scope`)).body).toEqual([])
})

test('an update without authorizationServicesEnabled deletes the authorization services and their policies', async () => {
  const client = await create(`${await createBankRealm()}/clients`, {
    clientId: 'api',
    ...ENABLED,
    authorizationSettings: settings,
  })
  expect((await call('PUT', client, { body: { description: 'An API' } })).status).toBe(204)
  expect((await call('GET', client)).body).not.toHaveProperty('authorizationServicesEnabled')
  expect((await call('PUT', client, { body: { authorizationServicesEnabled: true } })).status).toBe(204)
  expect((await call('GET', `${toResourceServer(client)}/settings`)).body).toMatchObject({
    resources: [],
    policies: [],
  })
})

test('authorization services of a public client are refused when it is created, and deleted when it becomes public', async () => {
  const path = `${await createBankRealm()}/clients`
  const body = { clientId: 'api', publicClient: true, ...ENABLED }
  expect(await call('POST', path, { body })).toMatchObject({ status: 400 })
  const client = await create(path, { clientId: 'api', ...ENABLED })
  expect((await call('PUT', client, { body: { ...ENABLED, publicClient: true } })).status).toBe(204)
  expect((await call('GET', toResourceServer(client))).status).toBe(404)
})

test('a policy cannot refer to resources of another client', async () => {
  const path = `${await createBankRealm()}/clients`
  const client = await create(path, { clientId: 'api', ...ENABLED, authorizationSettings: settings })
  const other = await create(path, { clientId: 'other', ...ENABLED })
  const [resource] = (await call('GET', `${toResourceServer(client)}/resource`)).body
  const permission = { name: 'Foreign', resources: [resource._id] }
  expect(await call('POST', `${toResourceServer(other)}/permission/resource`, { body: permission })).toMatchObject({
    status: 400,
  })
  expect((await call('GET', `${toResourceServer(other)}/resource/${resource._id}`)).status).toBe(404)
})

test('the admin event of a policy contains the representation of the response', async () => {
  const path = await createBankRealm()
  const client = await create(`${path}/clients`, { clientId: 'api', ...ENABLED })
  const creation = await call('POST', `${toResourceServer(client)}/policy/time`, {
    body: { name: 'Morning', hour: '6', hourEnd: 9, owner: 'ann' },
  })
  expect(creation.body).toMatchObject({ name: 'Morning', type: 'time', hour: '6', hourEnd: '9', owner: 'ann' })
  const [event] = (await call('GET', `${path}/admin-events?max=1`)).body
  expect(event).toMatchObject({
    operationType: 'CREATE',
    resourceType: 'AUTHORIZATION_POLICY',
    resourcePath: `clients/${client.split('/').at(-1)}/authz/resource-server/policy/time/${creation.body.id}`,
  })
  expect(JSON.parse(event.representation)).toEqual(creation.body)
})

test('a list takes the same number of statements for any number of objects', async () => {
  const { statements } = await testService()
  const client = await create(`${await createBankRealm()}/clients`, {
    clientId: 'api',
    ...ENABLED,
    authorizationSettings: settings,
  })
  const countStatements = async () => {
    const lists = ['resource', 'scope', 'policy', 'permission'].map((list) => `${toResourceServer(client)}/${list}`)
    const counts: number[] = []
    for (const list of lists) counts.push((await statements(() => call('GET', list))).length)
    return counts
  }
  const before = await countStatements()
  for (const name of ['one', 'two', 'three']) {
    await call('POST', `${toResourceServer(client)}/resource`, { body: { name, scopes: ['open', name] } })
    await call('POST', `${toResourceServer(client)}/permission/resource`, {
      body: { name, resources: [name], policies: ['Tellers'] },
    })
  }
  expect(await countStatements()).toEqual(before)
})

test('PUT at the URL of a policy without its type replaces the policy', async () => {
  const path = await createBankRealm()
  const client = await create(`${path}/clients`, { clientId: 'api', ...ENABLED, authorizationSettings: settings })
  const tellers = (await call('GET', `${toResourceServer(client)}/policy?name=Tellers`)).body[0]
  const roleId = (await call('GET', `${path}/roles/cashier`)).body.id
  const body = { ...tellers, logic: 'NEGATIVE', config: { roles: JSON.stringify([{ id: roleId, required: false }]) } }
  expect((await call('PUT', `${toResourceServer(client)}/policy/${tellers.id}`, { body })).status).toBe(201)
  expect((await call('GET', `${toResourceServer(client)}/policy/${tellers.id}`)).body).toEqual(body)
  expect((await call('PUT', `${toResourceServer(client)}/policy/nowhere`, { body })).status).toBe(404)
})

test('a role policy omits missing realm roles, even if none remains, and also without its type in the URL', async () => {
  const path = await createRealm({ clients: [{ clientId: 'api', authorizationServicesEnabled: true }] })
  const [{ id }] = (await call('GET', `${path}/clients?clientId=api`)).body
  const policies = `${path}/clients/${id}/authz/resource-server/policy`
  const createPolicy = (name: string, ...roles: object[]) => call('POST', `${policies}/role`, { body: { name, roles } })
  expect(await createPolicy('some', { id: 'ghost', required: true }, { id: 'offline_access' })).toMatchObject({
    status: 201,
  })
  const [policy] = (await call('GET', `${policies}?name=some`)).body
  const offlineAccess = (await call('GET', `${path}/roles/offline_access`)).body.id
  expect(JSON.parse(policy.config.roles)).toEqual([expect.objectContaining({ id: offlineAccess })])
  expect(await createPolicy('none', { id: 'ghost' })).toMatchObject({ status: 201 })
  expect(await createPolicy('lost', { id: 'nowhere/ghost' })).toMatchObject({ status: 400 })
  const body = { name: 'text', type: 'role', config: { roles: '[{"id":"ghost"}]' } }
  expect(await call('POST', policies, { body })).toMatchObject({ status: 201 })
})

test('a role policy ignores missing roles of the realm and of existing clients; roles of missing clients are refused', async () => {
  const client = await create(`${await createBankRealm()}/clients`, { clientId: 'a/pi', ...ENABLED })
  await create(`${client}/roles`, { name: 'x/real' })
  const path = `${toResourceServer(client)}/policy/role`
  const listRoles = async () => {
    const { policies } = (await call('GET', `${toResourceServer(client)}/settings`)).body
    return policies.map(({ config }: { config: { roles: string } }) =>
      (JSON.parse(config.roles) as { id: string }[]).map(({ id }) => id).sort(),
    )
  }
  const roles = ['a/pi/ghost', 'cashier', 'ghost', 'a/pi/x/real', 'a/pi/'].map((id) => ({ id }))
  const creation = await call('POST', path, { body: { name: 'Tellers', roles } })
  expect(creation.status).toBe(201)
  expect(await listRoles()).toEqual([['a/pi/x/real', 'cashier']])
  for (const id of ['nowhere/ghost', '/x'])
    for (const [method, address] of [
      ['POST', path],
      ['PUT', `${path}/${creation.body.id}`],
    ] as const)
      expect((await call(method, address, { body: { name: 'Ghosts', roles: [{ id }] } })).status).toBe(400)
  const withoutRoles = { name: 'Tellers', roles: [{ id: 'a/pi/ghost' }] }
  expect((await call('PUT', `${path}/${creation.body.id}`, { body: withoutRoles })).status).toBe(201)
  expect(await listRoles()).toEqual([[]])
})

test('policies and permissions are listed, found and read by their type and without it', async () => {
  const client = await create(`${await createBankRealm()}/clients`, {
    clientId: 'api',
    ...ENABLED,
    authorizationSettings: settings,
  })
  const server = toResourceServer(client)
  const names = async (path: string) => {
    const { status, body } = await call('GET', `${server}/${path}`)
    return status === 200 ? [body].flat().map(({ name }: { name: string }) => name) : status
  }
  expect(await names('permission/scope')).toEqual(['Open'])
  expect(await names('permission/resource')).toEqual([])
  expect(await names('permission/role')).toEqual([])
  expect(await names('policy/role')).toEqual(['Tellers'])
  expect(await names('policy/role?name=zz')).toEqual([])
  expect(await names('policy/nope')).toBe(404)
  expect(await names('policy/role/search?name=Tellers')).toEqual(['Tellers'])
  expect(await names('policy/role/search?name=zz')).toBe(204)
  expect(await names('policy/nope/search?name=Tellers')).toBe(404)
  const [{ id }] = (await call('GET', `${server}/permission/scope`)).body
  for (const path of [`permission/${id}`, `permission/scope/${id}`, `policy/${id}`, `policy/scope/${id}`]) {
    expect(await names(path)).toEqual(['Open'])
    expect((await call('GET', `${server}/${path}/resources`)).body).toEqual([{ name: 'Safe', _id: expect.any(String) }])
    expect(await names(`${path}/scopes`)).toEqual(['open'])
    expect(await names(`${path}/associatedPolicies`)).toEqual(['Tellers'])
    expect(await names(`${path}/dependentPolicies`)).toEqual([])
  }
  expect((await call('PUT', `${server}/permission/${id}`, { body: { name: 'Shut' } })).status).toBe(201)
  expect(await names('permission/scope')).toEqual(['Shut'])
  expect((await call('DELETE', `${server}/permission/${id}`)).status).toBe(204)
  expect(await names('permission')).toEqual([])
})

test('lists of policies and resources are limited by each of their parameters', async () => {
  const server = toResourceServer(await create(`${await createBankRealm()}/clients`, { clientId: 'api', ...ENABLED }))
  const [gate] = await Promise.all(
    ['Gate', 'Safe'].map(async (name) => {
      const { body } = await call('POST', `${server}/resource`, {
        body: { name, displayName: `The ${name}`, type: `urn:${name}` },
      })
      await call('POST', `${server}/permission/resource`, { body: { name: `On ${name}`, resourceType: `urn:${name}` } })
      return body
    }),
  )
  const names = async (path: string) =>
    (await call('GET', `${server}/${path}`)).body.map(({ name }: { name: string }) => name)
  for (const list of ['permission', 'policy', 'permission/resource', 'policy/resource']) {
    expect(await names(list)).toEqual(['On Gate', 'On Safe'])
    expect(await names(`${list}?resourceType=urn:Gate`)).toEqual(['On Gate'])
    expect(await names(`${list}?resourceType=urn:gate`)).toEqual([])
    expect(await names(`${list}?owner=ann`)).toEqual([])
  }
  expect(await names(`resource?id=${gate._id}`)).toEqual(['Gate'])
  expect(await names(`resource?_id=${gate._id}`)).toEqual(['Gate'])
  const { body } = await call('POST', `${server}/permission/resource`, {
    body: { name: 'Gates', resources: [gate._id] },
  })
  expect((await call('GET', `${server}/policy/${body.id}/resources`)).body).toEqual([
    { name: 'Gate', displayName: 'The Gate', _id: gate._id },
  ])
})

test('an import replaces the objects that it names, and keeps undeclared attributes and relations of permissions', async () => {
  const path = await createBankRealm()
  await create(`${path}/roles`, { name: 'guard' })
  const client = await create(`${path}/clients`, { clientId: 'api', ...ENABLED })
  const roles = [
    { id: 'cashier', required: true },
    { id: 'guard', required: false },
  ]
  const regex = { name: 'Regex', type: 'regex', config: { targetClaim: 'sub', pattern: '.*' } }
  const importSettings = async (body: object) => {
    expect((await call('POST', `${toResourceServer(client)}/import`, { body })).status).toBe(204)
    return (await call('GET', `${toResourceServer(client)}/settings`)).body
  }
  await importSettings({
    policyEnforcementMode: 'PERMISSIVE',
    scopes: [{ name: 'open', displayName: 'Open', iconUri: '/open' }, { name: 'close' }],
    resources: [
      {
        name: 'Safe',
        displayName: 'The safe',
        type: 't',
        uris: ['/a'],
        scopes: [{ name: 'open' }],
        attributes: { a: ['1'] },
      },
      { name: 'Till', attributes: { a: ['1'], b: ['2'] } },
    ],
    policies: [
      {
        name: 'Roles',
        type: 'role',
        description: 'Roles',
        logic: 'NEGATIVE',
        config: { roles: JSON.stringify(roles) },
      },
      regex,
      { name: 'Open', type: 'scope', config: { scopes: '["open"]', applyPolicies: '["Roles"]' } },
    ],
  })
  const replaced = await importSettings({
    scopes: [{ name: 'open', displayName: 'Other' }],
    resources: [
      { name: 'Safe', uris: ['/b'], scopes: [{ name: 'close' }] },
      { name: 'Till', attributes: { b: ['3'] } },
    ],
    policies: [
      { name: 'Roles', type: 'role', config: { roles: JSON.stringify([{ id: 'guard', required: true }]) } },
      { ...regex, config: { pattern: 'x' } },
      { name: 'Open', type: 'scope', decisionStrategy: 'AFFIRMATIVE' },
    ],
  })
  const ofPolicy = { logic: 'POSITIVE', decisionStrategy: 'UNANIMOUS' }
  expect(replaced).toEqual({
    allowRemoteResourceManagement: true,
    policyEnforcementMode: 'ENFORCING',
    decisionStrategy: 'UNANIMOUS',
    scopes: [{ name: 'close' }, { name: 'open', displayName: 'Other' }],
    resources: [
      { name: 'Safe', ownerManagedAccess: false, uris: ['/b'], scopes: [{ name: 'close' }], attributes: { a: ['1'] } },
      { name: 'Till', ownerManagedAccess: false, uris: [], attributes: { b: ['3'] } },
    ],
    policies: [
      {
        ...ofPolicy,
        name: 'Open',
        type: 'scope',
        decisionStrategy: 'AFFIRMATIVE',
        config: { scopes: '["open"]', applyPolicies: '["Roles"]' },
      },
      { ...ofPolicy, ...regex, config: { pattern: 'x' } },
      { ...ofPolicy, name: 'Roles', type: 'role', config: { roles: '[{"id":"guard","required":true}]' } },
    ],
  })
})
