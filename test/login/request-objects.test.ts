// Request objects, which clients sign and may encrypt. RFC 9101; OpenID Connect Core 1.0, section 6.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  CompactEncrypt,
  exportJWK,
  generateKeyPair,
  importJWK,
  type JWK,
  type JWTPayload,
  SignJWT,
  UnsecuredJWT,
} from 'jose'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { APPLICATION, testBrowser } from '../support/browser.ts'
import { openProtectedServers } from '../support/protected-realm.ts'

const { app, createRealm, pass } = await openProtectedServers()
const keys = await generateKeyPair('RS256', { extractable: true })
const otherKeys = await generateKeyPair('RS256', { extractable: true })
const jwks = JSON.stringify({ keys: [{ ...(await exportJWK(keys.publicKey)), alg: 'RS256', use: 'sig' }] })
const registered = { 'use.jwks.string': 'true', 'jwks.string': jwks }
const parameters = { redirect_uri: APPLICATION, response_type: 'code', scope: 'openid', state: 'signed' }
const outer = { client_id: 'server', redirect_uri: APPLICATION, state: 'unsigned' }

const now = () => Math.floor(Date.now() / 1000)
const sign = (claims: JWTPayload, key = keys.privateKey, alg = 'RS256') =>
  new SignJWT({ ...parameters, ...claims }).setProtectedHeader({ alg }).sign(key)
const signBySecret = (claims: JWTPayload, secret = 'secret') =>
  new SignJWT({ ...parameters, ...claims }).setProtectedHeader({ alg: 'HS256' }).sign(Buffer.from(secret))
const createUnsigned = (claims: JWTPayload = {}) => new UnsecuredJWT({ ...parameters, ...claims }).encode()

let object = ''
const host = createServer((_request, response) => response.end(object))
beforeAll(() => new Promise<void>((done) => host.listen(0, '127.0.0.1', done)))
afterAll(() => host.close())
const addressOf = (path: string) => `http://127.0.0.1:${(host.address() as AddressInfo).port}${path}`

type ProtectedRealm = Awaited<ReturnType<typeof createRealm>>
/** Opens the authorization endpoint, and returns the state of a login of Ann; the status where there is no login page. */
async function logInWith({ logIn }: ProtectedRealm, query: Readonly<Record<string, string>>) {
  const { response, status } = await logIn({ client_id: 'server', ...query })
  return response?.get('state') ?? status
}

describe('a request object', () => {
  test('is accepted if it is signed by a key or the secret of the client', async () => {
    const realm = await createRealm(registered)
    expect(await logInWith(realm, { request: await sign({}) })).toBe('signed')
    expect(await logInWith(realm, { request: await signBySecret({}), state: 'unsigned' })).toBe('signed')
    expect(await logInWith(realm, { request: createUnsigned() })).toBe('signed')
    const issuer = realm.issuer
    const times = { iat: now(), nbf: now(), exp: now() + 60 }
    expect(await logInWith(realm, { request: await sign({ ...times, iss: 'server', aud: issuer }) })).toBe('signed')
  })

  test.each<[string, (issuer: string) => Promise<string> | string]>([
    ['that another key has signed', () => sign({}, otherKeys.privateKey)],
    ['that another secret has signed', () => signBySecret({}, 'other')],
    ['that is no token', () => 'nonsense'],
    ['that has expired', () => sign({ exp: now() - 60 })],
    ['that is not valid yet', () => sign({ nbf: now() + 60 })],
    ['for another server', () => sign({ aud: 'https://other.example' })],
    ['of another issuer', () => sign({ iss: 'web' })],
    ['of another client', () => sign({ client_id: 'web' })],
    ['that is encrypted for nobody', () => 'eyJhbGciOiJSU0EtT0FFUCIsImVuYyI6IkEyNTZHQ00ifQ.AA.AA.AA.AA'],
  ])('%s is refused', async (_name, create) => {
    const realm = await createRealm(registered)
    expect(await logInWith(realm, { ...outer, request: await create(realm.issuer) })).toBe(400)
  })

  test('with an id is accepted once, on every server', async () => {
    const realm = await createRealm(registered)
    const request = await sign({ jti: 'one', exp: now() + 600 })
    expect((await realm.open({ client_id: 'server', request })).status).toBe(200)
    expect((await realm.open({ client_id: 'server', request }, { isOther: true })).status).toBe(400)
    expect((await realm.open({ client_id: 'server', request })).status).toBe(400)
    expect((await realm.open({ client_id: 'server', request: await sign({ jti: 'two' }) })).status).toBe(200)
  })

  test('with an id starts a login that can be reloaded', async () => {
    const realm = await createRealm(registered)
    const browser = testBrowser(app)
    const query = new URLSearchParams({ client_id: 'server', request: await sign({ jti: 'three' }) })
    const page = await browser.open(`${realm.protocol}/auth?${query}`)
    expect((await browser.open(page.url)).status).toBe(200)
  })
})

test.each([
  ['RS256', 'sign'],
  ['HS256', 'signBySecret'],
  ['none', 'createUnsigned'],
])('a client with the algorithm %s sends objects with it only', async (algorithm, accepted) => {
  const realm = await createRealm({ ...registered, 'request.object.signature.alg': algorithm })
  for (const [name, create] of Object.entries({ sign, signBySecret, createUnsigned })) {
    const result = await logInWith(realm, { ...outer, request: await create({}) })
    expect([name, result]).toEqual([name, name === accepted ? 'signed' : 400])
  }
})

