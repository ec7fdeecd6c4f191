// The client that decides what administrators may do with single objects comes with a switch of the realm, and is whole as long as that is on.
import { describe, expect, test } from 'vitest'
import { permissionTypes } from '../../src/kinds/admin-permissions.ts'
import { testServer } from '../support/server.ts'
import { newName } from '../support/service.ts'

const { call, realm, make } = await testServer()
const CLIENT = 'admin-permissions'
const on = { adminPermissionsEnabled: true }

const clientOf = async (path: string) => {
  const [client] = (await call('GET', `${path}/clients?clientId=${CLIENT}`)).body
  return client && `${path}/clients/${client.id}`
}

/** The types with the scopes of their resources, and the number of scopes and policies. */
async function contentOf(path: string) {
  const server = `${await clientOf(path)}/authz/resource-server`
  const [resources, scopes, policies] = await Promise.all(
    ['resource', 'scope', 'policy'].map(async (list) => (await call('GET', `${server}/${list}?max=1000`)).body),
  )
  const types = resources.map(({ name, scopes: own }: { name: string; scopes: { name: string }[] }) => [
    name,
    own.map((scope) => scope.name).sort(),
  ])
  return { types: Object.fromEntries(types), scopes: scopes.length, policies: policies.length }
}

const whole = {
  types: Object.fromEntries(Object.entries(permissionTypes).map(([name, { scopes }]) => [name, [...scopes].sort()])),
  scopes: 16,
  policies: 0,
}

/** What Keycloak does not give the client: a secret, an account, a role. */
async function extrasOf(path: string) {
  const client = await clientOf(path)
  return {
    secret: (await call('GET', `${client}/client-secret`)).body.value,
    account: (await call('GET', `${client}/service-account-user`)).status,
    roles: (await call('GET', `${client}/roles`)).body,
  }
}
const noExtras = { secret: undefined, account: 400, roles: [] }

const send = (path: 'plan' | 'apply', name: string, source: string, document: object, settings = {}) => {
  const files = [{ file: 'x.json', text: JSON.stringify({ realm: name, ...document }), values: [{}] }]
  const body = { name: source, revision: String(Math.random()), settings, files }
  return call('POST', `/regent/v1/${path}`, { body })
}
const plan = (name: string, source: string, document: object) => send('plan', name, source, document)
const apply = (name: string, source: string, document: object, settings?: object) =>
  send('apply', name, source, document, settings)
