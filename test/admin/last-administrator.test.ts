// A change that would leave no administrator of all realms must be confirmed.
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createServer } from '../../src/http/server.ts'
import { kinds } from '../../src/kinds/index.ts'
import type { KindName } from '../../src/kinds/kind.ts'
import { applySources, planSources } from '../../src/reconcile/run/run.ts'
import { type Service, SYSTEM } from '../../src/service/context/service.ts'
import { bootstrap, hasAdministrator, resetAdminPassword } from '../../src/service/operations/bootstrap.ts'
import { isFullRun, TIME_LIMIT, takeSample } from '../support/property-options.ts'
import type { TestResponse } from '../support/server.ts'
import { openNewService } from '../support/service.ts'
import { createSource } from '../support/sources.ts'

// The tests lock administrators out of master, so each has a store of its own. Requests of its server have no administrator as caller.

let service: Service
let statements: string[]
let call: (method: string, path: string, body?: unknown, headers?: object) => Promise<TestResponse>
let admin: string
let role: { id: string; name: string }

beforeEach(async () => {
  statements = []
  service = await openNewService({ onStatement: ({ sql }) => statements.push(sql) })
  await bootstrap(service, { user: 'admin', password: 'admin' })
  const app = await createServer(service, { caller: SYSTEM })
  call = async (method, path, body, headers = {}) => {
    const response = await app.inject({
      method: method as 'GET',
      url: `/admin/realms/master/${path}`,
      headers: { ...headers, ...(body !== undefined && { 'content-type': 'application/json' }) },
      ...(body !== undefined && { payload: JSON.stringify(body) }),
    })
    return { status: response.statusCode, body: response.body && JSON.parse(response.body), headers: response.headers }
  }
  admin = `users/${(await call('GET', 'users?username=admin')).body[0].id}`
  role = (await call('GET', 'roles/admin')).body
})

afterEach(() => service.close())

const CONFIRMED = { 'Regent-Allow-Lock-Out': 'true' }

/** Creates an object, and returns its id. */
async function create(path: string, body: object): Promise<string> {
  expect((await call('POST', path, body)).status).toBe(201)
  const name = Object.values(body)[0]
  const objects = (await call('GET', path)).body
  return objects.find((object: Record<string, unknown>) => Object.values(object).includes(name)).id
}

const newUser = (username: string) => ({ username, enabled: true, credentials: [{ type: 'password', value: 'pw' }] })

test('a change of the last administrator, of its roles or password is refused if it locks out all administrators', async () => {
  const password = (await call('GET', `${admin}/credentials`)).body[0].id
  const group = await create('groups', { name: 'admins' })
  const inner = await create('roles', { name: 'inner' })
  const changes: [string, string, unknown?][] = [
    ['DELETE', admin],
    ['PUT', admin, { enabled: false }],
    ['DELETE', `${admin}/credentials/${password}`],
    ['DELETE', `${admin}/role-mappings/realm`, [role]],
    ['DELETE', `${admin}/role-mappings/realm`],
  ]
  for (const [method, path, body] of changes) {
    const response = await call(method, path, body)
    expect([method, path, response]).toMatchObject([
      method,
      path,
      {
        status: 400,
        body: { errorMessage: expect.stringMatching(/^This would lock everyone out: .*Regent-Allow-Lock-Out: true/) },
      },
    ])
  }
  expect(await hasAdministrator(service)).toBe(true)

  // The last administrator has the role through a group and a composite role only: no part of that may be removed.
  expect((await call('POST', `roles-by-id/${inner}/composites`, [role])).status).toBe(204)
  const composite = (await call('GET', 'roles/inner')).body
  expect((await call('POST', `groups/${group}/role-mappings/realm`, [composite])).status).toBe(204)
  expect((await call('PUT', `${admin}/groups/${group}`)).status).toBe(204)
  expect((await call('DELETE', `${admin}/role-mappings/realm`, [role])).status).toBe(204)
  const removals: [string, string, unknown?][] = [
    ['DELETE', `${admin}/groups/${group}`],
    ['DELETE', `groups/${group}`],
    ['DELETE', `groups/${group}/role-mappings/realm`, [composite]],
    ['DELETE', `roles-by-id/${inner}/composites`, [role]],
    ['DELETE', `roles-by-id/${inner}`],
  ]
  for (const [method, path, body] of removals)
    expect([path, (await call(method, path, body)).status]).toEqual([path, 400])
  expect(await hasAdministrator(service)).toBe(true)
})

