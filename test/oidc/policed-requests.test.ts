// Client policies at the endpoints of a realm. The errors were compared with Keycloak, except those about the claims of request objects and of
// client assertions, and where a test describes a difference.
import { generateKeyPairSync, randomUUID } from 'node:crypto'
import { SignJWT } from 'jose'
import { describe, expect, test } from 'vitest'
import { APPLICATION, testBrowser } from '../support/browser.ts'
import { createLoginRealm } from '../support/login-realm.ts'
import { policySettings, type TestExecutor } from '../support/policed-realm.ts'
import { testServer } from '../support/server.ts'

const { app, call, create } = await testServer()

/** Creates a realm with the user Ann, and the client web with a secret and all grants. */
async function createRealm(client: object = {}) {
  const realm = await createLoginRealm(
    {},
    {
      client: {
        publicClient: false,
        secret: 's',
        directAccessGrantsEnabled: true,
        serviceAccountsEnabled: true,
        ...client,
      },
    },
  )
  const post = async (endpoint: string, form: Record<string, string>, credentials: object = { client_secret: 's' }) => {
    const { status, body } = await call('POST', `/realms/${realm.name}/protocol/openid-connect/${endpoint}`, {
      token: null,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({ client_id: 'web', ...credentials, ...form }).toString(),
    })
    return {
      status,
      body: body ?? {},
      refusal: status < 400 ? undefined : [status, body.error, body.error_description],
    }
  }
  const password = { grant_type: 'password', username: 'ann', password: 'pw', scope: 'openid' }
  return {
    ...realm,
    post,
    logIn: async (form: Record<string, string> = {}, credentials?: object) =>
      post('token', { ...password, ...form }, credentials),
    /** Opens the login page, and returns the error of the response or of the page. */
    async authorize(parameters: Record<string, string> = {}, removed: readonly string[] = []) {
      const address = new URL(realm.logInAddress(parameters).address, 'http://localhost')
      for (const name of removed) address.searchParams.delete(name)
      const page = await testBrowser(app).open(address.pathname + address.search)
      if (page.response) return [page.response.get('error'), page.response.get('error_description')]
      return page.status === 200 ? undefined : [page.status, /<p[^>]*>([^<]*)<\/p>/.exec(page.text)?.[1]]
    },
    async setPolicies(executors: readonly TestExecutor[], conditions?: readonly object[]) {
      const { status } = await call('PUT', realm.path, { body: policySettings(executors, conditions) })
      expect(status).toBe(204)
    },
  }
}

test('reject-request refuses each request of the client', async () => {
  const { name, post, logIn, authorize, setPolicies } = await createRealm()
  const { body: tokens } = await logIn()
  await setPolicies([['reject-request']])
  const refusal = [400, 'invalid_request', 'Request not allowed']
  expect((await logIn()).refusal).toEqual(refusal)
  for (const [endpoint, form] of Object.entries({
    token: { grant_type: 'refresh_token', refresh_token: tokens.refresh_token },
    'token/introspect': { token: tokens.access_token },
    revoke: { token: tokens.access_token },
    logout: { refresh_token: tokens.refresh_token },
  }))
    expect((await post(endpoint, form)).refusal, endpoint).toEqual(refusal)
  const userInfo = await call('GET', `/realms/${name}/protocol/openid-connect/userinfo`, { token: tokens.access_token })
  expect([userInfo.status, userInfo.headers['www-authenticate']]).toEqual([
    400,
    expect.stringContaining('error="invalid_request", error_description="Request not allowed"'),
  ])
  expect(await authorize()).toEqual([400, expect.stringContaining('Request not allowed')])
})

