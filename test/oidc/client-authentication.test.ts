// How clients prove who they are, and what is said of those that do not. The words were compared with the reference server's.
import { generateKeyPairSync, type KeyObject, randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { CompactSign, decodeJwt, type JWTPayload, SignJWT } from 'jose'
import { afterAll, expect, test } from 'vitest'
import { selfSigned } from '../../src/lib/self-signed.ts'
import { testServer } from '../support/server.ts'

const { call, make, realm } = await testServer()

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
const inPlace = { 'use.jwks.string': 'true', 'jwks.string': keySet }

/** A realm with a client called app; gives what asks for a token of that client's own account. */
async function realmWith(client: object) {
  const path = await realm()
  const name = path.split('/').at(-1)!
  const app = await make(`${path}/clients`, { clientId: 'app', serviceAccountsEnabled: true, ...client })
  const ask = async (form: Record<string, string>, headers: Record<string, string> = {}) => {
    const answer = await call('POST', `/realms/${name}/protocol/openid-connect/token`, {
      token: null,
      headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
      body: new URLSearchParams({ grant_type: 'client_credentials', ...form }).toString(),
    })
    return answer.body.access_token
      ? 'token'
      : `${answer.status} ${answer.body.error}: ${answer.body.error_description}`
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
  const usual = { iss: 'app', sub: 'app', aud: issuer, exp: now() + 30, iat: now(), jti: randomUUID() }
  return new SignJWT({ ...usual, ...claims } as JWTPayload)
    .setProtectedHeader({ alg: 'RS256', kid: 'r', ...header })
    .sign(key)
}

test('a private key proves a client, whether its public half is kept in a key set, a certificate or alone', async () => {
  const until = new Date(Date.now() + 3_600_000)
  const certificate = selfSigned('app', rsa, new Date(), until).toString('base64')
  const publicKey = rsa.publicKey.export({ type: 'spki', format: 'pem' })
  const kept = [inPlace, { 'jwt.credential.certificate': certificate }, { 'jwt.credential.public.key': publicKey }]
  for (const attributes of kept) {
    const { assert } = await realmWith({ clientAuthenticatorType: 'client-jwt', attributes })
    expect(await assert()).toBe('token')
    expect(await assert({}, { alg: 'PS256' })).toBe('token')
    expect(await assert({}, {}, stranger.privateKey)).toContain('Signature on JWT token failed validation')
  }
})

test('what is wrong with an assertion is said', async () => {
  const { issuer, ask, assert } = await realmWith({ clientAuthenticatorType: 'client-jwt', attributes: inPlace })
  const endpoint = `${issuer}/protocol/openid-connect/token`
  const right = [{ aud: endpoint }, { aud: [issuer] }, { iat: undefined }, { iat: now() - 50 }, { exp: now() + 9999 }]
  for (const claims of right) expect(await assert(claims), JSON.stringify(claims)).toBe('token')
  expect(await assert({}, { alg: 'ES256', kid: 'c' }, curve.privateKey)).toBe('token')

  const wrong: [claims: object, why: string][] = [
    [{ aud: 'https://elsewhere.example.org' }, 'Invalid token audience'],
    [{ aud: undefined }, 'Invalid token audience'],
    [{ aud: [issuer, 'https://elsewhere.example.org'] }, 'Multiple audiences not allowed'],
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
  for (const [claims, why] of wrong) expect(await assert(claims)).toBe(`400 invalid_client: ${why}`)
  expect(await assert({}, { kid: 'unknown' })).toBe('400 invalid_client: Unable to load public key')
  expect(await assert({}, { alg: 'HS256' }, Buffer.from(SECRET))).toBe(
    '400 invalid_client: Invalid signature algorithm',
  )
  for (const claims of [{ sub: 'nobody', iss: 'nobody' }, { iss: 'somebody' }, { sub: undefined }])
    expect(await assert(claims)).toBe(`401 invalid_client: ${WRONG}`)

  const text = await assertion(issuer, {}, {}, rsa.privateKey)
  const unsigned = text.replace(/^[^.]+/, Buffer.from('{"alg":"none"}').toString('base64url'))
  const stated = { client_assertion_type: TYPE, client_assertion: unsigned }
  expect(await ask(stated)).toBe('400 invalid_client: Invalid signature algorithm')
  expect(await ask({ ...stated, client_id: 'other' })).toBe(`401 invalid_client: ${WRONG}`)
  expect(await ask({ client_id: 'app' })).toBe('400 invalid_client: Parameter client_assertion_type is missing')
  expect(await ask({ client_id: 'app', client_assertion_type: TYPE })).toContain('client_assertion parameter missing')
  expect(await ask({ client_id: 'app', client_assertion_type: 'x' })).toContain(`but expected is '${TYPE}'`)
})

test('events tell what a client has shown, and why it was not enough', async () => {
  const { path, assert } = await realmWith({ clientAuthenticatorType: 'client-jwt', attributes: inPlace })
  await call('PUT', `${path}/events/config`, { body: { eventsEnabled: true } })
  await assert({ jti: 'first' })
  await assert({ jti: 'first' })
  await assert({ sub: 'nobody', iss: 'nobody', jti: 'second' })
  const told = (await call('GET', `${path}/events`)).body as { type: string; details: Record<string, string> }[]
  const shown = { client_assertion_issuer: 'app', client_assertion_sub: 'app', client_assertion_id: 'first' }
  expect(told).toMatchObject([
    { type: 'CLIENT_LOGIN_ERROR', error: 'client_not_found', details: { client_assertion_sub: 'nobody' } },
    { type: 'CLIENT_LOGIN_ERROR', error: 'invalid_client_credentials', clientId: 'app', details: shown },
    { type: 'CLIENT_LOGIN', details: { ...shown, client_auth_method: 'client-jwt', client_jwt_kid: 'r' } },
  ])
  expect(told[0]).not.toHaveProperty('clientId')
})

test('what a database cannot keep, or is of the wrong type, proves nothing', async () => {
  const { issuer, ask, assert } = await realmWith({ clientAuthenticatorType: 'client-jwt', attributes: inPlace })
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

test('a client may hold itself to one algorithm', async () => {
  const attributes = { ...inPlace, 'token.endpoint.auth.signing.alg': 'ES256' }
  const { assert } = await realmWith({ clientAuthenticatorType: 'client-jwt', attributes })
  expect(await assert()).toBe('400 invalid_client: Invalid signature algorithm')
  expect(await assert({}, { alg: 'ES256', kid: 'c' }, curve.privateKey)).toBe('token')
})

test('an assertion counts once, also when it comes several times at once', async () => {
  const { issuer, ask } = await realmWith({ clientAuthenticatorType: 'client-jwt', attributes: inPlace })
  const text = await assertion(issuer, {}, {}, rsa.privateKey)
  const asked = Array.from({ length: 5 }, () => ask({ client_assertion_type: TYPE, client_assertion: text }))
  const answers = await Promise.all(asked)
  expect(answers.filter((one) => one === 'token')).toHaveLength(1)
  expect(answers.filter((one) => one === '400 invalid_client: Token reuse detected')).toHaveLength(4)
})

const served = { keys: keySet, times: 0 }
const host = createServer((_request, response) => {
  served.times += 1
  response.setHeader('content-type', 'application/json').end(served.keys)
})
await new Promise<void>((ready) => host.listen(0, '127.0.0.1', ready))
afterAll(() => host.close())

test('keys are fetched from the address of a client, and kept until they are to be forgotten', async () => {
  const address = `http://127.0.0.1:${(host.address() as AddressInfo).port}`
  const attributes = { 'use.jwks.url': 'true', 'jwks.url': '/jwks' }
  const client = { clientAuthenticatorType: 'client-jwt', rootUrl: address, attributes }
  const { path, assert } = await realmWith(client)
  expect([await assert(), await assert()]).toEqual(['token', 'token'])
  expect(served.times).toBe(1)
  served.keys = JSON.stringify({ keys: [jwk('newer', stranger)] })
  const newer = () => assert({}, { kid: 'newer' }, stranger.privateKey)
  // Whoever names keys that do not exist does not make the server ask again and again.
  expect(await newer()).toBe('400 invalid_client: Unable to load public key')
  expect(served.times).toBe(1)
  expect((await call('POST', `${path}/clear-keys-cache`)).status).toBe(204)
  expect([await newer(), served.times]).toEqual(['token', 2])

  const nowhere = { ...attributes, 'jwks.url': 'http://127.0.0.1:1/jwks' }
  const dead = await realmWith({ clientAuthenticatorType: 'client-jwt', attributes: nowhere })
  expect(await dead.assert()).toBe('400 invalid_client: Unable to load public key')
})

test('a secret signs assertions', async () => {
  const { ask, assert } = await realmWith({ clientAuthenticatorType: 'client-secret-jwt', secret: SECRET })
  for (const alg of ['HS256', 'HS384', 'HS512']) expect(await assert({}, { alg }, Buffer.from(SECRET))).toBe('token')
  for (const [header, key] of [
    [{ alg: 'HS256' }, Buffer.from(`${SECRET}.`)],
    [{}, rsa.privateKey],
  ] as const)
    expect(await assert({}, header, key)).toMatch(/^400 unauthorized_client: .*failed validation$/)
  expect(await ask({ client_id: 'app', client_secret: SECRET })).toContain('client_assertion_type is missing')
})

test('a renewed secret counts at once; the one before while a policy of the realm says so, and it lasts', async () => {
  const path = await realm()
  const configuration = { 'expiration-period': 1000, 'rotated-expiration-period': 500 }
  const profile = { name: 'rotating', executors: [{ executor: 'secret-rotation', configuration }] }
  await call('PUT', `${path}/client-policies/profiles`, { body: { profiles: [profile] } })
  const conditions = [{ condition: 'any-client', configuration: {} }]
  const policies = [{ name: 'rotate', enabled: true, conditions, profiles: ['rotating'] }]
  await call('PUT', `${path}/client-policies/policies`, { body: { policies } })
  const client = { clientId: 'app', serviceAccountsEnabled: true, secret: SECRET }
  const app = await make(`${path}/clients`, client)
  const ask = (client_secret: string) =>
    call('POST', `/realms/${path.split('/').at(-1)}/protocol/openid-connect/token`, {
      token: null,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({ grant_type: 'client_credentials', client_id: 'app', client_secret }).toString(),
    })
  const renewed = (await call('POST', `${app}/client-secret`)).body.value
  expect([(await ask(SECRET)).status, (await ask(renewed)).status]).toEqual([200, 200])
  const { attributes } = (await call('GET', app)).body
  const over = { ...attributes, 'client.secret.rotated.expiration.time': String(now() - 1) }
  await call('PUT', app, { body: { attributes: over } })
  expect([(await ask(SECRET)).status, (await ask(renewed)).status]).toEqual([401, 200])

  // A secret that is over is no secret, and the next change of the client renews it.
  await call('PUT', `${path}/client-policies/policies`, { body: { policies: [] } })
  await call('PUT', app, { body: { attributes: { 'client.secret.expiration.time': String(now() - 1) } } })
  expect((await ask(renewed)).status).toBe(401)
  await call('PUT', `${path}/client-policies/policies`, { body: { policies } })
  await call('PUT', app, { body: { description: 'renewed' } })
  const { value } = (await call('GET', `${app}/client-secret`)).body
  expect([value === renewed, (await ask(value)).status]).toEqual([false, 200])
})

test("the realm's flow says in which ways clients may prove who they are", async () => {
  const { path, ask, app } = await realmWith({ secret: SECRET })
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
  await call('PUT', app, { body: { clientAuthenticatorType: 'client-x509' } })
  expect(await ask(secret)).toBe('401 invalid_client: Clients cannot authenticate by client-x509 here')
})

test('a form that says something twice says nothing, and its parts count before the header', async () => {
  const { name, ask } = await realmWith({ secret: SECRET })
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
