// The server acts on its own record of a token, never on claims that protocol mappers, client settings or user attributes
// can write.
import fc from 'fast-check'
import { decodeJwt } from 'jose'
import { expect, test } from 'vitest'
import { claimMappers, roleMappers } from '../../src/oidc/mappers/index.ts'
import { isFullRun } from '../support/property-options.ts'
import { testServer } from '../support/server.ts'

const { call, create, createRealm: newRealm } = await testServer()

const protocol = (name: string, endpoint: string, form: Record<string, string>, bearer: string | null = null) =>
  call('POST', `/realms/${name}/protocol/openid-connect/${endpoint}`, {
    token: bearer,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams(form).toString(),
  })
const token = (name: string, form: Record<string, string>) => protocol(name, 'token', form)

/** The events of all operations on tokens. */
const EVENTS = ['USER_INFO_REQUEST', 'INTROSPECT_TOKEN', 'REFRESH_TOKEN', 'LOGOUT', 'REVOKE_GRANT']

/** The claims that the server writes or reads, in the forms in which a mapper can name them. */
const CLAIMS = [
  ...[
    'sub',
    'azp',
    'sid',
    'aud',
    'exp',
    'nbf',
    'iat',
    'iss',
    'jti',
    'typ',
    'scope',
    'nonce',
    'acr',
    'amr',
    'auth_time',
  ],
  ...['session_state', 'access_token', 'refresh_token', 'id_token', 'client_id', 'username', 'active', 'token_type'],
  ...['realm_access.roles', 'resource_access.realm-management.roles', 'resource_access', 'realm_access', 'cnf'],
  ...['kid', 'alg', 'user', 'client', 'session', 'issuedTo', 'regent.dev/issued-to', 'regent\\.dev/issued-to'],
  ...['regent\\.dev/issued-to.client', 'regent\\.dev/issued-to.user', 'regent\\.dev/issued-to.session'],
  ...[
    '\\sub',
    's\\ub',
    '.sub',
    'sub.',
    'sub.x',
    'azp.x',
    'sid.x',
    'nbf.x',
    'exp.x',
    'typ.x',
    'scope.x',
    'iat.x',
    'aud.x',
  ],
]

const victims = await newVictims()
type Victims = Awaited<ReturnType<typeof newVictims>>

/** Creates a realm with an administrator with all permissions, and one who may manage users. */
async function newVictims() {
  const path = await newRealm({
    sslRequired: 'none',
    eventsEnabled: true,
    adminEventsEnabled: true,
    enabledEventTypes: EVENTS,
  })
  const name = path.split('/').at(-1)!
  const profile = (await call('GET', `${path}/users/profile`)).body
  await call('PUT', `${path}/users/profile`, { body: { ...profile, unmanagedAttributePolicy: 'ENABLED' } })
  const management = (await call('GET', `${path}/clients?clientId=realm-management`)).body[0].id
  const createUser = async (username: string, role: string, attributes = {}) => {
    const details = { username, enabled: true, email: `${username}@example.org`, firstName: 'F', lastName: 'L' }
    const user = await create(`${path}/users`, {
      ...details,
      attributes,
      credentials: [{ type: 'password', value: 'pw' }],
    })
    const roles = [(await call('GET', `${path}/clients/${management}/roles/${role}`)).body]
    await call('POST', `${user}/role-mappings/clients/${management}`, { body: roles })
    return user.split('/').at(-1)!
  }
  const root = await createUser('root', 'realm-admin')
  const session = (
    await token(name, { grant_type: 'password', client_id: 'admin-cli', username: 'root', password: 'pw' })
  ).body.session_state
  const values = { user: root, session, client: 'admin-cli', name: 'root' }
  const ann = await createUser('ann', 'manage-users', { ...values, list: Object.values(values), group: ['x'] })
  const clientIds: Record<string, string> = {}
  for (const { clientId, id } of (await call('GET', `${path}/clients`)).body) clientIds[clientId] = id
  return { name, path, root, ann, management, values: { ...values, clientUuid: clientIds['admin-cli']! } }
}

const EVERYWHERE = ['access', 'id', 'userinfo', 'introspection', 'lightweight', 'accessTokenResponse']

interface Mapper {
  readonly type: string
  readonly claim: string
  readonly value: 'user' | 'session' | 'client' | 'clientUuid' | 'name' | 'later' | 'object'
  readonly json: string
  readonly shared: boolean
}

