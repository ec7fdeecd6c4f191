// The client of fine-grained admin permissions is created when a realm enables them, and stays complete while they are enabled.
import { describe, expect, test } from 'vitest'
import { permissionTypes } from '../../src/kinds/admin-permissions.ts'
import { testServer } from '../support/server.ts'
import { newName } from '../support/service.ts'

const { call, createRealm, create } = await testServer()
const CLIENT = 'admin-permissions'
const ENABLED = { adminPermissionsEnabled: true }

const findClientPath = async (path: string) => {
  const [client] = (await call('GET', `${path}/clients?clientId=${CLIENT}`)).body
  return client && `${path}/clients/${client.id}`
}

/** Returns the scopes of each resource by its name, and the numbers of scopes and policies. */
async function readContent(path: string) {
  const server = `${await findClientPath(path)}/authz/resource-server`
  const [resources, scopes, policies] = await Promise.all(
    ['resource', 'scope', 'policy'].map(async (list) => (await call('GET', `${server}/${list}?max=1000`)).body),
  )
  const types = resources.map(({ name, scopes: scopesOfResource }: { name: string; scopes: { name: string }[] }) => [
    name,
    scopesOfResource.map((scope) => scope.name).sort(),
  ])
  return { types: Object.fromEntries(types), scopes: scopes.length, policies: policies.length }
}

const COMPLETE_CONTENT = {
  types: Object.fromEntries(Object.entries(permissionTypes).map(([name, { scopes }]) => [name, [...scopes].sort()])),
  scopes: 16,
  policies: 0,
}

/** Returns parts that other clients have, but not this client in Keycloak: a secret, a service account, roles. */
async function readUnexpectedParts(path: string) {
  const client = await findClientPath(path)
  return {
    secret: (await call('GET', `${client}/client-secret`)).body.value,
    account: (await call('GET', `${client}/service-account-user`)).status,
    roles: (await call('GET', `${client}/roles`)).body,
  }
}
const NO_UNEXPECTED_PARTS = { secret: undefined, account: 400, roles: [] }

const send = (path: 'plan' | 'apply', name: string, source: string, document: object, settings = {}) => {
  const files = [{ file: 'x.json', text: JSON.stringify({ realm: name, ...document }), values: [{}] }]
  const body = { name: source, revision: String(Math.random()), settings, files }
  return call('POST', `/regent/v1/${path}`, { body })
}
const plan = (name: string, source: string, document: object) => send('plan', name, source, document)
const apply = (name: string, source: string, document: object, settings?: object) =>
  send('apply', name, source, document, settings)
const listActions = ({ body }: { body: { realms: { plan: { actions: unknown[] } }[] } }) =>
  body.realms.flatMap(({ plan }) => plan.actions)

const settings = { policyEnforcementMode: 'ENFORCING', decisionStrategy: 'UNANIMOUS' }
const clerks = { name: 'clerks', type: 'role', config: { roles: '[{"id":"offline_access","required":false}]' } }
const permission = {
  name: 'clerks view users',
  type: 'scope',
  config: {
    defaultResourceType: 'Users',
    resources: '["Users"]',
    scopes: '["view"]',
    applyPolicies: '["clerks"]',
  },
}
/** The client as documents and exports declare it, with the expected number of policies. */
const declarations: [title: string, client: object, policies: number][] = [
  ['its name alone', {}, 0],
  ['the settings of Keycloak', { serviceAccountsEnabled: true, authorizationServicesEnabled: true }, 0],
  [
    'a resource with fewer scopes',
    { authorizationSettings: { ...settings, resources: [{ name: 'Users', scopes: [{ name: 'view' }] }] } },
    0,
  ],
  ['empty lists', { authorizationSettings: { ...settings, resources: [], scopes: [], policies: [] } }, 0],
  ['policies alone', { authorizationSettings: { policies: [clerks, permission] } }, 2],
]

