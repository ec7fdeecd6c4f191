// A realm whose client `archive` protects resources, with functions to request permissions as its users and clients.
import type { Representation } from '../../src/kinds/json.ts'
import { type TestResponse, testServer } from './server.ts'
import { newName, testService } from './service.ts'

const GRANT = 'urn:ietf:params:oauth:grant-type:uma-ticket'

/** A form; a list is a repeated field. */
type Form = Readonly<Record<string, string | readonly string[]>>

const toObjects = (names: readonly string[]) => names.map((name) => ({ name }))

const policy = (name: string, type: string, config: object) => ({ name, type, config })
const onScope = (name: string, resource: string, { scope, by }: { scope: string; by: string }) =>
  policy(name, 'scope', {
    resources: JSON.stringify([resource]),
    scopes: JSON.stringify([scope]),
    applyPolicies: JSON.stringify([by]),
  })
const onResource = (name: string, resource: string, by: string) =>
  policy(name, 'resource', { resources: JSON.stringify([resource]), applyPolicies: JSON.stringify([by]) })

/** Readers read documents and letters, Noel writes documents, the desk enters the cellar, and a claim opens the vault. Mia owns a diary. */
const settings = {
  policyEnforcementMode: 'ENFORCING',
  decisionStrategy: 'UNANIMOUS',
  allowRemoteResourceManagement: true,
  scopes: toObjects(['read', 'write', 'print']),
  resources: [
    { name: 'Document', type: 'urn:paper', uris: ['/documents/*'], scopes: toObjects(['read', 'write']) },
    { name: 'Letter', type: 'urn:paper', uris: ['/letter'], scopes: toObjects(['read']) },
    { name: 'Cellar', scopes: toObjects(['read']) },
    { name: 'Vault' },
    { name: 'Diary', owner: { name: 'mia' }, ownerManagedAccess: true, scopes: toObjects(['read', 'write']) },
  ],
  policies: [
    policy('Readers', 'role', { roles: '[{"id":"reader"}]' }),
    policy('Noel', 'user', { users: '["noel"]' }),
    policy('Desk', 'client', { clients: '["desk"]' }),
    policy('Audit', 'regex', { targetClaim: 'reason', targetContextAttributes: 'true', pattern: '^audit$' }),
    onScope('Read documents', 'Document', { scope: 'read', by: 'Readers' }),
    onScope('Write documents', 'Document', { scope: 'write', by: 'Noel' }),
    onResource('Letters', 'Letter', 'Readers'),
    policy('Enter the cellar', 'resource', { resources: '["Cellar"]', applyPolicies: '["Desk"]' }),
    onResource('Open the vault', 'Vault', 'Audit'),
  ],
}

const users = ['mia', 'noel', 'otto']

const confidential = (clientId: string) => ({
  clientId,
  secret: `${clientId}-secret`,
  serviceAccountsEnabled: true,
  directAccessGrantsEnabled: true,
})

function toRealm(realm: string): Representation {
  return JSON.parse(
    JSON.stringify({
      realm,
      enabled: true,
      accessTokenLifespan: 3600,
      roles: { realm: toObjects(['reader']) },
      clients: [
        { clientId: 'web', publicClient: true, directAccessGrantsEnabled: true, fullScopeAllowed: true },
        confidential('desk'),
        { ...confidential('museum'), authorizationServicesEnabled: true },
        { ...confidential('archive'), authorizationServicesEnabled: true, authorizationSettings: settings },
      ],
      users: users.map((username) => ({
        username,
        enabled: true,
        firstName: username,
        lastName: 'Doe',
        email: `${username}@example.org`,
        credentials: [{ type: 'password', value: username }],
        realmRoles: username === 'mia' ? ['reader'] : [],
      })),
    }),
  )
}

/** Creates the realm, and logs its users in at the public client. */
export async function createArchive() {
  const { call, create } = await testServer()
  const { statements } = await testService()
  const name = newName()
  const path = await create('/admin/realms', toRealm(name))
  const post = (endpoint: string, form: Form, authorization?: string): Promise<TestResponse> =>
    call('POST', `/realms/${name}/protocol/openid-connect/${endpoint}`, {
      token: null,
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        ...(authorization !== undefined && { authorization }),
      },
      body: new URLSearchParams(
        Object.entries(form).flatMap(([field, value]) =>
          [value].flat().map((text): [string, string] => [field, String(text)]),
        ),
      ).toString(),
    })
  const basic = (client: string) => `Basic ${Buffer.from(`${client}:${client}-secret`).toString('base64')}`
  const logIn = async (username: string, client = 'web'): Promise<string> => {
    const secret: Form = client === 'web' ? {} : { client_secret: `${client}-secret` }
    const form = { grant_type: 'password', client_id: client, username, password: username, ...secret }
    return (await post('token', form)).body.access_token
  }
  const [client] = (await call('GET', `${path}/clients?clientId=archive`)).body
  const server = `${path}/clients/${client.id}/authz/resource-server`
  const resources = (await call('GET', `${server}/resource`)).body
  const ids: Record<string, string> = Object.fromEntries(
    resources.map((resource: { name: string; _id: string }) => [resource.name, resource._id]),
  )
  for (const user of (await call('GET', `${path}/users`)).body) ids[user.username] = user.id
  return {
    path,
    name,
    /** The address of the settings of the client. */
    server,
    /** Ids of resources and users by name. */
    ids: { ...ids, archive: String(client.id) } as Readonly<Record<string, string>>,
    mia: await logIn('mia'),
    noel: await logIn('noel'),
    otto: await logIn('otto'),
    logIn,
    /** Returns an access token of the service account of a client. */
    logInAccount: async (account = 'archive'): Promise<string> =>
      (await post('token', { grant_type: 'client_credentials' }, basic(account))).body.access_token,
    /** Requests permissions with an access token, or without one. */
    request: (token: string | null, form: Form) =>
      post(
        'token',
        { grant_type: GRANT, audience: 'archive', ...form },
        token === null ? undefined : `Bearer ${token}`,
      ),
    requestAsClient: (account: string, form: Form) =>
      post('token', { grant_type: GRANT, audience: 'archive', ...form }, basic(account)),
    refresh: (token: string) => post('token', { grant_type: 'refresh_token', client_id: 'web', refresh_token: token }),
    introspect: (form: Form, account = 'archive') => post('token/introspect', form, basic(account)),
    /** Calls the protection API. */
    protect: (method: string, address: string, { token, body }: { readonly token: string; readonly body?: unknown }) =>
      call(method, `/realms/${name}/authz/protection/${address}`, { token, body }),
    disable: (username: string) => call('PUT', `${path}/users/${ids[username]}`, { body: { enabled: false } }),
    /** Adds resources, each with a policy and a permission. */
    addResources: async (count: number) => {
      const numbers = Array.from({ length: count }, (_, at) => `Shelf ${at}`)
      const body = {
        ...settings,
        resources: toObjects(numbers),
        scopes: [],
        policies: numbers.flatMap((shelf) => [
          policy(`${shelf} by Noel`, 'user', { users: '["noel"]' }),
          onResource(`Open ${shelf}`, shelf, `${shelf} by Noel`),
        ]),
      }
      const response = await call('POST', `${server}/import`, { body })
      if (response.status !== 204) throw new Error(JSON.stringify(response.body))
    },
    countStatements: async (work: () => Promise<unknown>) => (await statements(work, { keepsCaches: true })).length,
  }
}
