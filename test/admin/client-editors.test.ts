// Tokens of a client contain only the admin roles that its last editor could grant.
import { expect, test } from 'vitest'
import { createAdminRealm } from '../support/admin-realm.ts'
import { APPLICATION, loginAddress, testBrowser } from '../support/browser.ts'
import { testServer } from '../support/server.ts'
import { testService } from '../support/service.ts'
import { applySource, createSource } from '../support/sources.ts'

const { app, call } = await testServer()

/** Creates a realm with the administrators `admin`, who has realm-admin, and `mira`, who can manage clients and view users. */
async function createRealmWithMira() {
  const realm = await createAdminRealm({ mira: 'manage-clients view-users' })
  const { name, path } = realm
  const createClient = async (creator: string, client: object = {}) => {
    const body = { clientId: 'app', publicClient: true, directAccessGrantsEnabled: true, redirectUris: [APPLICATION] }
    expect((await realm.as(creator, 'POST', 'clients', { ...body, ...client })).status).toBe(201)
    return (await call('GET', `${path}/clients?clientId=app`)).body[0].id as string
  }
  const requestToken = (form: Record<string, string>) =>
    call('POST', `/realms/${name}/protocol/openid-connect/token`, {
      token: null,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({ client_id: 'app', ...form }).toString(),
    })
  /** Returns the statuses of requests with a token: for users, clients, components, and an export with secrets. */
  const listStatuses = async (token: string) => {
    const addresses = ['users', 'clients', 'components'].map((collection) => `${path}/${collection}`)
    const responses = [...addresses, `/regent/v1/export/${name}?secrets=true`].map((url) => call('GET', url, { token }))
    return (await Promise.all(responses)).map(({ status }) => status)
  }
  const logIn = async (username: string) =>
    (await requestToken({ grant_type: 'password', username, password: 'pw' })).body.access_token as string
  return {
    ...realm,
    createClient,
    requestToken,
    listStatuses,
    listStatusesFor: async (username: string) => listStatuses(await logIn(username)),
  }
}

const OF_REALM_ADMIN = [200, 200, 200, 200]
const OF_MIRA = [200, 200, 403, 403]

test('a token of realm-admin for a client that a weaker administrator created has only the admin permissions of the creator', async () => {
  const { name, as, createClient, requestToken, listStatuses, listStatusesFor } = await createRealmWithMira()
  await createClient('mira')
  const browser = testBrowser(app)
  await as('admin', 'POST', 'clients', { clientId: 'wiki', publicClient: true, redirectUris: [APPLICATION] })
  const { address } = loginAddress(name, { client_id: 'wiki' })
  await browser.send(await browser.open(address), { username: 'admin', password: 'pw' })
  const singleSignOn = loginAddress(name, { client_id: 'app', prompt: 'none' })
  const code = (await browser.open(singleSignOn.address)).response!.get('code')!
  const form = { code, redirect_uri: APPLICATION, code_verifier: singleSignOn.verifier }
  const { body } = await requestToken({ grant_type: 'authorization_code', ...form })
  expect(await listStatuses(body.access_token)).toEqual(OF_MIRA)
  const refresh = await requestToken({ grant_type: 'refresh_token', refresh_token: body.refresh_token })
  expect(await listStatuses(refresh.body.access_token)).toEqual(OF_MIRA)
  expect(await listStatusesFor('mira')).toEqual(OF_MIRA)
})

const edits: [
  title: string,
  (realm: Awaited<ReturnType<typeof createRealmWithMira>>, id: string) => Promise<{ status: number }>,
][] = [
  [
    'the redirect URIs',
    ({ as }, id) => as('mira', 'PUT', `clients/${id}`, { redirectUris: ['http://evil.example/*'] }),
  ],
  ['a mapper', ({ as }, id) => as('mira', 'POST', `clients/${id}/protocol-mappers/models`, MAPPER)],
  [
    'the client scopes',
    async ({ as, path }, id) => {
      const [scope] = (await call('GET', `${path}/clients/${id}/optional-client-scopes`)).body
      return as('mira', 'DELETE', `clients/${id}/optional-client-scopes/${scope.id}`)
    },
  ],
  [
    'the scope mappings',
    async ({ as, path }, id) =>
      as('mira', 'POST', `clients/${id}/scope-mappings/realm`, [
        (await call('GET', `${path}/roles/offline_access`)).body,
      ]),
  ],
]
const MAPPER = { name: 'sub', protocol: 'openid-connect', protocolMapper: 'oidc-sub-mapper', config: {} }