test.each([
  ['request only', true, false],
  ['request_uri only', false, true],
  ['request or request_uri', true, true],
  ['something else', true, true],
])('a client that must use %s logs in with nothing else', async (required, byValue, byReference) => {
  const realm = await createRealm({
    ...registered,
    'request.object.required': required,
    'request.uris': addressOf('/objects/*'),
  })
  expect(await logInWith(realm, { ...outer, ...parameters })).toBe(400)
  const request = await sign({})
  expect(await logInWith(realm, { request })).toBe(byValue ? 'signed' : 400)
  object = request
  expect(await logInWith(realm, { request_uri: addressOf('/objects/1') })).toBe(byReference ? 'signed' : 400)
})

test('parameters outside of the object count only if the client need not use one', async () => {
  const withoutState = await sign({ state: undefined })
  const open = await createRealm(registered)
  expect(await logInWith(open, { ...outer, request: withoutState })).toBe('unsigned')
  const strict = await createRealm({ ...registered, 'request.object.required': 'request only' })
  const { response } = await strict.logIn({ ...outer, request: withoutState })
  expect([response?.has('code'), response?.has('state')]).toEqual([true, false])
})

test('an object is fetched only from an address that the client has registered', async () => {
  object = await sign({})
  const realm = await createRealm({ ...registered, 'request.uris': `https://x.example/##${addressOf('/a*')}` })
  expect(await logInWith(realm, { request_uri: `${addressOf('/a1')}#digest` })).toBe('signed')
  for (const path of ['/b', '/a/../b'])
    expect(await logInWith(realm, { ...outer, request_uri: addressOf(path) })).toBe(400)
  expect(await logInWith(realm, { ...outer, request_uri: addressOf('/a1'), request: object })).toBe(400)
  object = 'x'.repeat(2_000_000)
  expect(await logInWith(realm, { ...outer, request_uri: addressOf('/a1') })).toBe(400)
  const unregistered = await createRealm(registered)
  expect(await logInWith(unregistered, { ...outer, request_uri: addressOf('/a1') })).toBe(400)
})

describe('an encrypted request object', () => {
  const encrypt = async ({ get }: ProtectedRealm, text: string, alg = 'RSA-OAEP', enc = 'A256GCM') => {
    const { body } = await get('certs')
    const jwk: JWK = body.keys.find(({ use }: JWK) => use === 'enc')
    const header = { alg, enc, ...(jwk.kid && { kid: jwk.kid }) }
    return new CompactEncrypt(Buffer.from(text)).setProtectedHeader(header).encrypt(await importJWK(jwk, alg))
  }

  test('is decrypted with the key of the realm, and its signature is verified', async () => {
    const realm = await createRealm(registered)
    expect(await logInWith(realm, { request: await encrypt(realm, await sign({})) })).toBe('signed')
    expect(await logInWith(realm, { request: await encrypt(realm, await sign({}), 'RSA-OAEP-256') })).toBe('signed')
    const forged = await encrypt(realm, await sign({}, otherKeys.privateKey))
    expect(await logInWith(realm, { ...outer, request: forged })).toBe(400)
  })

  test.each([
    { 'request.object.encryption.alg': 'RSA-OAEP-256' },
    { 'request.object.encryption.enc': 'A128CBC-HS256' },
  ])('is required with the algorithms of the client: %j', async (attributes) => {
    const realm = await createRealm({ ...registered, ...attributes })
    expect(await logInWith(realm, { ...outer, request: await sign({}) })).toBe(400)
    expect(await logInWith(realm, { ...outer, request: await encrypt(realm, await sign({})) })).toBe(400)
    const right = await encrypt(realm, await sign({}), 'RSA-OAEP-256', 'A128CBC-HS256')
    expect(await logInWith(realm, { request: right })).toBe('signed')
  })
})

test('a request object can be pushed', async () => {
  const realm = await createRealm({ ...registered, 'request.object.required': 'request only' })
  const credentials = { client_id: 'server', client_secret: 'secret' }
  const push = (form: Readonly<Record<string, string>>) => realm.post('ext/par/request', { ...credentials, ...form })
  const { status, body } = await push({ request: await sign({ jti: 'pushed' }), state: 'unsigned' })
  expect(status).toBe(201)
  expect(await logInWith(realm, { request_uri: body.request_uri })).toBe('signed')
  expect((await push(parameters)).body.error).toBe('invalid_request_object')
  const forged = await push({ request: await sign({}, otherKeys.privateKey) })
  expect([forged.status, forged.body.error]).toEqual([400, 'invalid_request_object'])
})

test('an object with an id is remembered until it expires', async () => {
  const realm = await createRealm(registered)
  const request = await sign({ jti: 'late', exp: now() + 3600 })
  expect((await realm.open({ client_id: 'server', request })).status).toBe(200)
  pass(1800)
  expect((await realm.open({ client_id: 'server', request })).status).toBe(400)
})

test('discovery says that request objects are accepted', async () => {
  const realm = await createRealm()
  expect((await realm.get('../../.well-known/openid-configuration')).body).toMatchObject({
    request_parameter_supported: true,
    request_uri_parameter_supported: true,
    require_request_uri_registration: true,
  })
})