test('enabling admin permissions creates the client with all resources and scopes, without secret, service account or roles', async () => {
  const path = await createRealm(ENABLED)
  expect(await readContent(path)).toEqual(COMPLETE_CONTENT)
  expect(await readUnexpectedParts(path)).toEqual(NO_UNEXPECTED_PARTS)
  const { adminPermissionsEnabled, adminPermissionsClient } = (await call('GET', path)).body
  expect([adminPermissionsEnabled, adminPermissionsClient.clientId]).toEqual([true, CLIENT])
  const client = (await findClientPath(path))!
  expect((await call('GET', client)).body).toMatchObject({
    fullScopeAllowed: false,
    serviceAccountsEnabled: true,
    authorizationServicesEnabled: true,
    access: { view: true, configure: false, manage: false },
  })
  const { resourceTypes } = (await call('GET', `${client}/authz/resource-server`)).body.authorizationSchema
  expect(Object.keys(resourceTypes)).toEqual(['Clients', 'Groups', 'Organizations', 'Roles', 'Users'])
  expect((await call('DELETE', client)).status).toBe(400)
  await call('PUT', path, { body: { adminPermissionsEnabled: false } })
  expect((await call('GET', path)).body).not.toHaveProperty('adminPermissionsClient')
})

describe('the client stays complete after an import that declares', () => {
  test.each(declarations)('%s, in a new realm', async (_, client, policies) => {
    const path = await createRealm({ ...ENABLED, clients: [{ clientId: CLIENT, ...client }] })
    expect(await readContent(path)).toEqual({ ...COMPLETE_CONTENT, policies })
    expect(await readUnexpectedParts(path)).toEqual(NO_UNEXPECTED_PARTS)
  })

  test.each(['FAIL', 'SKIP', 'OVERWRITE'])('the client, in a partial import with %s', async (ifResourceExists) => {
    const path = await createRealm(ENABLED)
    const before = await findClientPath(path)
    const clients = declarations.map(([, client]) => ({ clientId: CLIENT, ...client }))
    const { status, body } = await call('POST', `${path}/partialImport`, { body: { ifResourceExists, clients } })
    expect([status, body.results]).toEqual([200, []])
    expect(await findClientPath(path)).toBe(before)
    expect(await readContent(path)).toEqual(COMPLETE_CONTENT)
  })

  test.each(declarations)('%s, in a document', async (_, client, policies) => {
    const document = { ...ENABLED, clients: [{ clientId: CLIENT, ...client }] }
    const path = await createRealm()
    const name = path.split('/').at(-1)!
    for (const realm of [newName(), name]) {
      expect((await apply(realm, `s-${realm}`, document)).status).toBe(200)
      expect(await readContent(`/admin/realms/${realm}`)).toEqual({ ...COMPLETE_CONTENT, policies })
      expect(await readUnexpectedParts(`/admin/realms/${realm}`)).toEqual(NO_UNEXPECTED_PARTS)
      expect(listActions(await plan(realm, `s-${realm}`, document))).toEqual([])
    }
  })

  test('a plan warns that the declared scopes of a resource are ignored', async () => {
    const { body } = await plan(newName(), newName(), {
      ...ENABLED,
      clients: [{ clientId: CLIENT, ...declarations[2]![1] }],
    })
    expect(JSON.stringify(body)).toContain('the declared scopes of resource Users are ignored')
  })
})

test('an export applied as another realm creates the same client, and the next plan is empty', async () => {
  const path = await createRealm({ ...ENABLED, clients: [{ clientId: CLIENT, ...declarations[4]![1] }] })
  const client = (await findClientPath(path))!
  const { body } = await call('GET', client)
  await call('PUT', client, { body: { ...body, description: 'Custom' } })
  for (const query of ['', '?full=true', '?full=true&secrets=true']) {
    const name = newName()
    const { body: realmExport } = await call('GET', `/regent/v1/export/${path.split('/').at(-1)}${query}`)
    const document = JSON.parse(
      JSON.stringify(realmExport)
        .replaceAll(path.split('/').at(-1)!, name)
        .replaceAll(/"(id|_id)":"[^"]*",?/g, ''),
    )
    expect((await apply(name, name, document)).status, query).toBe(200)
    expect(listActions(await plan(name, name, document)), query).toEqual([])
    expect(await readContent(`/admin/realms/${name}`), query).toEqual({ ...COMPLETE_CONTENT, policies: 2 })
    expect((await call('GET', (await findClientPath(`/admin/realms/${name}`))!)).body.description).toBe('Custom')
  }
})

test.each([{}, { prune: 'all' }])(
  'removing the client from a source with %j deletes only its policies',
  async (settings) => {
    const name = newName()
    const document = { ...ENABLED, clients: [{ clientId: CLIENT, ...declarations[4]![1] }] }
    expect((await apply(name, name, document, settings)).status).toBe(200)
    expect((await apply(name, name, { ...ENABLED, clients: [] }, settings)).status).toBe(200)
    expect(await readContent(`/admin/realms/${name}`)).toEqual(COMPLETE_CONTENT)
    expect(listActions(await plan(name, name, { ...ENABLED, clients: [] }))).toEqual([])
  },
)