test('the change is allowed if another user or enabled service account is an administrator', async () => {
  const other = await create('users', newUser('other'))
  expect((await call('DELETE', admin)).status).toBe(400)
  expect((await call('POST', `users/${other}/role-mappings/realm`, [role])).status).toBe(204)
  expect((await call('DELETE', admin)).status).toBe(204)

  const client = await create('clients', { clientId: 'robot', serviceAccountsEnabled: true })
  const account = (await call('GET', `clients/${client}/service-account-user`)).body.id
  expect((await call('POST', `users/${account}/role-mappings/realm`, [role])).status).toBe(204)
  expect((await call('DELETE', `users/${other}`)).status).toBe(204)
  expect((await call('PUT', `clients/${client}`, { enabled: false })).status).toBe(400)
  expect((await call('PUT', `clients/${client}`, { serviceAccountsEnabled: false })).status).toBe(400)
  expect((await call('DELETE', `clients/${client}`)).status).toBe(400)
  expect(await hasAdministrator(service)).toBe(true)
})

test('the change is allowed if a request or document confirms it, and admin-password restores access', async () => {
  const state = createSource([{ realm: 'master', users: [{ username: 'admin', enabled: false }] }])
  await expect(planSources(service, SYSTEM, [state])).rejects.toMatchObject({ code: 'lock_out' })
  await expect(applySources(service, SYSTEM, [state])).rejects.toMatchObject({ code: 'lock_out' })
  expect(await hasAdministrator(service)).toBe(true)
  await applySources(service, { ...SYSTEM, allowLockOut: true }, [state])
  expect(await hasAdministrator(service)).toBe(false)
  // Without an administrator, changes lock nobody out.
  expect((await call('PUT', admin, { lastName: 'Example', enabled: false })).status).toBe(204)
  await resetAdminPassword(service, 'admin', { password: 'new', create: true })
  expect(await hasAdministrator(service)).toBe(true)
  expect((await call('DELETE', admin, undefined, CONFIRMED)).status).toBe(204)
  expect(await hasAdministrator(service)).toBe(false)
})

test('only changes that can lock out check for an administrator, once each', async () => {
  const countChecks = async (...args: Parameters<typeof call>) => {
    statements = []
    expect((await call(...args)).status).toBeLessThan(300)
    return statements.filter((sql) => sql.includes('browser_flow as (')).length
  }
  expect(await countChecks('PUT', admin, { firstName: 'Ann' })).toBe(0)
  expect(await countChecks('POST', 'groups', { name: 'staff' })).toBe(0)
  expect(await countChecks('POST', 'users', newUser('ann'))).toBe(0)
  const ann = (await call('GET', 'users?username=ann')).body[0].id
  expect(await countChecks('POST', `users/${ann}/role-mappings/realm`, [role])).toBe(1)
  expect(await countChecks('DELETE', `users/${ann}`)).toBe(1)
})

/** The clients of master with which users log in, as Keycloak 9 to 24 exports them. */
const KEYCLOAK_24 = ['admin-cli', 'security-admin-console'].map((clientId) => ({ clientId, fullScopeAllowed: false }))
const flowOf = (authenticator: string, requirement: string) => ({
  alias: 'mine',
  providerId: 'basic-flow',
  topLevel: true,
  builtIn: false,
  authenticationExecutions: [{ authenticator, requirement, priority: 10 }],
})
/** The same with a client that only seems to permit another login, as exports of real master realms have it. */
const withOther = (client: object, more = {}) => ({
  clients: [...KEYCLOAK_24, { clientId: 'other', ...client }],
  ...more,
})
/** A change of admin-cli only: logging in to the console needs a redirect URI, which a new realm does not have. */
const cli = (change: object) => ({ clients: [{ clientId: 'admin-cli', ...change }] })