const anyMapper: fc.Arbitrary<Mapper> = fc.record({
  type: fc.constantFrom(...Object.keys(claimMappers), ...Object.keys(roleMappers)),
  claim: fc.constantFrom(...CLAIMS),
  value: fc.constantFrom('user', 'session', 'client', 'clientUuid', 'name', 'later', 'object'),
  json: fc.constantFrom('String', 'String', 'String', 'JSON', 'long', 'boolean', ''),
  shared: fc.boolean(),
})

/** Returns a mapper that writes a claim. It has the config of all types of mappers. */
function mapperOf(at: number, { type, claim, value, json }: Mapper, values: Victims['values']) {
  const { user, session, clientUuid } = values
  const object = JSON.stringify({ user, session, client: clientUuid, roles: ['realm-admin'] })
  const text = { ...values, later: '4000000000', object }[value]
  return {
    name: `m${at}`,
    protocol: 'openid-connect',
    protocolMapper: type,
    config: {
      ...Object.fromEntries(EVERYWHERE.map((target) => [`${target}.token.claim`, 'true'])),
      'lightweight.claim': 'true',
      'userinfo.token.claim': 'true',
      'access.tokenResponse.claim': 'true',
      'claim.name': claim,
      'claim.value': json === 'String' || value === 'object' || value === 'later' ? text : JSON.stringify(text),
      'jsonType.label': json,
      'user.attribute': value === 'name' ? 'username' : value,
      'user.session.note': 'client_id',
      'included.custom.audience': text,
      'full.path': 'false',
      role: type === 'oidc-role-name-mapper' ? 'realm-management.manage-users' : 'realm-management.realm-admin',
      'new.role.name': 'realm-management.realm-admin',
      sectorIdentifierUri: '',
      pairwiseSubAlgorithmSalt: text,
    },
  }
}

/** Runs all operations on the tokens of a client with these mappers, and returns their results and events. */
async function runWith(
  { name, path, ann, management, values }: Victims,
  mappers: readonly Mapper[],
  { light, account, offline }: { readonly light: boolean; readonly account: boolean; readonly offline: boolean },
) {
  await call('DELETE', `${path}/events`)
  const written = mappers.map((mapper, at) => mapperOf(at, mapper, values))
  const split = (shared: boolean) => written.filter((_, at) => mappers[at]!.shared === shared)
  const scope = await create(`${path}/client-scopes`, { name: 'mapped', protocol: 'openid-connect' })
  for (const mapper of split(true)) await create(`${scope}/protocol-mappers/models`, mapper)
  const client = await create(`${path}/clients`, {
    clientId: 'mapped',
    secret: 's',
    serviceAccountsEnabled: true,
    directAccessGrantsEnabled: true,
    redirectUris: ['http://127.0.0.1/*'],
    attributes: { 'client.use.lightweight.access.token.enabled': String(light) },
    protocolMappers: [
      ...split(false),
      {
        name: 'itself',
        protocol: 'openid-connect',
        protocolMapper: 'oidc-audience-mapper',
        config: { 'included.client.audience': 'mapped', 'access.token.claim': 'true', 'lightweight.claim': 'true' },
      },
    ],
  })
  await call('PUT', `${client}/default-client-scopes/${scope.split('/').at(-1)}`)
  const itself = (await call('GET', `${client}/service-account-user`)).body.id
  const role = (await call('GET', `${path}/clients/${management}/roles/manage-users`)).body
  await call('POST', `${path}/users/${itself}/role-mappings/clients/${management}`, { body: [role] })

  const subject = account ? itself : ann
  const secret = { client_id: 'mapped', client_secret: 's' }
  const grant = account
    ? { grant_type: 'client_credentials', scope: 'openid' }
    : { grant_type: 'password', username: 'ann', password: 'pw', scope: `openid${offline ? ' offline_access' : ''}` }
  const { status, body } = await token(name, { ...secret, ...grant })
  expect(status, JSON.stringify(body)).toBe(200)
  const access = body.access_token
  const administers = async (bearer: string) => {
    const opened = ['/users', '/clients', '/keys', '/components', ''].map((below) =>
      call('GET', path + below, { token: bearer }),
    )
    const changed = await call('PUT', `${path}/users/${ann}`, { body: { firstName: 'F' }, token: bearer })
    const [{ authDetails }] = (await call('GET', `${path}/admin-events?max=1`)).body
    return {
      statuses: [...(await Promise.all(opened)), changed].map(({ status }) => status),
      client: authDetails.clientId === client.split('/').at(-1),
      user: authDetails.userId === subject,
    }
  }
  const admin = await administers(access)
  const info = await protocol(name, 'userinfo', {}, access)
  const introspected = await protocol(name, 'token/introspect', { ...secret, token: access })
  const refreshed =
    body.refresh_token &&
    (await token(name, { ...secret, grant_type: 'refresh_token', refresh_token: body.refresh_token }))
  const going = refreshed?.status === 200 ? await administers(refreshed.body.access_token) : undefined
  const hinted = await call(
    'GET',
    `/realms/${name}/protocol/openid-connect/logout?${new URLSearchParams({ id_token_hint: body.id_token, post_logout_redirect_uri: 'http://127.0.0.1/x' })}`,
    { token: null },
  )
  const revoked = await protocol(name, 'revoke', { ...secret, token: access })
  const after = await call('GET', path, { token: access })
  const loggedOut =
    refreshed && (await protocol(name, 'logout', { ...secret, refresh_token: refreshed.body.refresh_token }))

  const events = (await call('GET', `${path}/events`)).body as Record<string, unknown>[]
  const acts = events.map(({ type, clientId, userId, sessionId, error }) => ({
    type,
    clientId,
    user: userId === subject ? 'the user' : userId,
    session: sessionId === body.session_state ? 'the session' : sessionId,
    error,
  }))
  await call('DELETE', client)
  await call('DELETE', scope)
  return {
    admin,
    going,
    statuses: [info, introspected, refreshed, hinted, revoked, after, loggedOut].map((response) => response?.status),
    issuedTo: [introspected.body.active, introspected.body.client_id, introspected.body.token_type],
    location: hinted.headers.location,
    acts: acts.sort((a, b) => JSON.stringify(a).localeCompare(JSON.stringify(b))),
    isMeant: [decodeJwt(access).aud].flat().includes('mapped'),
  }
}

