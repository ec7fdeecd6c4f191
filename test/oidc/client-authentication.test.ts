// Client authentication: its methods, and the errors when it fails. The messages were compared with Keycloak.
import { generateKeyPairSync, type KeyObject, randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { CompactSign, decodeJwt, type JWTPayload, SignJWT } from 'jose'
import { afterAll, expect, test } from 'vitest'
import { createSelfSignedCertificate } from '../../src/lib/self-signed-certificate.ts'
import { testServer } from '../support/server.ts'

const { call, create, createRealm } = await testServer()

const WRONG = 'Invalid client or Invalid client credentials'
const SECRET = 'a-secret-that-is-long-enough-for-hmac'
const TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 })
const curve = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const stranger = generateKeyPairSync('rsa', { modulusLength: 2048 })

const jwk = (kid: string, { publicKey }: { publicKey: KeyObject }) => ({
  ...publicKey.export({ format: 'jwk' }),
  kid,
  use: 'sig',
})
const keySet = JSON.stringify({ keys: [jwk('r', rsa), jwk('c', curve)] })
const withKeySet = { 'use.jwks.string': 'true', 'jwks.string': keySet }

/** Creates a realm with the client app. `ask` requests a token for its service account and describes the response. */
async function createRealmWithClient(client: object) {
  const path = await createRealm()
  const name = path.split('/').at(-1)!
  const app = await create(`${path}/clients`, { clientId: 'app', serviceAccountsEnabled: true, ...client })
  const ask = async (form: Record<string, string>, headers: Record<string, string> = {}) => {
    const response = await call('POST', `/realms/${name}/protocol/openid-connect/token`, {
      token: null,
      headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
      body: new URLSearchParams({ grant_type: 'client_credentials', ...form }).toString(),
    })
    return response.body.access_token
      ? 'token'
      : `${response.status} ${response.body.error}: ${response.body.error_description}`
  }
  const issuer = await issuerOf(name)
  const assert = async (claims: object = {}, header: object = {}, key: KeyObject | Uint8Array = rsa.privateKey) =>
    ask({ client_assertion_type: TYPE, client_assertion: await assertion(issuer, claims, header, key) })
  return { path, name, app, issuer, ask, assert }
}

const issuerOf = async (name: string): Promise<string> =>
  (await call('GET', `/realms/${name}/.well-known/openid-configuration`, { token: null })).body.issuer

const now = () => Math.floor(Date.now() / 1000)

function assertion(issuer: string, claims: object, header: object, key: KeyObject | Uint8Array): Promise<string> {
  const defaults = { iss: 'app', sub: 'app', aud: issuer, exp: now() + 30, iat: now(), jti: randomUUID() }
  return new SignJWT({ ...defaults, ...claims } as JWTPayload)
    .setProtectedHeader({ alg: 'RS256', kid: 'r', ...header })
    .sign(key)
}

test('a private key authenticates a client with a key set, a certificate or a public key', async () => {
  const until = new Date(Date.now() + 3_600_000)
  const certificate = createSelfSignedCertificate({ name: 'app', ...rsa, from: new Date(), until }).toString('base64')
  const publicKey = rsa.publicKey.export({ type: 'spki', format: 'pem' })
  const keyAttributes = [
    withKeySet,
    { 'jwt.credential.certificate': certificate },
    { 'jwt.credential.public.key': publicKey },
  ]
  for (const attributes of keyAttributes) {
    const { assert } = await createRealmWithClient({ clientAuthenticatorType: 'client-jwt', attributes })
    expect(await assert()).toBe('token')
    expect(await assert({}, { alg: 'PS256' })).toBe('token')
    expect(await assert({}, {}, stranger.privateKey)).toContain('Signature on JWT token failed validation')
  }
})