describe('an authorization request is refused', () => {
  const missing = (parameter: string) => ['invalid_request', `Missing parameter: ${parameter}`]
  test.each<[TestExecutor, object, Record<string, string>, readonly string[], readonly unknown[]]>([
    [['confidential-client'], { publicClient: true }, {}, [], ['invalid_client', 'invalid client access type: public']],
    [['pkce-enforcer'], {}, {}, ['code_challenge', 'code_challenge_method'], missing('code_challenge_method')],
    [
      ['pkce-enforcer'],
      {},
      { code_challenge_method: 'plain' },
      [],
      ['invalid_request', 'Invalid parameter: code challenge method is not matching the configured one'],
    ],
    [['secure-session'], {}, {}, ['nonce'], missing('nonce')],
    [['secure-session'], {}, { scope: 'email' }, ['state', 'nonce'], missing('state')],
    [['secure-client-uris'], {}, {}, [], ['invalid_request', 'Invalid redirect_uri']],
    [['secure-par-content'], {}, {}, [], [400, expect.stringContaining('PAR request_uri not included.')]],
    [['secure-request-object'], {}, {}, [], ['invalid_request', "Missing parameter: 'request' or 'request_uri'"]],
    [['secure-response-type'], {}, {}, [], ['invalid_request', 'invalid response_type']],
    [['dpop-bind-enforcer', { 'enforce-authorization-code-binding-to-dpop': true }], {}, {}, [], missing('dpop_jkt')],
    [
      ['secure-redirect-uris-enforcer'],
      {},
      {},
      [],
      [400, expect.stringContaining('Invalid Redirect Uri: invalid uri')],
    ],
  ])('by %o for the client %o with %o without %o', async (executor, client, parameters, removed, error) => {
    const { authorize, setPolicies } = await createRealm(client)
    expect(await authorize(parameters, removed)).toBeUndefined()
    await setPolicies([executor])
    expect(await authorize(parameters, removed)).toEqual(error)
  })
})

describe('a token request is refused', () => {
  test('by reject-ropc-grant with a password, and by no other grant', async () => {
    const { logIn, post, setPolicies } = await createRealm()
    await setPolicies([['reject-ropc-grant']])
    expect((await logIn()).refusal).toEqual([
      400,
      'invalid_grant',
      'resource owner password credentials grant is prohibited.',
    ])
    expect((await post('token', { grant_type: 'client_credentials' })).status).toBe(200)
  })

  test('by secure-client-authenticator of a client with another authenticator, at every endpoint', async () => {
    const { logIn, post, setPolicies } = await createRealm()
    const { body: tokens } = await logIn()
    await setPolicies([['secure-client-authenticator', { 'allowed-client-authenticators': ['client-jwt'] }]])
    const refusal = [400, 'invalid_request', 'Configured client authentication method not allowed for client']
    expect((await post('token', { grant_type: 'client_credentials' })).refusal).toEqual(refusal)
    expect((await post('revoke', { token: tokens.access_token })).refusal).toEqual(refusal)
    // Keycloak: accepts the password grant.
    expect((await logIn()).refusal).toEqual(refusal)
  })

  test('by confidential-client of a public client', async () => {
    const { logIn, setPolicies } = await createRealm({ publicClient: true })
    await setPolicies([['confidential-client']])
    expect((await logIn()).refusal).toEqual([400, 'invalid_client', 'invalid client access type: public'])
  })
})

test('dpop-bind-enforcer requires a proof of each request for tokens', async () => {
  const { logIn, setPolicies } = await createRealm()
  await setPolicies([['dpop-bind-enforcer']])
  expect((await logIn()).refusal).toEqual([400, 'invalid_request', 'DPoP proof is missing'])
})

test('holder-of-key-enforcer requires a client certificate', async () => {
  const { post, setPolicies } = await createRealm()
  await setPolicies([['holder-of-key-enforcer']])
  expect((await post('token', { grant_type: 'client_credentials' })).refusal).toEqual([
    400,
    'invalid_request',
    'Client Certification missing for MTLS HoK Token Binding',
  ])
})

test('secure-response-type accepts codes in signed responses', async () => {
  const { authorize, setPolicies } = await createRealm()
  await setPolicies([['secure-response-type']])
  expect(await authorize({ response_mode: 'query.jwt' })).toBeUndefined()
})

