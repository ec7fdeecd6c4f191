// Tokens of a client contain admin roles only as far as the last editor of the client could grant them.
import { expect, test } from 'vitest'
import { createAdminRealm } from '../support/admin-realm.ts'
import { APPLICATION, loginAddress, testBrowser } from '../support/browser.ts'
import { testServer } from '../support/server.ts'

const { app, call } = await testServer()

/** A realm with `admin`, who is realm-admin, and `mira`, who manages clients and views users. */
async function realmWithMira() {
  const realm = await createAdminRealm({ mira: 'manage-clients view-users' })
  const { name, path } = realm
  const newClient = async (creator: string, client: object = {}) => {
    const body = { clientId: 'app', publicClient: true, directAccessGrantsEnabled: true, redirectUris: [APPLICATION] }
    expect((await realm.as(creator, 'POST', 'clients', { ...body, ...client })).status).toBe(201)
    return (await call('GET', `${path}/clients?clientId=app`)).body[0].id as string
  }
  const redeem = (form: Record<string, string>) =>
    call('POST', `/realms/${name}/protocol/openid-connect/token`, {
      token: null,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({ client_id: 'app', ...form }).toString(),
    })
  /** Returns the statuses of requests with a token of the client: users, clients, keys, and an export with secrets. */
  const opens = async (token: string) => {
    const addresses = ['users', 'clients', 'components'].map((below) => `${path}/${below}`)
    const answers = [...addresses, `/regent/v1/export/${name}?secrets=true`].map((url) => call('GET', url, { token }))
    return (await Promise.all(answers)).map(({ status }) => status)
  }
  const logIn = async (username: string) =>
    (await redeem({ grant_type: 'password', username, password: 'pw' })).body.access_token as string
  return { ...realm, newClient, redeem, opens, opensFor: async (username: string) => opens(await logIn(username)) }
}

const EVERYTHING = [200, 200, 200, 200]
const OF_MIRA = [200, 200, 403, 403]

test('a client of a weaker administrator gets a code by single sign-on, and a token with their admin permissions', async () => {
  const { name, as, newClient, redeem, opens, opensFor } = await realmWithMira()
  await newClient('mira')
  const browser = testBrowser(app)
  await as('admin', 'POST', 'clients', { clientId: 'wiki', publicClient: true, redirectUris: [APPLICATION] })
  const { address } = loginAddress(name, { client_id: 'wiki' })
  await browser.send(await browser.open(address), { username: 'admin', password: 'pw' })
  const silent = loginAddress(name, { client_id: 'app', prompt: 'none' })
  const code = (await browser.open(silent.address)).response!.get('code')!
  const form = { code, redirect_uri: APPLICATION, code_verifier: silent.verifier }
  const { body } = await redeem({ grant_type: 'authorization_code', ...form })
  expect(await opens(body.access_token)).toEqual(OF_MIRA)
  const refreshed = await redeem({ grant_type: 'refresh_token', refresh_token: body.refresh_token })
  expect(await opens(refreshed.body.access_token)).toEqual(OF_MIRA)
  expect(await opensFor('mira')).toEqual(OF_MIRA)
})

const edits: [string, (realm: Awaited<ReturnType<typeof realmWithMira>>, id: string) => Promise<{ status: number }>][] =
  [
    [
      'the redirect URIs',
      ({ as }, id) => as('mira', 'PUT', `clients/${id}`, { redirectUris: ['http://evil.example/*'] }),
    ],
    ['the description', ({ as }, id) => as('mira', 'PUT', `clients/${id}`, { description: 'x' })],
    ['a mapper', ({ as }, id) => as('mira', 'POST', `clients/${id}/protocol-mappers/models`, SUBJECT)],
    [
      'the client scopes',
      async ({ as, path }, id) => {
        const [scope] = (await call('GET', `${path}/clients/${id}/optional-client-scopes`)).body
        return as('mira', 'DELETE', `clients/${id}/optional-client-scopes/${scope.id}`)
      },
    ],
    [
      'the roles in its scope',
      async ({ as, path }, id) =>
        as('mira', 'POST', `clients/${id}/scope-mappings/realm`, [
          (await call('GET', `${path}/roles/offline_access`)).body,
        ]),
    ],
  ]
const SUBJECT = { name: 'sub', protocol: 'openid-connect', protocolMapper: 'oidc-sub-mapper', config: {} }

test.each(edits)(
  'after a weaker administrator edits %s, tokens of a client have the admin permissions of that administrator',
  async (_, edit) => {
    const realm = await realmWithMira()
    const id = await realm.newClient('admin')
    expect(await realm.opensFor('admin')).toEqual(EVERYTHING)
    expect((await edit(realm, id)).status).toBeLessThan(300)
    expect(await realm.opensFor('admin')).toEqual(OF_MIRA)
    expect((await realm.as('admin', 'PUT', `clients/${id}`, { description: 'y' })).status).toBe(204)
    expect(await realm.opensFor('admin')).toEqual(EVERYTHING)
  },
)