test('an invalid assertion returns its problem', async () => {
  const { issuer, ask, assert } = await createRealmWithClient({
    clientAuthenticatorType: 'client-jwt',
    attributes: withKeySet,
  })
  const endpoint = `${issuer}/protocol/openid-connect/token`
  const valid = [{ aud: endpoint }, { aud: [issuer] }, { iat: undefined }, { iat: now() - 50 }, { exp: now() + 9999 }]
  for (const claims of valid) expect(await assert(claims), JSON.stringify(claims)).toBe('token')
  expect(await assert({}, { alg: 'ES256', kid: 'c' }, curve.privateKey)).toBe('token')

  const invalid: [claims: object, message: string][] = [
    [{ aud: 'https://other.example.org' }, 'Invalid token audience'],
    [{ aud: undefined }, 'Invalid token audience'],
    [{ aud: [issuer, 'https://other.example.org'] }, 'Multiple audiences not allowed'],
    [{ exp: undefined }, 'Token exp claim is required'],
    [{ exp: now() - 1 }, 'Token is not active'],
    [{ nbf: now() + 60 }, 'Token is not active'],
    [{ iat: now() + 60 }, 'Token was issued in the future'],
    [{ iat: now() - 100 }, 'Token was issued too far in the past to be used now'],
    [
      { exp: now() + 9999, iat: undefined },
      'Token expiration is too far in the future and iat claim not present in token',
    ],
    [{ jti: undefined }, 'Token jti claim is required'],
  ]
  for (const [claims, message] of invalid) expect(await assert(claims)).toBe(`400 invalid_client: ${message}`)
  expect(await assert({}, { kid: 'unknown' })).toBe('400 invalid_client: Unable to load public key')
  expect(await assert({}, { alg: 'HS256' }, Buffer.from(SECRET))).toBe(
    '400 invalid_client: Invalid signature algorithm',
  )
  for (const claims of [{ sub: 'nobody', iss: 'nobody' }, { iss: 'another' }, { sub: undefined }])
    expect(await assert(claims)).toBe(`401 invalid_client: ${WRONG}`)

  const text = await assertion(issuer, {}, {}, rsa.privateKey)
  const unsigned = text.replace(/^[^.]+/, Buffer.from('{"alg":"none"}').toString('base64url'))
  const form = { client_assertion_type: TYPE, client_assertion: unsigned }
  expect(await ask(form)).toBe('400 invalid_client: Invalid signature algorithm')
  expect(await ask({ ...form, client_id: 'other' })).toBe(`401 invalid_client: ${WRONG}`)
  expect(await ask({ client_id: 'app' })).toBe('400 invalid_client: Parameter client_assertion_type is missing')
  expect(await ask({ client_id: 'app', client_assertion_type: TYPE })).toContain('client_assertion parameter missing')
  expect(await ask({ client_id: 'app', client_assertion_type: 'x' })).toContain(`but expected is '${TYPE}'`)
})

test('events contain the assertion of a client and the reason for a refusal', async () => {
  const { path, assert } = await createRealmWithClient({
    clientAuthenticatorType: 'client-jwt',
    attributes: withKeySet,
  })
  await call('PUT', `${path}/events/config`, { body: { eventsEnabled: true } })
  await assert({ jti: 'first' })
  await assert({ jti: 'first' })
  await assert({ sub: 'nobody', iss: 'nobody', jti: 'second' })
  const events = (await call('GET', `${path}/events`)).body as { type: string; details: Record<string, string> }[]
  const details = { client_assertion_issuer: 'app', client_assertion_sub: 'app', client_assertion_id: 'first' }
  expect(events).toMatchObject([
    { type: 'CLIENT_LOGIN_ERROR', error: 'client_not_found', details: { client_assertion_sub: 'nobody' } },
    { type: 'CLIENT_LOGIN_ERROR', error: 'invalid_client_credentials', clientId: 'app', details: details },
    { type: 'CLIENT_LOGIN', details: { ...details, client_auth_method: 'client-jwt', client_jwt_kid: 'r' } },
  ])
  expect(events[0]).not.toHaveProperty('clientId')
})

test('claims that cannot be stored or have the wrong type are refused', async () => {
  const { issuer, ask, assert } = await createRealmWithClient({
    clientAuthenticatorType: 'client-jwt',
    attributes: withKeySet,
  })
  const odd = { exp: 'soon', iat: 'now', nbf: 'then', jti: 5, aud: 5, sub: 5, iss: 5 }
  const text = await assertion(issuer, {}, {}, rsa.privateKey)
  for (const [name, value] of Object.entries(odd)) {
    const claims = JSON.stringify({ ...decodeJwt(text), [name]: value })
    const signed = await new CompactSign(Buffer.from(claims))
      .setProtectedHeader({ alg: 'RS256', kid: 'r' })
      .sign(rsa.privateKey)
    expect(await ask({ client_assertion_type: TYPE, client_assertion: signed }), name).toMatch(/^40[01] invalid_client/)
  }
  expect(await assert({ jti: 'a\0b' })).toBe('400 invalid_client: Token jti claim is required')
  expect(await assert({ sub: 'a\0b', iss: 'a\0b' })).toBe(`401 invalid_client: ${WRONG}`)
})