describe('secure-request-object', () => {
  const secret = 'a-secret-that-is-long-enough-for-hmac'
  const now = () => Math.floor(Date.now() / 1000)
  const request = async (claims: object, configuration: object = {}) => {
    const realm = await createRealm({ secret })
    await realm.setPolicies([['secure-request-object', configuration]])
    const address = new URL(realm.logInAddress().address, 'http://localhost')
    const { issuer } = (await call('GET', `/realms/${realm.name}/.well-known/openid-configuration`, { token: null }))
      .body
    const times = { nbf: now(), exp: now() + 60, aud: issuer }
    const object = await new SignJWT({ ...Object.fromEntries(address.searchParams), ...times, ...claims })
      .setProtectedHeader({ alg: 'HS256' })
      .sign(Buffer.from(secret))
    return realm.authorize({ request: object })
  }

  test.each<[object, object, string]>([
    [{ exp: undefined }, {}, "Missing parameter in the 'request' object: exp"],
    [{ nbf: undefined }, {}, "Missing parameter in the 'request' object: nbf"],
    [{ aud: undefined }, {}, "Missing parameter in the 'request' object: aud"],
    [{ exp: now() + 7200 }, {}, "Request's available period is long"],
    [{}, { 'available-period': '10' }, "Request's available period is long"],
    [{}, { 'encryption-required': true }, 'Request object not encrypted'],
  ])('refuses an object with %o by the configuration %o', async (claims, configuration, problem) => {
    expect(await request(claims, configuration)).toEqual(['invalid_request_object', problem])
  })

  test('accepts a signed object, and no parameters beside it', async () => {
    expect(await request({})).toBeUndefined()
    expect(await request({ nbf: undefined, exp: now() + 7200 }, { 'verify-nbf': false })).toBeUndefined()
    expect(await request({ nonce: undefined })).toEqual([
      'invalid_request',
      "All parameters must be members of the 'request' object",
    ])
  })
})

describe('a client assertion', () => {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const keys = JSON.stringify({ keys: [{ ...publicKey.export({ format: 'jwk' }), kid: 'k', use: 'sig' }] })

  async function createAssertingRealm() {
    const realm = await createRealm({
      clientAuthenticatorType: 'client-jwt',
      attributes: { 'use.jwks.string': 'true', 'jwks.string': keys },
    })
    const discovery = await call('GET', `/realms/${realm.name}/.well-known/openid-configuration`, { token: null })
    const { issuer, token_endpoint: endpoint } = discovery.body
    const request = async (alg: string, aud: string) => {
      const now = Math.floor(Date.now() / 1000)
      const claims = { iss: 'web', sub: 'web', aud, jti: randomUUID(), iat: now, exp: now + 30 }
      const assertion = await new SignJWT(claims).setProtectedHeader({ alg, kid: 'k' }).sign(privateKey)
      const { refusal } = await realm.post(
        'token',
        { grant_type: 'client_credentials' },
        {
          client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
          client_assertion: assertion,
        },
      )
      return refusal
    }
    return { ...realm, issuer, endpoint, request }
  }

  test('is refused by secure-signature-algorithm-signed-jwt with another algorithm, and required if the policy requires it', async () => {
    const { request, issuer, setPolicies } = await createAssertingRealm()
    await setPolicies([['secure-signature-algorithm-signed-jwt']])
    expect(await request('RS256', issuer)).toEqual([400, 'invalid_request', 'not allowed signature algorithm.'])
    expect(await request('PS256', issuer)).toBeUndefined()
    const other = await createRealm()
    const grant = { grant_type: 'client_credentials' }
    await other.setPolicies([['secure-signature-algorithm-signed-jwt', { 'require-client-assertion': true }]])
    expect((await other.post('token', grant)).refusal).toEqual([
      400,
      'invalid_request',
      'client assertion is required.',
    ])
    await other.setPolicies([['secure-signature-algorithm-signed-jwt']])
    expect((await other.post('token', grant)).refusal).toBeUndefined()
    // A client that authenticates otherwise may send any text.
    await other.setPolicies([['secure-signature-algorithm-signed-jwt'], ['secure-client-authentication-assertion']])
    expect((await other.post('token', { ...grant, client_assertion: 'nonsense' })).refusal?.[0]).toBe(400)
  })

  test('is refused by secure-client-authentication-assertion unless its audience is the issuer', async () => {
    const { request, issuer, endpoint, setPolicies } = await createAssertingRealm()
    await setPolicies([['secure-client-authentication-assertion']])
    expect((await request('PS256', endpoint))?.slice(0, 2)).toEqual([400, 'invalid_client'])
    expect(await request('PS256', issuer)).toBeUndefined()
  })
})

