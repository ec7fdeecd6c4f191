// The settings of realms, clients and client scopes that decide which tokens a client gets, and what they contain.
import { decodeJwt, SignJWT } from 'jose'
import { afterAll, expect, test } from 'vitest'
import { loginAddress, testBrowser } from '../support/browser.ts'
import { openTimedServer } from '../support/timed-server.ts'

const { app, call, createRealm, now, later, close } = await openTimedServer()
afterAll(close)

type Realm = Awaited<ReturnType<typeof createRealm>>

/** Creates a realm with a setting of its client. */
const createRealmWithClient = (client: object) => createRealm({}, { client })

const withAttribute = (name: string, value: string) => createRealmWithClient({ attributes: { [name]: value } })

/** Logs Ann in on the login page, and returns the page or the response to the client. */
async function openLogin({ name }: Realm) {
  const browser = testBrowser(app)
  const page = await browser.open(loginAddress(name).address)
  return page.response || page.status !== 200 ? page : browser.send(page, { username: 'ann', password: 'pw' })
}

test.each([
  ['accessTokenLifespan of a realm', { accessTokenLifespan: 123 }, {}],
  ['access.token.lifespan of a client', { accessTokenLifespan: 500 }, { 'access.token.lifespan': '123' }],
])('%s is the lifespan of access tokens', async (_, settings, attributes) => {
  const { logIn } = await createRealm(settings, { client: { attributes } })
  const { expires_in, access_token } = await logIn()
  const { exp = 0, iat = 0 } = decodeJwt(access_token)
  expect([expires_in, exp - iat]).toEqual([123, 123])
})

/** Introspects a token of a user as another client of the realm. */
async function introspect({ name }: Realm, clientId: string, form: Record<string, string>) {
  const response = await app.inject({
    method: 'POST',
    url: `/realms/${name}/protocol/openid-connect/token/introspect`,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    payload: new URLSearchParams({ client_id: clientId, client_secret: 'secret', ...form }).toString(),
  })
  return response.json()
}

test.each([
  ['accessTokenLifespan of a realm', { accessTokenLifespan: -1 }, {}],
  ['access.token.lifespan of a client', {}, { 'access.token.lifespan': '-1' }],
])('with %s -1, access tokens end with the session', async (_, settings, attributes) => {
  const { logIn } = await createRealm({ ssoSessionMaxLifespan: 7200, ...settings }, { client: { attributes } })
  const { access_token } = await logIn()
  const { exp = 0, iat = 0 } = decodeJwt(access_token)
  expect(exp - iat).toBe(7200)
})

test.each(['5m', '60.5', ' 60 '])('a client with the lifespan "%s" gets no tokens', async (lifespan) => {
  const { logIn } = await withAttribute('access.token.lifespan', lifespan)
  expect(await logIn()).toEqual({
    error: 'invalid_request',
    error_description: `The client has the access.token.lifespan ${lifespan}, which is not a whole number of seconds`,
  })
})

test.each([
  ['use.refresh.tokens', 'True', true],
  ['use.refresh.tokens', 'no', false],
  ['dpop.bound.access.tokens', 'True', false],
  ['tls.client.certificate.bound.access.tokens', 'TRUE', false],
])('flags are true in any case: a client with %s "%s" gets a refresh token: %s', async (name, value, isIssued) => {
  const { logIn } = await withAttribute(name, value)
  expect('refresh_token' in (await logIn())).toBe(isIssued)
})

test.each([
  [99, true],
  [101, false],
])('with accessCodeLifespan 100, a code that is %i seconds old is redeemed: %s', async (seconds, isRedeemed) => {
  const { logInOnPage } = await createRealm({ accessCodeLifespan: 100 })
  const tokens = await logInOnPage({}, { beforeRedemption: async () => later(seconds) })
  expect(tokens.access_token !== undefined).toBe(isRedeemed)
})