type Acts = Awaited<ReturnType<typeof runWith>>

/** Removes introspection from a result: mappers decide on the audience, and so on who may introspect a token. */
const withoutIntrospection = ({ issuedTo: _, acts, isMeant: __, ...remaining }: Acts) => ({
  ...remaining,
  acts: acts.filter(({ type }) => type !== 'INTROSPECT_TOKEN' && type !== 'INTROSPECT_TOKEN_ERROR'),
})

const kinds = fc.record({ light: fc.boolean(), account: fc.boolean(), offline: fc.boolean() })
const plain = new Map<string, ReturnType<typeof runWith>>()
const withoutMappers = (kind: { light: boolean; account: boolean; offline: boolean }) => {
  const key = JSON.stringify(kind)
  const cached = plain.get(key) ?? runWith(victims, [], kind)
  plain.set(key, cached)
  return cached
}

test('no mapper of any type changes the user, client, session or roles that the server acts on', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(anyMapper, { minLength: 4, maxLength: 12 }), kinds, async (mappers, kind) => {
      const expected = await withoutMappers(kind)
      const acted = await runWith(victims, mappers, kind)
      expect([acted.admin, acted.going ?? acted.admin]).toMatchObject([{ client: true, user: true }, { user: true }])
      if (acted.isMeant) expect(acted).toEqual(expected)
      else expect(withoutIntrospection(acted)).toEqual(withoutIntrospection(expected))
    }),
    { numRuns: Number(process.env.REGENT_MAPPER_RUNS ?? (isFullRun ? 12 : 3)), endOnFailure: true },
  )
})

/** Returns the claims of a token of a client with this mapper, and the statuses of requests with it. */
async function measureWith(mapper: object, form: Record<string, string>, client: object = {}) {
  const { name, path } = victims
  const address = await create(`${path}/clients`, {
    ...{ clientId: 'own', secret: 's', serviceAccountsEnabled: true, directAccessGrantsEnabled: true, ...client },
    protocolMappers: [{ name: 'm', protocol: 'openid-connect', ...mapper }],
  })
  const { body } = await token(name, { client_id: 'own', client_secret: 's', ...form })
  const open = async (below: string) => (await call('GET', path + below, { token: body.access_token })).status
  const result = {
    claims: decodeJwt(body.access_token),
    statuses: [await open('/users'), await open('/components')],
    exports: (await call('GET', `/regent/v1/export/${name}`, { token: body.access_token })).status,
  }
  await call('DELETE', address)
  return result
}

const writes = (claim: string, value: string, json = 'String') => ({
  protocolMapper: 'oidc-hardcoded-claim-mapper',
  config: { 'claim.name': claim, 'claim.value': value, 'jsonType.label': json, 'access.token.claim': 'true' },
})
const ACCOUNT = { grant_type: 'client_credentials' }
const ANN = { grant_type: 'password', username: 'ann', password: 'pw' }
const ROOT = { ...ANN, username: 'root' }