test('use-lightweight-access-token issues lightweight access tokens', async () => {
  const { logIn, setPolicies } = await createRealm()
  const readClaims = async () =>
    JSON.parse(Buffer.from((await logIn()).body.access_token.split('.')[1], 'base64url').toString())
  expect(await readClaims()).toHaveProperty('preferred_username')
  await setPolicies([['use-lightweight-access-token']])
  expect(await readClaims()).not.toHaveProperty('preferred_username')
})

describe('a condition', () => {
  const reject: readonly TestExecutor[] = [['reject-request']]
  const isRefused = (refusal: unknown) => refusal !== undefined

  test('about scopes is met by requests of an optional scope, also by its code and its refresh token', async () => {
    const realm = await createRealm()
    const scope = 'openid phone'
    const login = async (parameters: Record<string, string>) => {
      const { address, verifier } = realm.logInAddress(parameters)
      const browser = testBrowser(app)
      const page = await browser.open(address)
      const { response } = await browser.send(page, { username: 'ann', password: 'pw' })
      return {
        grant_type: 'authorization_code',
        code: response!.get('code')!,
        redirect_uri: APPLICATION,
        code_verifier: verifier,
      }
    }
    const codes = [await login({ scope }), await login({ scope: 'openid' })]
    const tokens = [(await realm.logIn({ scope })).body, (await realm.logIn()).body]
    const condition = (type: string, scopes: string[]) => ({
      condition: 'client-scopes',
      configuration: { type, scopes },
    })
    await realm.setPolicies(reject, [condition('Optional', ['phone'])])
    expect((await realm.logIn({ scope })).refusal).toBeDefined()
    expect((await realm.logIn()).refusal).toBeUndefined()
    expect(await realm.authorize({ scope })).toEqual(['invalid_request', 'Request not allowed'])
    expect(await realm.authorize()).toBeUndefined()
    const redeemed = [await realm.post('token', codes[0]!), await realm.post('token', codes[1]!)]
    expect(redeemed.map(({ refusal }) => isRefused(refusal))).toEqual([true, false])
    const refreshed = []
    for (const { refresh_token } of tokens)
      refreshed.push((await realm.post('token', { grant_type: 'refresh_token', refresh_token })).refusal)
    expect(refreshed.map(isRefused)).toEqual([true, false])
    await realm.setPolicies(reject, [condition('Default', ['email'])])
    expect((await realm.logIn()).refusal).toBeDefined()
    await realm.setPolicies(reject, [condition('Any', ['phone'])])
    expect((await realm.logIn({ scope })).refusal).toBeDefined()
    expect((await realm.logIn()).refusal).toBeUndefined()
  })

  test.each<[string, object, boolean]>([
    ['client-access-type', { type: ['confidential'] }, true],
    ['client-access-type', { type: ['public'] }, false],
    ['client-attributes', { attributes: '[{"key":"team","value":"a"}]' }, true],
    ['client-attributes', { attributes: '[{"key":"team","value":"b"}]' }, false],
    ['client-roles', { roles: ['reader'] }, true],
    ['client-roles', { roles: ['writer'] }, false],
    ['client-type', { protocol: 'openid-connect' }, true],
    ['client-type', { protocol: 'saml' }, false],
    ['grant-type', { grant_types: ['password'] }, true],
    ['grant-type', { grant_types: ['client_credentials'] }, false],
    ['client-updater-context', { 'update-client-source': ['ByAuthenticatedUser'] }, false],
    ['identity-provider-alias', { identity_provider_aliases: ['x'] }, false],
  ])('%s %o is met by a request for tokens: %s', async (condition, configuration, isMet) => {
    const { path, logIn, setPolicies } = await createRealm({ attributes: { team: 'a' } })
    const [client] = (await call('GET', `${path}/clients?clientId=web`)).body
    await create(`${path}/clients/${client.id}/roles`, { name: 'reader' })
    await setPolicies(reject, [{ condition, configuration }])
    expect(isRefused((await logIn()).refusal)).toBe(isMet)
  })

  test('acr-condition is met by authorization requests of that class', async () => {
    const { authorize, setPolicies } = await createRealm()
    await setPolicies(reject, [{ condition: 'acr-condition', configuration: { 'acr-property': 'gold' } }])
    expect(await authorize({ acr_values: 'silver gold' })).toEqual(['invalid_request', 'Request not allowed'])
    expect(await authorize({ acr_values: 'silver' })).toBeUndefined()
  })
})