test('an edit without changes does not change the last editor', async () => {
  const { as, newClient, opensFor } = await realmWithMira()
  const id = await newClient('admin')
  expect((await as('mira', 'PUT', `clients/${id}`, { redirectUris: [APPLICATION] })).status).toBe(204)
  expect(await opensFor('admin')).toEqual(EVERYTHING)
})

test('the service account of a client that a weaker administrator edits has the admin permissions of that administrator', async () => {
  const { as, path, redeem, opens, newClient } = await realmWithMira()
  const id = await newClient('admin', { publicClient: false, secret: 's', serviceAccountsEnabled: true })
  const account = (await call('GET', `${path}/clients/${id}/service-account-user`)).body.id
  const [management] = (await call('GET', `${path}/clients?clientId=realm-management`)).body
  const role = (await call('GET', `${path}/clients/${management.id}/roles/realm-admin`)).body
  await call('POST', `${path}/users/${account}/role-mappings/clients/${management.id}`, { body: [role] })
  const act = async () =>
    opens((await redeem({ grant_type: 'client_credentials', client_secret: 's' })).body.access_token)
  expect(await act()).toEqual(EVERYTHING)
  expect((await as('mira', 'PUT', `clients/${id}`, { description: 'x' })).status).toBe(204)
  expect(await act()).toEqual(OF_MIRA)
})

test('no representation contains the permissions of the last editor', async () => {
  const { name, path, newClient } = await realmWithMira()
  const id = await newClient('mira')
  const representation = (await call('GET', `${path}/clients/${id}`)).body
  const exported = (await call('GET', `/regent/v1/export/${name}`)).body
  expect(JSON.stringify([representation, exported])).not.toMatch(/editor/i)
})

test.each(['admin-cli', 'security-admin-console', 'account', 'account-console'])(
  'a weaker administrator who changes redirect URIs or token contents of %s gets 403',
  async (clientId) => {
    const { as, path } = await realmWithMira()
    const [client] = (await call('GET', `${path}/clients?clientId=${clientId}`)).body
    const [scope] = (await call('GET', `${path}/clients/${client.id}/default-client-scopes`)).body
    const at = `clients/${client.id}`
    const attempts = [
      as('mira', 'PUT', at, { redirectUris: ['http://evil.example/*'] }),
      as('mira', 'PUT', at, { ...client, implicitFlowEnabled: !client.implicitFlowEnabled }),
      as('mira', 'PUT', at, { attributes: { 'post.logout.redirect.uris': 'http://evil.example/*' } }),
      as('mira', 'POST', `${at}/protocol-mappers/models`, SUBJECT),
      as('mira', 'PUT', at, { protocolMappers: [SUBJECT] }),
      as('mira', 'DELETE', `${at}/default-client-scopes/${scope.id}`),
      as('mira', 'POST', `${at}/client-secret`),
    ]
    for (const { status, body } of await Promise.all(attempts)) {
      expect(status, JSON.stringify(body)).toBe(403)
      expect(body.error_description).toContain(`Administrators log in with the client ${clientId}`)
    }
    expect((await as('mira', 'PUT', at, { description: 'x' })).status).toBe(204)
    expect((await call('GET', `${path}/${at}`)).body.redirectUris).toEqual(client.redirectUris)
  },
)

test('tokens of a built-in client keep all roles after a weaker administrator changes its description', async () => {
  const { as, path, token, opens } = await realmWithMira()
  for (const clientId of ['admin-cli', 'security-admin-console']) {
    const [client] = (await call('GET', `${path}/clients?clientId=${clientId}`)).body
    expect((await as('mira', 'PUT', `clients/${client.id}`, { description: 'x' })).status).toBe(204)
  }
  expect(await opens(await token('admin'))).toEqual(EVERYTHING)
})

test('in master, tokens of a client have admin roles of a realm as far as its last editor could grant them', async () => {
  const { name } = await createAdminRealm({})
  const id = async (below: string) => (await call('GET', `/admin/realms/master/${below}`)).body[0].id
  const roleOf = async (client: string, role: string) => {
    const owner = await id(`clients?clientId=${client}`)
    return { owner, body: [(await call('GET', `/admin/realms/master/clients/${owner}/roles/${role}`)).body] }
  }
  const username = `mira-${name}`
  const user = { username, enabled: true, email: `${username}@example.org`, firstName: 'A', lastName: 'B' }
  const credentials = [{ type: 'password', value: 'pw' }]
  expect((await call('POST', '/admin/realms/master/users', { body: { ...user, credentials } })).status).toBe(201)
  const userId = await id(`users?username=${username}`)
  for (const [client, role] of [
    ['master-realm', 'manage-clients'],
    [`${name}-realm`, 'view-users'],
  ] as const) {
    const { owner, body } = await roleOf(client, role)
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
  const mira = await logIn('admin-cli', { username, password: 'pw' })
  expect((await call('POST', '/admin/realms/master/clients', { body: client, token: mira })).status).toBe(201)
  const token = await logIn(clientId, { username: 'admin', password: 'admin' })
  const statuses = ['master/clients', 'master/users', `${name}/users`, `${name}/clients`, `${name}/components`].map(
    async (below) => (await call('GET', `/admin/realms/${below}`, { token })).status,
  )
  expect(await Promise.all(statuses)).toEqual([200, 403, 200, 200, 403])
})