test('a client accepts only its configured signature algorithm', async () => {
  const attributes = { ...withKeySet, 'token.endpoint.auth.signing.alg': 'ES256' }
  const { assert } = await createRealmWithClient({ clientAuthenticatorType: 'client-jwt', attributes })
  expect(await assert()).toBe('400 invalid_client: Invalid signature algorithm')
  expect(await assert({}, { alg: 'ES256', kid: 'c' }, curve.privateKey)).toBe('token')
})

test('an assertion is accepted once, even if it is sent several times at once', async () => {
  const { issuer, ask } = await createRealmWithClient({ clientAuthenticatorType: 'client-jwt', attributes: withKeySet })
  const text = await assertion(issuer, {}, {}, rsa.privateKey)
  const requests = Array.from({ length: 5 }, () => ask({ client_assertion_type: TYPE, client_assertion: text }))
  const answers = await Promise.all(requests)
  expect(answers.filter((result) => result === 'token')).toHaveLength(1)
  expect(answers.filter((result) => result === '400 invalid_client: Token reuse detected')).toHaveLength(4)
})

const served = { keys: keySet, times: 0 }
const host = createServer((_request, response) => {
  served.times += 1
  response.setHeader('content-type', 'application/json').end(served.keys)
})
await new Promise<void>((ready) => host.listen(0, '127.0.0.1', ready))
afterAll(() => host.close())

test('keys are fetched from the JWKS URL of a client, and cached until the cache is cleared', async () => {
  const address = `http://127.0.0.1:${(host.address() as AddressInfo).port}`
  const attributes = { 'use.jwks.url': 'true', 'jwks.url': '/jwks' }
  const client = { clientAuthenticatorType: 'client-jwt', rootUrl: address, attributes }
  const { path, assert } = await createRealmWithClient(client)
  expect([await assert(), await assert()]).toEqual(['token', 'token'])
  expect(served.times).toBe(1)
  served.keys = JSON.stringify({ keys: [jwk('newer', stranger)] })
  const newer = () => assert({}, { kid: 'newer' }, stranger.privateKey)
  // An unknown key does not cause another request.
  expect(await newer()).toBe('400 invalid_client: Unable to load public key')
  expect(served.times).toBe(1)
  expect((await call('POST', `${path}/clear-keys-cache`)).status).toBe(204)
  expect([await newer(), served.times]).toEqual(['token', 2])

  const nowhere = { ...attributes, 'jwks.url': 'http://127.0.0.1:1/jwks' }
  const dead = await createRealmWithClient({ clientAuthenticatorType: 'client-jwt', attributes: nowhere })
  expect(await dead.assert()).toBe('400 invalid_client: Unable to load public key')
})

test('a client secret signs assertions', async () => {
  const { ask, assert } = await createRealmWithClient({ clientAuthenticatorType: 'client-secret-jwt', secret: SECRET })
  for (const alg of ['HS256', 'HS384', 'HS512']) expect(await assert({}, { alg }, Buffer.from(SECRET))).toBe('token')
  for (const [header, key] of [
    [{ alg: 'HS256' }, Buffer.from(`${SECRET}.`)],
    [{}, rsa.privateKey],
  ] as const)
    expect(await assert({}, header, key)).toMatch(/^400 unauthorized_client: .*failed validation$/)
  expect(await ask({ client_id: 'app', client_secret: SECRET })).toContain('client_assertion_type is missing')
})

