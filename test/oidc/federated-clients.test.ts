// Clients that authenticate by assertions of an identity provider: a pipeline, or a service account of Kubernetes. Compared with Keycloak.
import { generateKeyPairSync } from 'node:crypto'
import { expect, test } from 'vitest'
import { type AssertionClaims, federatedClient, openAssertionIssuer } from '../support/assertion-issuer.ts'
import { openProtectedServers } from '../support/protected-realm.ts'

const { createRealm, pass } = await openProtectedServers()
const issuer = await openAssertionIssuer()

const WRONG = '401 invalid_client: Invalid client or Invalid client credentials'
const TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'
const SUBJECT = 'repo:acme/realms:ref:refs/heads/main'
const stranger = generateKeyPairSync('rsa', { modulusLength: 2048 })
const now = () => Math.floor(Date.now() / 1000)

/** Creates a realm with the client `pipeline`, whose assertions the issuer signs. `ask` sends an assertion, and describes the response. */
async function createPipelineRealm(config: object = {}, fields: object = {}) {
  const realm = await createRealm()
  const provider = { ...issuer.provider, ...fields, config: { ...issuer.provider.config, ...config } }
  const created = await realm.call('POST', '/identity-provider/instances', provider)
  expect([created.status, created.body]).toEqual([201, ''])
  await realm.call('POST', '/clients', federatedClient('pipeline', SUBJECT))
  const send = async (form: Record<string, string>, { isOther = false } = {}) => {
    const { status, body } = await realm.post('token', { grant_type: 'client_credentials', ...form }, { isOther })
    return body.access_token ? 'token' : `${status} ${body.error}: ${body.error_description}`
  }
  const ask = (text: string, more: Record<string, string> = {}, options = {}) =>
    send({ client_assertion_type: TYPE, client_assertion: text, ...more }, options)
  const sign = (claims: AssertionClaims = {}, ...rest: [header?: object, key?: Parameters<typeof issuer.sign>[2]]) =>
    issuer.sign({ sub: SUBJECT, aud: realm.issuer, ...claims }, ...rest)
  const assert = async (...parameters: Parameters<typeof sign>) => ask(await sign(...parameters))
  const change = (changed: object, more: object = {}) =>
    realm.call('PUT', '/identity-provider/instances/ci', {
      ...provider,
      ...more,
      config: { ...provider.config, ...changed },
    })
  return { ...realm, ask, send, sign, assert, change }
}

test('the assertion of an identity provider about a subject authenticates its client', async () => {
  const { ask, sign, assert, post, issuer: audience } = await createPipelineRealm()
  expect(await assert()).toBe('token')
  expect(await assert({ aud: [audience] })).toBe('token')
  expect(await assert({ iat: undefined })).toBe('token')
  expect(await assert({}, { kid: undefined })).toBe('token')
  expect(await ask(await sign(), { client_id: 'pipeline' })).toBe('token')
  const form = { client_assertion_type: TYPE, client_assertion: await sign(), token: 'none' }
  expect((await post('token/introspect', form)).body).toEqual({ active: false })
})

test('an assertion that has expired, is too old or not yet valid is refused', async () => {
  const { assert } = await createPipelineRealm()
  const invalid: [claims: AssertionClaims, message: string][] = [
    [{ exp: now() - 1 }, 'Token is not active'],
    [{ nbf: now() + 60 }, 'Token is not active'],
    [{ exp: undefined }, 'Token exp claim is required'],
    [{ iat: now() + 60 }, 'Token was issued in the future'],
    [{ iat: now() - 400 }, 'Token was issued too far in the past to be used now'],
    [
      { iat: undefined, exp: now() + 400 },
      'Token expiration is too far in the future and iat claim not present in token',
    ],
  ]
  for (const [claims, message] of invalid) expect(await assert(claims)).toBe(`400 invalid_client: ${message}`)
})

test('an assertion for another audience, or for several, is refused', async () => {
  const { assert, issuer: audience, protocol } = await createPipelineRealm()
  for (const aud of ['https://other.example.org', `${protocol}/token`, undefined])
    expect(await assert({ aud })).toBe('400 invalid_client: Invalid token audience')
  expect(await assert({ aud: [audience, 'https://other.example.org'] })).toBe(
    '400 invalid_client: Multiple audiences not allowed',
  )
})

test('an assertion is accepted once, on every server', async () => {
  const { ask, sign, assert } = await createPipelineRealm()
  const text = await sign()
  expect(await ask(text)).toBe('token')
  for (const isOther of [true, false])
    expect(await ask(text, {}, { isOther })).toBe('400 invalid_client: Token reuse detected')
  expect(await assert({ jti: undefined })).toBe('400 invalid_client: Token jti claim is required')
  const responses = await sign().then((other) => Promise.all(Array.from({ length: 5 }, () => ask(other))))
  expect(responses.filter((text) => text === 'token')).toHaveLength(1)
})