test.each(edits)(
  'after a weaker administrator edits %s, tokens of a client have the admin permissions of that administrator',
  async (_, edit) => {
    const realm = await createRealmWithMira()
    const id = await realm.createClient('admin')
    expect(await realm.listStatusesFor('admin')).toEqual(OF_REALM_ADMIN)
    expect((await edit(realm, id)).status).toBeLessThan(300)
    expect(await realm.listStatusesFor('admin')).toEqual(OF_MIRA)
    expect((await realm.as('admin', 'PUT', `clients/${id}`, { redirectUris: ['/own/*'] })).status).toBe(204)
    expect(await realm.listStatusesFor('admin')).toEqual(OF_REALM_ADMIN)
  },
)

const harmlessChanges: [title: string, changes: object[]][] = [
  ['name', [{ name: 'Other' }]],
  ['description', [{ description: 'Other' }]],
  ['enabled', [{ enabled: false }, { enabled: true }]],
  ['notBefore', [{ notBefore: 1 }]],
  ['logoUri', [{ attributes: { logoUri: 'https://shop.example/logo.png' } }]],
]

test.each(harmlessChanges)(
  'a change of %s neither limits the tokens of a client nor lifts the limit',
  async (_, changes) => {
    const { as, createClient, listStatusesFor } = await createRealmWithMira()
    const id = await createClient('admin')
    const update = async (editor: string, bodies: object[]) => {
      for (const body of bodies) expect((await as(editor, 'PUT', `clients/${id}`, body)).status).toBe(204)
    }
    await update('mira', changes)
    expect(await listStatusesFor('admin')).toEqual(OF_REALM_ADMIN)
    const unset = { name: '', description: '', notBefore: 0, attributes: { logoUri: '' } }
    await update('mira', [{ ...unset, redirectUris: ['http://evil.example/*'] }])
    await update('admin', changes)
    expect(await listStatusesFor('admin')).toEqual(OF_MIRA)
  },
)

test('a source that changes the description of a client does not lift the limit, and one that changes its redirect URIs does', async () => {
  const { name, as, createClient, listStatusesFor } = await createRealmWithMira()
  const id = await createClient('admin')
  await as('mira', 'PUT', `clients/${id}`, { redirectUris: ['http://evil.example/*'] })
  const { service } = await testService()
  const apply = (fields: object) =>
    applySource(service, createSource([{ realm: name, clients: [{ clientId: 'app', ...fields }] }], name))
  await apply({ description: 'of the source' })
  expect(await listStatusesFor('admin')).toEqual(OF_MIRA)
  await apply({ description: 'of the source', redirectUris: [APPLICATION] })
  expect(await listStatusesFor('admin')).toEqual(OF_REALM_ADMIN)
})

test('an edit without changes does not change the last editor', async () => {
  const { as, createClient, listStatusesFor } = await createRealmWithMira()
  const id = await createClient('admin')
  expect((await as('mira', 'PUT', `clients/${id}`, { redirectUris: [APPLICATION] })).status).toBe(204)
  expect(await listStatusesFor('admin')).toEqual(OF_REALM_ADMIN)
})

test('the service account of a client that a weaker administrator edits has the admin permissions of that administrator', async () => {
  const { as, path, requestToken, listStatuses, createClient } = await createRealmWithMira()
  const id = await createClient('admin', { publicClient: false, secret: 's', serviceAccountsEnabled: true })
  const account = (await call('GET', `${path}/clients/${id}/service-account-user`)).body.id
  const [management] = (await call('GET', `${path}/clients?clientId=realm-management`)).body
  const role = (await call('GET', `${path}/clients/${management.id}/roles/realm-admin`)).body
  await call('POST', `${path}/users/${account}/role-mappings/clients/${management.id}`, { body: [role] })
  const useServiceAccount = async () =>
    listStatuses((await requestToken({ grant_type: 'client_credentials', client_secret: 's' })).body.access_token)
  expect(await useServiceAccount()).toEqual(OF_REALM_ADMIN)
  expect((await as('mira', 'PUT', `clients/${id}`, { redirectUris: [APPLICATION, '/x/*'] })).status).toBe(204)
  expect(await useServiceAccount()).toEqual(OF_MIRA)
})