test('a client with use.refresh.tokens "false" gets no refresh token', async () => {
  const { logIn } = await withAttribute('use.refresh.tokens', 'false')
  const tokens = await logIn()
  expect(tokens).toHaveProperty('access_token')
  expect(tokens).not.toHaveProperty('refresh_token')
})

test('a client without standardFlowEnabled gets no code', async () => {
  const { response } = await openLogin(await createRealmWithClient({ standardFlowEnabled: false }))
  expect(response?.get('error')).toBe('unauthorized_client')
})

test('a code is not redeemed once its client has no standardFlowEnabled', async () => {
  const { client, logInOnPage } = await createRealm()
  const beforeRedemption = () => call('PUT', client, { standardFlowEnabled: false })
  expect(await logInOnPage({}, { beforeRedemption })).toMatchObject({ error: 'unauthorized_client' })
})

test('a client without directAccessGrantsEnabled gets no tokens for a password', async () => {
  const { logIn } = await createRealmWithClient({ directAccessGrantsEnabled: false })
  expect(await logIn()).toMatchObject({ error: 'unauthorized_client' })
})

test('a client without serviceAccountsEnabled gets no tokens for its credentials', async () => {
  const confidential = { publicClient: false, secret: 'secret', serviceAccountsEnabled: true }
  const { client, requestTokens } = await createRealmWithClient(confidential)
  const request = () => requestTokens({ grant_type: 'client_credentials', client_secret: 'secret' })
  expect(await request()).toHaveProperty('access_token')
  await call('PUT', client, { serviceAccountsEnabled: false })
  expect(await request()).toMatchObject({ error: 'unauthorized_client' })
})

test('a client with client_credentials.use_refresh_token gets a refresh token for its credentials, within a session', async () => {
  const confidential = { publicClient: false, secret: 'secret', serviceAccountsEnabled: true }
  const attributes = { 'client_credentials.use_refresh_token': 'true' }
  const { client, requestTokens } = await createRealmWithClient({ ...confidential, attributes })
  const secret = { client_secret: 'secret' }
  const request = () => requestTokens({ grant_type: 'client_credentials', ...secret })
  const tokens = await request()
  expect(decodeJwt(tokens.access_token)).toMatchObject({ sid: tokens.session_state, client_id: 'web', acr: '1' })
  const refreshed = await requestTokens({
    grant_type: 'refresh_token',
    refresh_token: tokens.refresh_token,
    ...secret,
  })
  expect(decodeJwt(refreshed.access_token)).toMatchObject({ sid: tokens.session_state, client_id: 'web' })
  await call('PUT', client, { attributes: { 'client_credentials.use_refresh_token': 'false' } })
  const plain = await request()
  expect([plain.refresh_token, plain.session_state]).toEqual([undefined, undefined])
})

test('a client with bearerOnly gets no tokens, and no login page', async () => {
  const realm = await createRealmWithClient({ publicClient: false, secret: 'secret', bearerOnly: true })
  const tokens = await realm.logIn({ client_secret: 'secret' })
  expect(tokens).toEqual({ error: 'invalid_client', error_description: 'Bearer-only not allowed' })
  expect((await openLogin(realm)).text).toContain('bearer-only client')
})

test('a client with bearerOnly introspects the tokens that are for it', async () => {
  const realm = await createRealm()
  await call('POST', `${realm.path}/clients`, { clientId: 'api', bearerOnly: true, secret: 'secret' })
  const { access_token: token } = await realm.logIn()
  expect(await introspect(realm, 'api', { token })).toEqual({ active: false })
  const config = { 'included.client.audience': 'api', 'access.token.claim': 'true' }
  const mapper = { name: 'api', protocol: 'openid-connect', protocolMapper: 'oidc-audience-mapper', config }
  await call('POST', `${realm.client}/protocol-mappers/models`, mapper)
  const { access_token: tokenForApi } = await realm.logIn()
  expect(await introspect(realm, 'api', { token: tokenForApi })).toMatchObject({ active: true, username: 'ann' })
})