test.each([
  ['a fixed sub', writes('sub', victims.root)],
  ['a fixed sub, its name escaped', writes('\\s\\ub', victims.root)],
  ['a sub that is JSON', writes('sub', `"${victims.root}"`, 'JSON')],
])('a token with %s has the admin permissions of its service account', async (_, mapper) => {
  const { claims, statuses, exports } = await measureWith(mapper, ACCOUNT)
  expect(claims.sub).toBe(victims.root)
  expect([...statuses, exports]).toEqual([403, 403, 403])
})

test('a token whose sub comes from an attribute has the admin permissions of its user', async () => {
  const config = {
    'user.attribute': 'user',
    'claim.name': 'sub',
    'jsonType.label': 'String',
    'access.token.claim': 'true',
  }
  const { claims, statuses } = await measureWith({ protocolMapper: 'oidc-usermodel-attribute-mapper', config }, ANN)
  expect(claims.sub).toBe(victims.root)
  expect(statuses).toEqual([200, 403])
})

test('a token with a pairwise sub has the admin permissions of its user', async () => {
  const mapper = { protocolMapper: 'oidc-sha256-pairwise-sub-mapper', config: { pairwiseSubAlgorithmSalt: 'x' } }
  const { claims, statuses } = await measureWith(mapper, ANN, { redirectUris: ['https://app.example/'] })
  expect(claims.sub).not.toBe(victims.ann)
  expect(statuses).toEqual([200, 403])
})

test.each([
  ['sid', () => victims.values.session],
  [
    'regent\\.dev/issued-to',
    () => JSON.stringify({ client: victims.values.clientUuid, session: victims.values.session }),
  ],
])("a token with another user's session in %s has the admin permissions of its user", async (claim, value) => {
  const { statuses } = await measureWith(writes(claim, value(), claim === 'sid' ? 'String' : 'JSON'), ANN)
  expect(statuses).toEqual([200, 403])
})

test.each(['azp', '\\azp'])('a client without roles in scope has none with a mapper that writes %s', async (claim) => {
  const { claims, statuses, exports } = await measureWith(writes(claim, 'admin-cli'), ROOT, {
    fullScopeAllowed: false,
  })
  expect(claims.azp).toBe('admin-cli')
  expect([...statuses, exports]).toEqual([403, 403, 403])
})

test('signed user info is not accepted as a token', async () => {
  const { name, path } = victims
  const attributes = { 'user.info.response.signature.alg': 'RS256' }
  const config = (claim: string, value: string) => ({
    ...writes(claim, value, 'JSON').config,
    'userinfo.token.claim': 'true',
  })
  const address = await create(`${path}/clients`, {
    ...{ clientId: 'signed', secret: 's', directAccessGrantsEnabled: true, attributes },
    protocolMappers: [
      ['typ', '"Bearer"'],
      ['exp', '4000000000'],
      ['sid', JSON.stringify(victims.values.session)],
      ['regent\\.dev/issued-to', JSON.stringify({ client: victims.values.clientUuid, user: victims.root })],
    ].map(([claim, value], at) => ({
      ...{ name: `m${at}`, protocol: 'openid-connect', protocolMapper: 'oidc-hardcoded-claim-mapper' },
      config: config(claim!, value!),
    })),
  })
  const { body } = await token(name, { client_id: 'signed', client_secret: 's', ...ANN, scope: 'openid' })
  const info = await protocol(name, 'userinfo', {}, body.access_token)
  expect(info.headers['content-type']).toContain('application/jwt')
  expect((await call('GET', `${path}/users`, { token: info.body })).status).toBe(401)
  await call('DELETE', address)
})

test('a token of a deleted client is invalid, also after a client with the same ID is created', async () => {
  const { name, path, management } = victims
  const newClient = () => create(`${path}/clients`, { clientId: 'again', secret: 's', serviceAccountsEnabled: true })
  const first = await newClient()
  const { access_token } = (await token(name, { client_id: 'again', client_secret: 's', ...ACCOUNT })).body
  await call('DELETE', first)
  const second = await newClient()
  const account = (await call('GET', `${second}/service-account-user`)).body.id
  const role = (await call('GET', `${path}/clients/${management}/roles/realm-admin`)).body
  await call('POST', `${path}/users/${account}/role-mappings/clients/${management}`, { body: [role] })
  expect((await call('GET', `${path}/users`, { token: access_token })).status).toBe(401)
  await call('DELETE', second)
})