const actionsIn = ({ body }: { body: { realms: { plan: { actions: unknown[] } }[] } }) =>
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
/** The client as documents and exports declare it. */
const forms: [form: string, client: object, policies: number][] = [
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

test('the switch creates the client whole, without a secret, an account or a role', async () => {
  const path = await realm(on)
  expect(await contentOf(path)).toEqual(whole)
  expect(await extrasOf(path)).toEqual(noExtras)
  const { adminPermissionsEnabled, adminPermissionsClient } = (await call('GET', path)).body
  expect([adminPermissionsEnabled, adminPermissionsClient.clientId]).toEqual([true, CLIENT])
  const client = (await clientOf(path))!
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

describe('an import keeps the client whole that declares', () => {
  test.each(forms)('%s, in a new realm', async (_, client, policies) => {
    const path = await realm({ ...on, clients: [{ clientId: CLIENT, ...client }] })
    expect(await contentOf(path)).toEqual({ ...whole, policies })
    expect(await extrasOf(path)).toEqual(noExtras)
  })

  test.each(['FAIL', 'SKIP', 'OVERWRITE'])('it, in a partial import that should %s', async (ifResourceExists) => {
    const path = await realm(on)
    const before = await clientOf(path)
    const clients = forms.map(([, client]) => ({ clientId: CLIENT, ...client }))
    const { status, body } = await call('POST', `${path}/partialImport`, { body: { ifResourceExists, clients } })
    expect([status, body.results]).toEqual([200, []])
    expect(await clientOf(path)).toBe(before)
    expect(await contentOf(path)).toEqual(whole)
  })

  test.each(forms)('%s, in a document', async (_, client, policies) => {
    const document = { ...on, clients: [{ clientId: CLIENT, ...client }] }
    const path = await realm()
    const name = path.split('/').at(-1)!
    for (const into of [newName(), name]) {
      expect((await apply(into, `s-${into}`, document)).status).toBe(200)
      expect(await contentOf(`/admin/realms/${into}`)).toEqual({ ...whole, policies })
      expect(await extrasOf(`/admin/realms/${into}`)).toEqual(noExtras)
      expect(actionsIn(await plan(into, `s-${into}`, document))).toEqual([])
    }
  })

  test('scopes of a resource that are not those of its type: the plan notes that they are ignored', async () => {
    const { body } = await plan(newName(), newName(), { ...on, clients: [{ clientId: CLIENT, ...forms[2]![1] }] })
    expect(JSON.stringify(body)).toContain('the declared scopes of resource Users are ignored')
  })
})

test('an export applied as another realm gives the same client, and the next plan is empty', async () => {
  const path = await realm({ ...on, clients: [{ clientId: CLIENT, ...forms[4]![1] }] })
  const client = (await clientOf(path))!
  const { body } = await call('GET', client)
  await call('PUT', client, { body: { ...body, description: 'Ours' } })
  for (const query of ['', '?full=true', '?full=true&secrets=true']) {
    const name = newName()
    const { body: exported } = await call('GET', `/regent/v1/export/${path.split('/').at(-1)}${query}`)
    const document = JSON.parse(
      JSON.stringify(exported)
        .replaceAll(path.split('/').at(-1)!, name)
        .replaceAll(/"(id|_id)":"[^"]*",?/g, ''),
    )
    expect((await apply(name, name, document)).status, query).toBe(200)
    expect(actionsIn(await plan(name, name, document)), query).toEqual([])
    expect(await contentOf(`/admin/realms/${name}`), query).toEqual({ ...whole, policies: 2 })
    expect((await call('GET', (await clientOf(`/admin/realms/${name}`))!)).body.description).toBe('Ours')
  }
})

test.each([{}, { prune: 'all' }])(
  'a source with %j that no longer declares the client deletes its policies alone',
  async (how) => {
    const name = newName()
    const declared = { ...on, clients: [{ clientId: CLIENT, ...forms[4]![1] }] }
    expect((await apply(name, name, declared, how)).status).toBe(200)
    expect((await apply(name, name, { ...on, clients: [] }, how)).status).toBe(200)
    expect(await contentOf(`/admin/realms/${name}`)).toEqual(whole)
    expect(actionsIn(await plan(name, name, { ...on, clients: [] }))).toEqual([])
  },
)

test('policies declared by another source than the switch come and go without the client', async () => {
  const name = newName()
  const policies = { clients: [{ clientId: CLIENT, ...forms[4]![1] }] }
  await apply(name, `${name}-realm`, on)
  expect((await apply(name, `${name}-policies`, policies)).status).toBe(200)
  expect(await contentOf(`/admin/realms/${name}`)).toEqual({ ...whole, policies: 2 })
  expect((await apply(name, `${name}-policies`, {})).status).toBe(200)
  expect(await contentOf(`/admin/realms/${name}`)).toEqual(whole)
})

test('PUT changes the client, which stays whole; it refuses to rename it or to make it another kind of client', async () => {
  const path = await realm(on)
  const client = (await clientOf(path))!
  const { body } = await call('GET', client)
  expect((await call('PUT', client, { body })).status).toBe(204)
  expect(
    (await call('PUT', client, { body: { ...body, description: 'Ours', authorizationSettings: { resources: [] } } }))
      .status,
  ).toBe(204)
  expect((await call('GET', client)).body.description).toBe('Ours')
  for (const change of [
    { publicClient: true },
    { bearerOnly: true },
    { authorizationServicesEnabled: false },
    { authorizationServicesEnabled: undefined },
    { clientId: 'other' },
  ]) {
    const answer = await call('PUT', client, { body: { ...body, ...change } })
    expect([answer.status, answer.body.error_description]).toEqual([400, 'Not supported for this client.'])
  }
  expect(await contentOf(path)).toEqual(whole)
})

test('settings, resources and scopes of the client can neither be read as an export nor changed; policies can', async () => {
  const path = await realm(on)
  const server = `${await clientOf(path)}/authz/resource-server`
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
    const answer = await call(method, `${server}${address}`, { ...(body && { body }) })
    expect([answer.status, answer.body.error], `${method} ${address}`).toEqual([400, 'unknown_error'])
  }
  expect((await call('POST', `${server}/policy/role`, { body: { name: 'clerks', roles: [] } })).status).toBe(201)
  expect(await contentOf(path)).toEqual({ ...whole, policies: 1 })
})

test('where a client of that name decides nothing, the switch is refused, and switching off keeps the client', async () => {
  const path = await realm()
  const client = await make(`${path}/clients`, { clientId: CLIENT })
  expect((await call('PUT', path, { body: on })).status).toBe(409)
  expect((await call('PUT', path, { body: { adminPermissionsEnabled: false } })).status).toBe(204)
  expect((await call('GET', client)).status).toBe(200)
})

test('the client gets no tokens for itself, since it has no account', async () => {
  const path = await realm(on)
  const client = (await clientOf(path))!
  await call('PUT', client, { body: (await call('GET', client)).body })
  const { value: secret } = (await call('GET', `${client}/client-secret`)).body
  const form = new URLSearchParams({ grant_type: 'client_credentials', client_id: CLIENT, client_secret: secret })
  const answer = await call('POST', `${path.replace('/admin', '')}/protocol/openid-connect/token`, {
    token: null,
    body: form.toString(),
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  })
  expect(answer.status).toBe(401)
})