test('allow.token.introspection.without.audience.check lets a client introspect the tokens of others', async () => {
  const realm = await createRealm()
  const attributes = { 'allow.token.introspection.without.audience.check': 'true' }
  await call('POST', `${realm.path}/clients`, { clientId: 'gateway', secret: 'secret', attributes })
  const { access_token: token } = await realm.logIn()
  expect(await introspect(realm, 'gateway', { token })).toMatchObject({ active: true, client_id: 'web' })
})

test('a client introspects its own refresh tokens if it names their type', async () => {
  const realm = await createRealmWithClient({ publicClient: false, secret: 'secret' })
  await call('POST', `${realm.path}/clients`, { clientId: 'other', secret: 'secret' })
  const { refresh_token: token } = await realm.logIn({ client_secret: 'secret' })
  const request = { token, token_type_hint: 'refresh_token' }
  const claims = await introspect(realm, 'web', request)
  expect(claims).toMatchObject({ active: true, typ: 'Refresh', client_id: 'web', email: 'ann@example.org' })
  const inactive = { active: false }
  expect(await introspect(realm, 'web', { token })).toEqual(inactive)
  expect(await introspect(realm, 'other', request)).toEqual(inactive)
})

test.each([
  ['exclude.session.state.from.auth.response', 'session_state'],
  ['exclude.issuer.from.auth.response', 'iss'],
])('%s leaves %s out of the authorization response', async (attribute, parameter) => {
  const plainLogin = await openLogin(await createRealm())
  expect(plainLogin.response?.has(parameter)).toBe(true)
  const { response } = await openLogin(await withAttribute(attribute, 'true'))
  expect([response?.has('code'), response?.has(parameter)]).toEqual([true, false])
})

test.each([
  ['59', false],
  ['500', true],
])(
  'with token.endpoint.auth.signing.max.exp %s, an assertion that is 60 seconds old is accepted: %s',
  async (maxAge, isAccepted) => {
    const secret = 'a-secret-that-is-long-enough-for-hmac'
    const { name, requestTokens } = await createRealmWithClient({
      ...{ publicClient: false, secret, serviceAccountsEnabled: true, clientAuthenticatorType: 'client-secret-jwt' },
      attributes: { 'token.endpoint.auth.signing.max.exp': maxAge },
    })
    const seconds = Math.floor(now().getTime() / 1000)
    const assertion = await new SignJWT({ iss: 'web', sub: 'web', jti: 'one', iat: seconds - 60, exp: seconds + 60 })
      .setAudience(`http://localhost:80/realms/${name}`)
      .setProtectedHeader({ alg: 'HS256' })
      .sign(new TextEncoder().encode(secret))
    const tokens = await requestTokens({
      grant_type: 'client_credentials',
      client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
      client_assertion: assertion,
    })
    expect([tokens.access_token !== undefined, tokens.error_description]).toEqual([
      isAccepted,
      isAccepted ? undefined : 'Token was issued too far in the past to be used now',
    ])
  },
)

const rolesOf = (token: string): string[] =>
  decodeJwt<{ realm_access?: { roles: string[] } }>(token).realm_access?.roles ?? []

/** Creates a realm in which Ann has the role `staff`, with the role's representation. */
async function createRealmWithStaff(client: object = {}) {
  const realm = await createRealmWithClient(client)
  await call('POST', `${realm.path}/roles`, { name: 'staff' })
  const staff = await call('GET', `${realm.path}/roles/staff`)
  await call('POST', `${realm.user}/role-mappings/realm`, [staff])
  return { ...realm, staff }
}

test('without fullScopeAllowed, tokens contain the roles of the scopeMappings of the client only', async () => {
  const { client, staff, logIn } = await createRealmWithStaff()
  expect(rolesOf((await logIn()).access_token)).toContain('staff')
  await call('PUT', client, { fullScopeAllowed: false })
  expect(rolesOf((await logIn()).access_token)).not.toContain('staff')
  await call('POST', `${client}/scope-mappings/realm`, [staff])
  expect(rolesOf((await logIn()).access_token)).toEqual(['staff'])
})