test('a renewed secret is valid at once, and the previous one until the rotation policy expires it', async () => {
  const path = await createRealm()
  const configuration = { 'expiration-period': 1000, 'rotated-expiration-period': 500 }
  const profile = { name: 'rotating', executors: [{ executor: 'secret-rotation', configuration }] }
  await call('PUT', `${path}/client-policies/profiles`, { body: { profiles: [profile] } })
  const conditions = [{ condition: 'any-client', configuration: {} }]
  const policies = [{ name: 'rotate', enabled: true, conditions, profiles: ['rotating'] }]
  await call('PUT', `${path}/client-policies/policies`, { body: { policies } })
  const client = { clientId: 'app', serviceAccountsEnabled: true, secret: SECRET }
  const app = await create(`${path}/clients`, client)
  const ask = (client_secret: string) =>
    call('POST', `/realms/${path.split('/').at(-1)}/protocol/openid-connect/token`, {
      token: null,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({ grant_type: 'client_credentials', client_id: 'app', client_secret }).toString(),
    })
  const renewed = (await call('POST', `${app}/client-secret`)).body.value
  expect([(await ask(SECRET)).status, (await ask(renewed)).status]).toEqual([200, 200])
  const { attributes } = (await call('GET', app)).body
  expect(attributes['client.secret.rotated.creation.time']).toMatch(/^\d+$/)
  const over = { ...attributes, 'client.secret.rotated.expiration.time': String(now() - 1) }
  await call('PUT', app, { body: { attributes: over } })
  expect([(await ask(SECRET)).status, (await ask(renewed)).status]).toEqual([401, 200])

  // An expired secret is not accepted, and the next change of the client renews it.
  await call('PUT', `${path}/client-policies/policies`, { body: { policies: [] } })
  await call('PUT', app, { body: { attributes: { 'client.secret.expiration.time': String(now() - 1) } } })
  expect((await ask(renewed)).status).toBe(401)
  await call('PUT', `${path}/client-policies/policies`, { body: { policies } })
  await call('PUT', app, { body: { description: 'renewed' } })
  const { value } = (await call('GET', `${app}/client-secret`)).body
  expect([value === renewed, (await ask(value)).status]).toEqual([false, 200])
})

test("the realm's client authentication flow decides which methods clients may use", async () => {
  const { path, ask, app } = await createRealmWithClient({ secret: SECRET })
  const secret = { client_id: 'app', client_secret: SECRET }
  expect(await ask(secret)).toBe('token')
  const steps = `${path}/authentication/flows/clients/executions`
  const set = async (provider: string, requirement: string) => {
    const list = (await call('GET', steps)).body as { providerId: string }[]
    const step = list.find(({ providerId }) => providerId === provider)
    await call('PUT', steps, { body: { ...step, requirement } })
  }
  await set('client-secret', 'DISABLED')
  expect(await ask(secret)).toBe(`401 invalid_client: ${WRONG}`)
  await set('client-secret', 'ALTERNATIVE')
  await set('client-jwt', 'REQUIRED')
  expect(await ask(secret)).toBe(`401 invalid_client: ${WRONG}`)
  await set('client-jwt', 'ALTERNATIVE')
  expect(await ask(secret)).toBe('token')
  await call('PUT', app, { body: { clientAuthenticatorType: 'federated-jwt' } })
  expect(await ask(secret)).toBe(`401 invalid_client: ${WRONG}`)
})

test('a duplicate form parameter is refused, and form parameters take precedence over the header', async () => {
  const { name, ask } = await createRealmWithClient({ secret: SECRET })
  const basic = (text: string) => ({ authorization: `Basic ${Buffer.from(text).toString('base64')}` })
  expect(await ask({}, basic(`app:${SECRET}`))).toBe('token')
  expect(await ask({ client_secret: 'wrong' }, basic(`app:${SECRET}`))).toBe(`401 unauthorized_client: ${WRONG}`)
  expect(await ask({ client_id: 'app', client_secret: SECRET }, basic('nobody:x'))).toBe('token')
  expect(await ask({}, basic('no colon'))).toBe(`401 invalid_client: ${WRONG}`)
  const twice = await call('POST', `/realms/${name}/protocol/openid-connect/token`, {
    token: null,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: `grant_type=client_credentials&client_id=app&client_id=app&client_secret=${SECRET}`,
  })
  expect([twice.status, twice.body.error_description]).toEqual([400, 'duplicated parameter'])
})

test('a client with one allowed method cannot send its secret in the other way', async () => {
  const basic = { authorization: `Basic ${Buffer.from('app:s').toString('base64')}` }
  const form = { client_id: 'app', client_secret: 's' }
  const answers = async (method: string) => {
    const attributes = { 'client.secret.authentication.allowed.method': method }
    const { ask } = await createRealmWithClient({ secret: 's', attributes })
    return [await ask(form), await ask({}, basic)]
  }
  expect(await answers('client_secret_post')).toEqual(['token', expect.stringContaining('unauthorized_client')])
  expect(await answers('client_secret_basic')).toEqual([expect.stringContaining('unauthorized_client'), 'token'])
  expect(await answers('')).toEqual(['token', 'token'])
})