test('an assertion of another issuer, about another subject, or without either is refused', async () => {
  const { assert, call, ask, sign } = await createPipelineRealm()
  const foreign = [
    { sub: 'repo:acme/realms:pull_request' },
    { sub: undefined },
    { iss: 'https://other.example.org' },
    { iss: undefined },
    { iss: SUBJECT },
    { sub: 'a\0b' },
  ]
  for (const claims of foreign) expect(await assert(claims), JSON.stringify(claims)).toBe(WRONG)
  expect(await ask('text')).toBe(WRONG)
  expect(await ask('text', { client_id: 'pipeline' })).toBe(WRONG)
  expect(await ask(await sign(), { client_assertion_type: 'other' })).toBe(WRONG)
  await call('POST', '/clients', federatedClient('same', SUBJECT))
  expect(await assert()).toBe(WRONG)
})

test('a client of an identity provider authenticates neither without an assertion nor by that of another client', async () => {
  const { ask, send, sign, call } = await createPipelineRealm()
  await call('POST', '/clients', federatedClient('other', 'other'))
  expect(await send({ client_id: 'pipeline' })).toBe(WRONG)
  expect(await send({ client_id: 'pipeline', client_secret: 'secret' })).toBe(WRONG)
  expect(await ask(await sign(), { client_id: 'other' })).toBe(
    '400 invalid_client: client_id parameter does not match authenticated client',
  )
  expect(await ask(await sign(), { client_id: 'server' })).toContain('401 unauthorized_client')
  expect(await ask(await sign(), { client_id: 'web' })).not.toBe('token')
})

test('a client that is disabled, public or of another authenticator is not authenticated by an assertion', async () => {
  const { assert, call } = await createPipelineRealm()
  const clients: [subject: string, client: object][] = [
    ['disabled', { enabled: false }],
    ['public', { publicClient: true, serviceAccountsEnabled: false }],
    ['secret', { clientAuthenticatorType: 'client-secret', secret: 'secret' }],
    ['unknown', { attributes: { 'jwt.credential.issuer': 'none', 'jwt.credential.sub': 'unknown' } }],
  ]
  for (const [subject, client] of clients) {
    await call('POST', '/clients', { ...federatedClient(subject, subject), ...client })
    expect([subject, await assert({ sub: subject })]).toEqual([subject, WRONG])
  }
})

test('an assertion without a valid signature of the issuer is refused', async () => {
  const { assert, ask, sign } = await createPipelineRealm()
  expect(await assert({}, {}, stranger.privateKey)).toBe(WRONG)
  expect(await assert({}, { kid: 'other' })).toBe(WRONG)
  expect(await assert({}, { alg: 'HS256' }, Buffer.from('a-secret-that-is-long-enough-for-hmac'))).toBe(
    '400 invalid_client: Invalid signature algorithm',
  )
  const [, claims] = (await sign()).split('.')
  for (const alg of ['none', 'None'])
    expect(await ask(`${Buffer.from(JSON.stringify({ alg })).toString('base64url')}.${claims}.`)).toBe(
      '400 invalid_client: Invalid signature algorithm',
    )
})

test('a rotated key is fetched, the former one is refused, and unknown keys cause no further request', async () => {
  const rotating = await openAssertionIssuer()
  const { assert, change, call, issuer: audience, ask } = await createPipelineRealm(rotating.provider.config)
  const signed = () => rotating.sign({ sub: SUBJECT, aud: audience })
  const before = await signed()
  expect([await ask(await signed()), await ask(await signed())]).toEqual(['token', 'token'])
  expect(rotating.countRequests()).toBe(1)
  rotating.rotateKey()
  expect([await ask(await signed()), rotating.countRequests()]).toEqual([WRONG, 1])
  expect((await call('POST', '/clear-keys-cache')).status).toBe(204)
  expect([await ask(await signed()), await ask(before)]).toEqual(['token', WRONG])
  expect(rotating.countRequests()).toBe(2)
  await change({ ...rotating.provider.config, jwksUrl: 'http://127.0.0.1:1/keys' })
  expect(await assert({ iss: rotating.url })).toBe(WRONG)
})