/** Creates a client scope with a hard-coded claim, and returns its id. */
async function createScope({ path }: Realm, name: string, attributes: Record<string, string> = {}): Promise<string> {
  const config = { 'claim.name': name, 'claim.value': 'yes', 'access.token.claim': 'true' }
  const mapper = { name, protocol: 'openid-connect', protocolMapper: 'oidc-hardcoded-claim-mapper', config }
  const scope = { name, protocol: 'openid-connect', attributes, protocolMappers: [mapper] }
  return (await call('POST', `${path}/client-scopes`, scope)).split('/').at(-1)
}

test('scopeMappings of a client scope limit it to users with one of the roles', async () => {
  const realm = await createRealmWithStaff()
  const { path, client, user, staff, logIn } = realm
  const scope = await createScope(realm, 'desk')
  await call('PUT', `${client}/default-client-scopes/${scope}`)
  await call('POST', `${path}/client-scopes/${scope}/scope-mappings/realm`, [staff])
  expect(decodeJwt((await logIn()).access_token)).toHaveProperty('desk')
  await call('DELETE', `${user}/role-mappings/realm`, [staff])
  const tokens = await logIn()
  expect([decodeJwt(tokens.access_token).desk, tokens.scope]).toEqual([undefined, expect.not.stringContaining('desk')])
})

test('scopeMappings of a client scope add roles to tokens of a client without full scope', async () => {
  const realm = await createRealmWithStaff({ fullScopeAllowed: false })
  const { path, client, staff, logIn } = realm
  const scope = await createScope(realm, 'desk')
  await call('PUT', `${client}/optional-client-scopes/${scope}`)
  await call('POST', `${path}/client-scopes/${scope}/scope-mappings/realm`, [staff])
  expect(rolesOf((await logIn()).access_token)).toEqual([])
  expect(rolesOf((await logIn({ scope: 'desk' })).access_token)).toEqual(['staff'])
})

test.each([
  ['true', 'desk'],
  ['false', ''],
])(
  'a client scope with include.in.token.scope "%s" appears in the scope of tokens as "%s"',
  async (included, tokenScope) => {
    const realm = await createRealmWithClient({ defaultClientScopes: [] })
    const scope = await createScope(realm, 'desk', { 'include.in.token.scope': included })
    await call('PUT', `${realm.client}/default-client-scopes/${scope}`)
    const { access_token, scope: granted } = await realm.logIn()
    expect([decodeJwt(access_token).desk, decodeJwt(access_token).scope, granted]).toEqual([
      'yes',
      tokenScope,
      tokenScope,
    ])
  },
)

test('defaultClientScopes are always granted, optionalClientScopes on request, and others are refused', async () => {
  const scopes = { defaultClientScopes: ['email'], optionalClientScopes: ['phone'] }
  const { logIn } = await createRealmWithClient(scopes)
  expect((await logIn()).scope).toBe('email')
  expect((await logIn({ scope: 'phone' })).scope).toBe('phone email')
  expect(await logIn({ scope: 'address' })).toMatchObject({ error: 'invalid_scope' })
})

test('a new client gets the defaultDefaultClientScopes and the defaultOptionalClientScopes of its realm', async () => {
  const { path } = await createRealm({ defaultDefaultClientScopes: ['phone'], defaultOptionalClientScopes: ['email'] })
  const client = await call('POST', `${path}/clients`, { clientId: 'new' })
  expect(await call('GET', client)).toMatchObject({ defaultClientScopes: ['phone'], optionalClientScopes: ['email'] })
})

test('client.use.lightweight.access.token.enabled leaves the claims of the user out of access tokens', async () => {
  const plainTokens = await (await createRealm()).logIn()
  expect(decodeJwt(plainTokens.access_token)).toHaveProperty('preferred_username')
  const { logIn } = await withAttribute('client.use.lightweight.access.token.enabled', 'true')
  expect(decodeJwt((await logIn()).access_token)).not.toHaveProperty('preferred_username')
})