test('a source that does not enable admin permissions can create and delete policies of the client', async () => {
  const name = newName()
  const policies = { clients: [{ clientId: CLIENT, ...declarations[4]![1] }] }
  await apply(name, `${name}-realm`, ENABLED)
  expect((await apply(name, `${name}-policies`, policies)).status).toBe(200)
  expect(await readContent(`/admin/realms/${name}`)).toEqual({ ...COMPLETE_CONTENT, policies: 2 })
  expect((await apply(name, `${name}-policies`, {})).status).toBe(200)
  expect(await readContent(`/admin/realms/${name}`)).toEqual(COMPLETE_CONTENT)
})

test('PUT updates the client without removing its resources; renaming it or changing its type returns 400', async () => {
  const path = await createRealm(ENABLED)
  const client = (await findClientPath(path))!
  const { body } = await call('GET', client)
  expect((await call('PUT', client, { body })).status).toBe(204)
  expect(
    (await call('PUT', client, { body: { ...body, description: 'Custom', authorizationSettings: { resources: [] } } }))
      .status,
  ).toBe(204)
  expect((await call('GET', client)).body.description).toBe('Custom')
  for (const change of [
    { publicClient: true },
    { bearerOnly: true },
    { authorizationServicesEnabled: false },
    { authorizationServicesEnabled: undefined },
    { clientId: 'other' },
  ]) {
    const response = await call('PUT', client, { body: { ...body, ...change } })
    expect([response.status, response.body.error_description]).toEqual([400, 'Not supported for this client.'])
  }
  expect(await readContent(path)).toEqual(COMPLETE_CONTENT)
})

test('settings, resources and scopes of the client cannot be exported or changed; policies can', async () => {
  const path = await createRealm(ENABLED)
  const server = `${await findClientPath(path)}/authz/resource-server`
  const [resource] = (await call('GET', `${server}/resource`)).body
  const [scope] = (await call('GET', `${server}/scope`)).body
  for (const [method, address, body] of [
    ['GET', '/settings'],
    ['PUT', '', { policyEnforcementMode: 'PERMISSIVE' }],
    ['POST', '/import', { resources: [{ name: 'r' }] }],
    ['POST', '/resource', { name: 'r' }],
    ['PUT', `/resource/${resource._id}`, { ...resource, scopes: [] }],
    ['DELETE', `/resource/${resource._id}`],
    ['POST', '/scope', { name: 's' }],
    ['PUT', `/scope/${scope.id}`, { ...scope, name: 's' }],
    ['DELETE', `/scope/${scope.id}`],
  ] as [string, string, object?][]) {
    const response = await call(method, `${server}${address}`, { ...(body && { body }) })
    expect([response.status, response.body.error], `${method} ${address}`).toEqual([400, 'unknown_error'])
  }
  expect((await call('POST', `${server}/policy/role`, { body: { name: 'clerks', roles: [] } })).status).toBe(201)
  expect(await readContent(path)).toEqual({ ...COMPLETE_CONTENT, policies: 1 })
})

test('enabling admin permissions returns 409 if another client has the name, and disabling them keeps that client', async () => {
  const path = await createRealm()
  const client = await create(`${path}/clients`, { clientId: CLIENT })
  expect((await call('PUT', path, { body: ENABLED })).status).toBe(409)
  expect((await call('PUT', path, { body: { adminPermissionsEnabled: false } })).status).toBe(204)
  expect((await call('GET', client)).status).toBe(200)
})

test('the client gets no token by client credentials, since it has no service account', async () => {
  const path = await createRealm(ENABLED)
  const client = (await findClientPath(path))!
  await call('PUT', client, { body: (await call('GET', client)).body })
  const { value: secret } = (await call('GET', `${client}/client-secret`)).body
  const form = new URLSearchParams({ grant_type: 'client_credentials', client_id: CLIENT, client_secret: secret })
  const response = await call('POST', `${path.replace('/admin', '')}/protocol/openid-connect/token`, {
    token: null,
    body: form.toString(),
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  })
  expect(response.status).toBe(401)
})