/** Changes after which no administrator can log in, one for each part of the login. */
const lockOuts: Record<string, object> = {
  'clients without full scope and a SAML application': withOther({ protocol: 'saml', redirectUris: ['*'] }),
  'clients without full scope and a new client with an administrator as service account': withOther(
    { serviceAccountsEnabled: true },
    { users: [{ username: 'service-account-other', serviceAccountClientId: 'other', realmRoles: ['admin'] }] },
  ),
  'a SAML client': cli({ protocol: 'saml' }),
  'a bearer-only client': cli({ bearerOnly: true }),
  'a client that requires consent': cli({ consentRequired: true }),
  'a client without direct grants': cli({ directAccessGrantsEnabled: false }),
  'a client with a not-before time in the future': cli({ notBefore: 2_000_000_000 }),
  'a client whose tokens have a lifespan of 0 seconds': cli({ attributes: { 'access.token.lifespan': '0' } }),
  'a client with an unknown signature algorithm': cli({ attributes: { 'access.token.signed.response.alg': 'XX' } }),
  'a realm with a not-before time in the future': { notBefore: 2_000_000_000 },
  'a realm whose tokens have a lifespan of 0 seconds': { accessTokenLifespan: 0 },
  'a client authentication flow without a client authenticator': { clientAuthenticationFlow: 'registration' },
  'a browser flow as direct grant flow': { directGrantFlow: 'browser' },
  'an administrator with a required action': {
    users: [{ username: 'admin', requiredActions: ['UPDATE_PROFILE'] }],
  },
  'an administrator with a not-before time in the future': { users: [{ username: 'admin', notBefore: 2_000_000_000 }] },
  'clients without full scope, as Keycloak 9 to 24 exports them': { clients: KEYCLOAK_24 },
  'disabled clients': { clients: KEYCLOAK_24.map(({ clientId }) => ({ clientId, enabled: false })) },
  'clients without login flows': {
    clients: [
      { clientId: 'admin-cli', directAccessGrantsEnabled: false },
      { clientId: 'security-admin-console', standardFlowEnabled: false },
    ],
  },
  'clients without redirect URIs': {
    clients: [
      { clientId: 'admin-cli', directAccessGrantsEnabled: false },
      { clientId: 'security-admin-console', redirectUris: [] },
    ],
  },
  'flows without a password': {
    browserFlow: 'mine',
    directGrantFlow: 'mine',
    authenticationFlows: [flowOf('auth-cookie', 'ALTERNATIVE')],
  },
  'flows whose password step is disabled': {
    browserFlow: 'mine',
    directGrantFlow: 'mine',
    authenticationFlows: [flowOf('auth-username-password-form', 'DISABLED')],
  },
  'flow overrides of the clients': {
    clients: KEYCLOAK_24.map(({ clientId }) => ({
      clientId,
      authenticationFlowBindingOverrides: { browser: 'mine', direct_grant: 'mine' },
    })),
    authenticationFlows: [flowOf('auth-cookie', 'ALTERNATIVE')],
  },
}

/** Changes after which administrators can still log in, but in fewer ways. */
const worse: Record<string, object> = {
  'clients without full scope and an application with full scope': withOther({
    publicClient: true,
    redirectUris: ['https://app.example/*'],
  }),
  'clients without full scope and a new client with direct grants': withOther({
    publicClient: true,
    directAccessGrantsEnabled: true,
  }),
  'a client with a secret': cli({ publicClient: false, secret: 'secret' }),
}

test.each(Object.entries(worse))('an apply of %s to master is refused', async (_, content) => {
  const state = createSource([{ realm: 'master', ...content }])
  await expect(applySources(service, SYSTEM, [state])).rejects.toMatchObject({ code: 'lock_out' })
  await applySources(service, { ...SYSTEM, allowLockOut: true }, [state])
  // The remaining way to log in is protected too.
  expect((await call('PUT', admin, { enabled: false })).status).toBe(400)
})

test.each(takeSample(Object.entries(lockOuts)))('an apply of %s to master is refused', async (_, content) => {
  const state = createSource([{ realm: 'master', ...content }])
  await expect(planSources(service, SYSTEM, [state])).rejects.toMatchObject({ code: 'lock_out' })
  await expect(applySources(service, SYSTEM, [state])).rejects.toMatchObject({ code: 'lock_out' })
  await applySources(service, { ...SYSTEM, allowLockOut: true }, [state])
  // Once no administrator can log in, changes lock nobody out.
  expect((await call('PUT', admin, { enabled: false })).status).toBe(204)
})

test('one client and one flow are enough, and a service account of a client without full scope does not count', async () => {
  await applySources(service, SYSTEM, [createSource([{ realm: 'master', clients: KEYCLOAK_24.slice(1) }])])
  const cli = (await call('GET', 'clients?clientId=admin-cli')).body[0].id
  expect((await call('PUT', `clients/${cli}`, { fullScopeAllowed: false })).status).toBe(400)
  const robot = await create('clients', { clientId: 'robot', serviceAccountsEnabled: true, fullScopeAllowed: false })
  const account = (await call('GET', `clients/${robot}/service-account-user`)).body.id
  expect((await call('POST', `users/${account}/role-mappings/realm`, [role])).status).toBe(204)
  expect((await call('PUT', `clients/${cli}`, { fullScopeAllowed: false })).status).toBe(400)
  // With the role in its scope, the service account counts as an administrator.
  expect((await call('POST', `clients/${robot}/scope-mappings/realm`, [role])).status).toBe(204)
  expect((await call('PUT', `clients/${cli}`, { fullScopeAllowed: false })).status).toBe(204)
  expect((await call('DELETE', `clients/${robot}/scope-mappings/realm`, [role])).status).toBe(400)
  expect((await call('DELETE', `clients/${robot}`)).status).toBe(400)
})