test('a provider may have a public key instead of a key set', async () => {
  const publicKeySignatureVerifier = String(stranger.publicKey.export({ type: 'spki', format: 'pem' }))
  const { assert, change } = await createPipelineRealm({ useJwksUrl: 'false', publicKeySignatureVerifier })
  expect([await assert({}, {}, stranger.privateKey), await assert()]).toEqual(['token', WRONG])
  await change({ publicKeySignatureVerifierKeyId: 'named' })
  expect(await assert({}, {}, stranger.privateKey)).toBe(WRONG)
  expect(await assert({}, { kid: 'named' }, stranger.privateKey)).toBe('token')
  await change({ publicKeySignatureVerifier: 'none' })
  expect(await assert({}, { kid: 'named' }, stranger.privateKey)).toBe(WRONG)
})

test('an identity provider that is disabled or does not support client assertions authenticates no client', async () => {
  const { assert, change } = await createPipelineRealm()
  await change({ supportsClientAssertions: 'false' })
  expect(await assert()).toBe(WRONG)
  await change({}, { enabled: false })
  expect(await assert()).toBe(WRONG)
  await change({})
  expect(await assert()).toBe('token')
})

test('settings of the provider permit reuse, an older assertion, a clock difference and its own client id as audience', async () => {
  const { assert, change } = await createPipelineRealm({ supportsClientAssertionReuse: 'true' })
  for (const jti of ['one', 'one', undefined]) expect(await assert({ jti })).toBe('token')
  await change({ fedClientAssertionMaxExp: '1000' })
  expect(await assert({ iat: now() - 400 })).toBe('token')
  expect(await assert({ iat: now() - 1100 })).toContain('too far in')
  await change({ fedClientAssertionMaxExp: '10' })
  expect(await assert({ iat: now() - 20 })).toContain('too far in')
  await change({ allowedClockSkew: '30' })
  expect(await assert({ iat: now() + 20 })).toBe('token')
  await change({ clientId: 'regent', allowClientIdAsAudience: 'true' })
  expect(await assert({ aud: 'regent' })).toBe('token')
  expect(await assert()).toBe('400 invalid_client: Invalid token audience')
})

test('a token of a service account of Kubernetes authenticates a client until it expires', async () => {
  const cluster = await openAssertionIssuer()
  const config = { issuer: cluster.url }
  const { ask, issuer: audience, call } = await createRealmOfCluster(config)
  const sign = (claims: AssertionClaims = {}) =>
    cluster.sign({
      sub: 'system:serviceaccount:ci:regent',
      aud: [audience],
      exp: now() + 3600,
      jti: undefined,
      ...claims,
    })
  const text = await sign()
  for (const _use of [1, 2]) expect(await ask(text)).toBe('token')
  expect(await ask(await sign({ iat: now() - 1800 }))).toBe('token')
  expect(await ask(await sign({ iat: now() - 4000 }))).toContain('too far in')
  expect(await ask(await sign({ aud: [audience, 'https://other.example.org'] }))).toContain('Multiple audiences')
  expect(await ask(await sign({ sub: 'system:serviceaccount:other:regent' }))).toBe(WRONG)
  // The discovery document, and the keys that it names.
  expect(cluster.countRequests()).toBe(2)
  await call('DELETE', '/identity-provider/instances/cluster')
  expect(await ask(await sign())).toBe(WRONG)
})

async function createRealmOfCluster(config: object) {
  const realm = await createPipelineRealm()
  const provider = { alias: 'cluster', providerId: 'kubernetes', enabled: true, config }
  expect((await realm.call('POST', '/identity-provider/instances', provider)).status).toBe(201)
  await realm.call('POST', '/clients', federatedClient('job', 'system:serviceaccount:ci:regent', 'cluster'))
  return realm
}

test('events name the subject of the assertion and the authenticator', async () => {
  const { assert, call } = await createPipelineRealm()
  await call('PUT', '/events/config', { eventsEnabled: true })
  await assert()
  await assert({ sub: 'other' })
  await assert({ exp: now() - 1 })
  const details = { client_assertion_issuer: issuer.url, client_assertion_sub: SUBJECT }
  expect((await call('GET', '/events')).body).toMatchObject([
    { type: 'CLIENT_LOGIN_ERROR', clientId: 'pipeline', error: 'invalid_client_credentials', details },
    { type: 'CLIENT_LOGIN_ERROR', error: 'client_not_found', details: { client_assertion_sub: 'other' } },
    { type: 'CLIENT_LOGIN', clientId: 'pipeline', details: { ...details, client_auth_method: 'federated-jwt' } },
  ])
})

test('an assertion expires by the clock of the server', async () => {
  const { ask, sign } = await createPipelineRealm()
  const text = await sign()
  pass(301)
  expect(await ask(text)).toBe('400 invalid_client: Token is not active')
  pass(-301)
})