test('no representation contains the permissions of the last editor', async () => {
  const { name, path, createClient } = await createRealmWithMira()
  const id = await createClient('mira')
  const representation = (await call('GET', `${path}/clients/${id}`)).body
  const realmExport = (await call('GET', `/regent/v1/export/${name}`)).body
  expect(JSON.stringify([representation, realmExport])).not.toMatch(/editor/i)
})

test.each(['admin-cli', 'security-admin-console', 'account', 'account-console'])(
  'a weaker administrator who changes redirect URIs or token contents of %s gets 403',
  async (clientId) => {
    const { as, path } = await createRealmWithMira()
    const [client] = (await call('GET', `${path}/clients?clientId=${clientId}`)).body
    const [scope] = (await call('GET', `${path}/clients/${client.id}/default-client-scopes`)).body
    const clientPath = `clients/${client.id}`
    const attempts = [
      as('mira', 'PUT', clientPath, { redirectUris: ['http://evil.example/*'] }),
      as('mira', 'PUT', clientPath, { ...client, implicitFlowEnabled: !client.implicitFlowEnabled }),
      as('mira', 'PUT', clientPath, { attributes: { 'post.logout.redirect.uris': 'http://evil.example/*' } }),
      as('mira', 'POST', `${clientPath}/protocol-mappers/models`, MAPPER),
      as('mira', 'PUT', clientPath, { protocolMappers: [MAPPER] }),
      as('mira', 'DELETE', `${clientPath}/default-client-scopes/${scope.id}`),
      as('mira', 'POST', `${clientPath}/client-secret`),
    ]
    for (const { status, body } of await Promise.all(attempts)) {
      expect(status, JSON.stringify(body)).toBe(403)
      expect(body.error_description).toContain(`Administrators log in with the client ${clientId}`)
    }
    expect((await as('mira', 'PUT', clientPath, { description: 'x' })).status).toBe(204)
    expect((await call('GET', `${path}/${clientPath}`)).body.redirectUris).toEqual(client.redirectUris)
  },
)

test('tokens of a built-in client have all roles after a weaker administrator changes its description', async () => {
  const { as, path, token, listStatuses } = await createRealmWithMira()
  for (const clientId of ['admin-cli', 'security-admin-console']) {
    const [client] = (await call('GET', `${path}/clients?clientId=${clientId}`)).body
    expect((await as('mira', 'PUT', `clients/${client.id}`, { description: 'x' })).status).toBe(204)
  }
  expect(await listStatuses(await token('admin'))).toEqual(OF_REALM_ADMIN)
})

test('tokens of a client of master have only the admin roles of each realm that its last editor has', async () => {
  const { name } = await createAdminRealm({})
  const findId = async (query: string) => (await call('GET', `/admin/realms/master/${query}`)).body[0].id
  const findRole = async (client: string, role: string) => {
    const owner = await findId(`clients?clientId=${client}`)
    return { owner, body: [(await call('GET', `/admin/realms/master/clients/${owner}/roles/${role}`)).body] }
  }
  const username = `mira-${name}`
  const user = { username, enabled: true, email: `${username}@example.org`, firstName: 'A', lastName: 'B' }
  const credentials = [{ type: 'password', value: 'pw' }]
  expect((await call('POST', '/admin/realms/master/users', { body: { ...user, credentials } })).status).toBe(201)
  const userId = await findId(`users?username=${username}`)
  for (const [client, role] of [
    ['master-realm', 'manage-clients'],
    [`${name}-realm`, 'view-users'],
  ] as const) {
    const { owner, body } = await findRole(client, role)
    await call('POST', `/admin/realms/master/users/${userId}/role-mappings/clients/${owner}`, { body })
  }
  const logIn = async (clientId: string, login: { username: string; password: string }) => {
    const response = await call('POST', '/realms/master/protocol/openid-connect/token', {
      token: null,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({ grant_type: 'password', client_id: clientId, ...login }).toString(),
    })
    return response.body.access_token as string
  }
  const clientId = `app-${name}`
  const client = { clientId, publicClient: true, directAccessGrantsEnabled: true }
  const miraToken = await logIn('admin-cli', { username, password: 'pw' })
  expect((await call('POST', '/admin/realms/master/clients', { body: client, token: miraToken })).status).toBe(201)
  const token = await logIn(clientId, { username: 'admin', password: 'admin' })
  const statuses = ['master/clients', 'master/users', `${name}/users`, `${name}/clients`, `${name}/components`].map(
    async (address) => (await call('GET', `/admin/realms/${address}`, { token })).status,
  )
  expect(await Promise.all(statuses)).toEqual([200, 403, 200, 200, 403])
})