test('an application with another login does not replace the client that needs no other application', async () => {
  await create('clients', { clientId: 'app', publicClient: true, redirectUris: ['https://app.example/*'] })
  const state = createSource([{ realm: 'master', clients: KEYCLOAK_24 }])
  await expect(applySources(service, SYSTEM, [state])).rejects.toMatchObject({ code: 'lock_out' })
  // Once it is the only client for logins, it is protected too.
  await applySources(service, { ...SYSTEM, allowLockOut: true }, [state])
  const app = (await call('GET', 'clients?clientId=app')).body[0].id
  expect((await call('PUT', `clients/${app}`, { redirectUris: ['https://app.example/b'] })).status).toBe(204)
  expect((await call('PUT', `clients/${app}`, { fullScopeAllowed: false })).status).toBe(400)
})

test.each(['admin', 'other'])('after a confirmed lock-out, admin-password lets %s log in', async (username) => {
  const content = withOther({ publicClient: true, directAccessGrantsEnabled: true })
  const state = createSource([{ realm: 'master', ...content, users: [{ username: 'admin', enabled: false }] }])
  await applySources(service, { ...SYSTEM, allowLockOut: true }, [state])
  const isCreated = username === 'other'
  expect(await resetAdminPassword(service, username, { password: 'new', create: true })).toEqual({
    isCreated,
    canLogIn: true,
  })
  expect(await administers(username, 'new')).toBe(true)
  await applySources(service, { ...SYSTEM, allowLockOut: true }, [
    createSource([{ realm: 'master', accessTokenLifespan: 0 }]),
  ])
  // The source no longer declares the user admin, so the apply deleted that user.
  const isCreatedAgain = username === 'admin'
  expect(await resetAdminPassword(service, username, { password: 'new', create: true })).toEqual({
    isCreated: isCreatedAgain,
    canLogIn: false,
  })
})

const servers = new WeakMap<Service, ReturnType<typeof createServer>>()
/** Returns the server that authenticates its callers. */
function serverOf(store: Service): ReturnType<typeof createServer> {
  const server = servers.get(store) ?? createServer(store)
  servers.set(store, server)
  return server
}

/** Whether the user gets an accepted access token for the password. */
async function administers(username: string, password: string): Promise<boolean> {
  const app = await serverOf(service)
  const form = new URLSearchParams({ grant_type: 'password', client_id: 'admin-cli', username, password })
  const granted = await app.inject({
    method: 'POST',
    url: '/realms/master/protocol/openid-connect/token',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    payload: form.toString(),
  })
  const token = granted.statusCode === 200 ? granted.json().access_token : ''
  const response = await app.inject({ url: '/admin/realms/master/keys', headers: { authorization: `Bearer ${token}` } })
  return response.statusCode === 200
}

describe('an apply of master that changes a field either leaves an administrator who can log in or is refused:', () => {
  /** `sslRequired` depends on the connection of a request: see lock-out.test.ts. */
  const excluded = ['realm', 'sslRequired']
  const flows = ['browser', 'direct grant', 'registration', 'clients']
  const values = [true, false, 0, -1, 2_147_483_647, '', 'saml', 'client-jwt', 'RSA-OAEP', ...flows, [], ['x']]
  const places: [string, KindName, (content: object) => object][] = [
    ['the realm', 'realm', (content) => content],
    ['admin-cli', 'client', cli],
    ['the administrator', 'user', (content) => ({ users: [{ username: 'admin', enabled: true, ...content }] })],
  ]
  test.each(places)('of %s', { timeout: TIME_LIMIT }, async (_, kind, placed) => {
    const fields = Object.entries(kinds[kind].fields).filter(
      ([name, { computed }]) => !computed && !excluded.includes(name),
    )
    let refused = 0
    for (const [name, { schema }] of fields.filter((_, at) => isFullRun || at % 20 === 3)) {
      if (name === kinds[kind].naturalKey) continue
      for (const value of values.filter((candidate) => schema.safeParse(candidate).success)) {
        const state = (content: object) => [createSource([{ realm: 'master', ...placed(content) }], 'field')]
        const outcome = await applySources(service, SYSTEM, state({ [name]: value })).then(
          () => 'applied',
          (error: { code?: string }) => error.code ?? 'invalid',
        )
        if (outcome === 'lock_out') refused++
        if (outcome === 'applied')
          expect([name, value, await administers('admin', 'admin')]).toEqual([name, value, true])
        await applySources(service, SYSTEM, state({}))
      }
    }
    if (isFullRun) expect(refused).toBeGreaterThan(2)
  })
})
