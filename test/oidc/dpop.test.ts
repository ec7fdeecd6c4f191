// Tokens that are bound to a key of their sender by DPoP. RFC 9449.
import { decodeJwt } from 'jose'
import { describe, expect, test } from 'vitest'
import { APPLICATION } from '../support/browser.ts'
import { createProofKey, type ProofKey } from '../support/dpop.ts'
import { openProtectedServers } from '../support/protected-realm.ts'
import { testServer } from '../support/server.ts'

const { createRealm } = await openProtectedServers()
const key = await createProofKey()
const otherKey = await createProofKey()

const PASSWORD = { grant_type: 'password', username: 'ann', password: 'pw', scope: 'openid' }
const required = { 'dpop.bound.access.tokens': 'true' }
const server = { client_id: 'server', client_secret: 'secret' }
const web = { client_id: 'web' }

type ProtectedRealm = Awaited<ReturnType<typeof createRealm>>
type Proof = { readonly dpop: string }

/** Requests tokens with a proof for the token endpoint. */
async function requestTokens(
  { protocol, post }: ProtectedRealm,
  form: Readonly<Record<string, string>>,
  { prover = key, headers }: { readonly prover?: ProofKey; readonly headers?: Proof | Record<string, never> } = {},
) {
  return post('token', form, { headers: headers ?? (await prover.prove('POST', `${protocol}/token`)) })
}

const toError = ({ status, body }: { status: number; body: Record<string, unknown> }) => [
  status,
  body.error,
  body.error_description,
]

describe('a client that requires DPoP', () => {
  test.each([web, server])('gets tokens with a proof only: %j', async (client) => {
    const realm = await createRealm(required)
    const missing = [400, 'invalid_request', 'DPoP proof is missing']
    expect(toError(await requestTokens(realm, { ...PASSWORD, ...client }, { headers: {} }))).toEqual(missing)
    const { status, body } = await requestTokens(realm, { ...PASSWORD, ...client })
    expect([status, body.token_type]).toEqual([200, 'DPoP'])
    expect(decodeJwt(body.access_token)).toMatchObject({ typ: 'DPoP', cnf: { jkt: key.thumbprint } })
    const refresh = { grant_type: 'refresh_token', refresh_token: body.refresh_token, ...client }
    expect((await requestTokens(realm, refresh, { headers: {} })).status).toBe(400)
  })

  test('gets no tokens by any other grant without a proof', async () => {
    const realm = await createRealm(required, { client: { authorizationServicesEnabled: true } })
    const uma = 'urn:ietf:params:oauth:grant-type:uma-ticket'
    for (const grant of [{ grant_type: 'client_credentials' }, { grant_type: uma, audience: 'server' }])
      expect((await requestTokens(realm, { ...server, ...grant }, { headers: {} })).body.access_token).toBeUndefined()
  })

  test('reads no UserInfo with a token that was issued before', async () => {
    const realm = await createRealm()
    const { body } = await requestTokens(realm, { ...PASSWORD, ...web }, { headers: {} })
    const headers = { authorization: `Bearer ${body.access_token}` }
    expect((await realm.get('userinfo', { headers })).status).toBe(200)
    const [client] = (await realm.call('GET', '/clients?clientId=web')).body
    await realm.call('PUT', `/clients/${client.id}`, { attributes: required })
    expect((await realm.get('userinfo', { headers })).status).toBe(401)
  })
})

describe('a proof', () => {
  const now = Math.floor(Date.now() / 1000)
  test.each([
    ['for another method', { claims: { htm: 'GET' } }, 'DPoP HTTP method mismatch'],
    ['for another address', { claims: { htu: 'http://x.example/' } }, 'DPoP HTTP URL mismatch'],
    ['that is no address', { claims: { htu: 'x' } }, 'DPoP HTTP URL mismatch'],
    ['without jti', { claims: { jti: undefined } }, 'DPoP mandatory claims are missing'],
    ['without iat', { claims: { iat: undefined } }, 'DPoP mandatory claims are missing'],
    ['that is too old', { claims: { iat: now - 40 } }, 'DPoP proof is not active'],
    ['of the future', { claims: { iat: now + 60 } }, 'DPoP proof is not active'],
    ['of another type', { header: { typ: 'JWT' } }, 'Invalid or missing type in DPoP header: JWT'],
    ['without a key', { header: { jwk: undefined } }, 'No JWK in DPoP header'],
    ['with a private key', { header: { jwk: key.privateJwk } }, 'Private key material must not be present in DPoP JWK'],
  ])('%s is refused', async (_name, options, reason) => {
    const realm = await createRealm()
    const headers = await key.prove('POST', `${realm.protocol}/token`, options)
    const refused = await requestTokens(realm, { ...PASSWORD, ...web }, { headers })
    expect(toError(refused)).toEqual([400, 'invalid_request', reason])
  })

  test('of another key, of a symmetric key, or that is no token is refused', async () => {
    const realm = await createRealm()
    const url = `${realm.protocol}/token`
    const { dpop } = await key.prove('POST', url)
    const { dpop: other } = await otherKey.prove('POST', url)
    const forged = `${dpop.slice(0, dpop.lastIndexOf('.'))}${other.slice(other.lastIndexOf('.'))}`
    const symmetric = await key.prove('POST', url, { header: { jwk: { kty: 'oct', k: 'AAAA' } } })
    for (const headers of [{ dpop: forged }, symmetric, { dpop: 'x' }, { dpop: '' }])
      expect((await requestTokens(realm, { ...PASSWORD, ...web }, { headers })).body.error).toBe('invalid_request')
  })

  test('is accepted once, on every server, and binds tokens that need not be bound', async () => {
    const realm = await createRealm()
    const headers = await key.prove('POST', `${realm.protocol}/token?x=1`)
    const form = { ...PASSWORD, ...web }
    expect((await realm.post('token', form, { headers })).body.token_type).toBe('DPoP')
    for (const isOther of [true, false])
      expect(toError(await realm.post('token', form, { headers, isOther }))).toEqual([
        400,
        'invalid_request',
        'DPoP proof has already been used',
      ])
  })

  test.each(['RS256', 'PS256', 'EdDSA'])('is accepted with %s', async (algorithm) => {
    const realm = await createRealm(required)
    const prover = await createProofKey(algorithm)
    expect((await requestTokens(realm, { ...PASSWORD, ...web }, { prover })).body.token_type).toBe('DPoP')
  })
})

test('a refresh token of a public client is bound to the key, and one of a confidential client is not', async () => {
  const realm = await createRealm()
  const refresh = async (client: Readonly<Record<string, string>>, options: Parameters<typeof requestTokens>[2]) => {
    const { body } = await requestTokens(realm, { ...PASSWORD, ...client })
    const form = { grant_type: 'refresh_token', refresh_token: body.refresh_token, ...client }
    return requestTokens(realm, form, options)
  }
  expect(toError(await refresh(web, { headers: {} }))).toEqual([400, 'invalid_grant', 'DPoP proof is missing'])
  const mismatch = [400, 'invalid_grant', "DPoP confirmation doesn't match DPoP proof"]
  expect(toError(await refresh(web, { prover: otherKey }))).toEqual(mismatch)
  expect((await refresh(web, {})).body.token_type).toBe('DPoP')
  expect((await refresh(server, { headers: {} })).body.token_type).toBe('Bearer')
  expect((await refresh(server, { prover: otherKey })).body.token_type).toBe('DPoP')
})

test('UserInfo requires a proof of the key and the token', async () => {
  const realm = await createRealm()
  const { body } = await requestTokens(realm, { ...PASSWORD, ...web })
  const accessToken = body.access_token
  const url = `${realm.protocol}/userinfo`
  const get = (authorization: string, proof: Proof | object, isOther = false) =>
    realm.get('userinfo', { headers: { authorization, ...proof }, isOther })
  const proof = await key.prove('GET', url, { accessToken })
  expect((await get(`DPoP ${accessToken}`, proof)).body.preferred_username).toBe('ann')
  const refused = [
    await get(`DPoP ${accessToken}`, proof, true),
    await get(`DPoP ${accessToken}`, {}),
    await get(`DPoP ${accessToken}`, await key.prove('GET', url)),
    await get(`DPoP ${accessToken}`, await key.prove('GET', url, { accessToken: 'x' })),
    await get(`DPoP ${accessToken}`, await key.prove('POST', url, { accessToken })),
    await get(`DPoP ${accessToken}`, await otherKey.prove('GET', url, { accessToken })),
  ]
  for (const { status, headers } of refused) {
    expect(status).toBe(401)
    expect(headers['www-authenticate']).toMatch(/^DPoP algs="RS256 [^"]*", realm="[^"]*", error="invalid_token"/)
  }
  expect((await get(`Bearer ${accessToken}`, await key.prove('GET', url, { accessToken }))).status).toBe(401)
  expect((await realm.post('userinfo', { access_token: accessToken })).status).toBe(401)
  const plain = (await requestTokens(realm, { ...PASSWORD, ...web }, { headers: {} })).body.access_token
  expect((await get(`Bearer ${plain}`, {})).status).toBe(200)
  expect((await get(`DPoP ${plain}`, await key.prove('GET', url, { accessToken: plain }))).status).toBe(401)
})

test('introspection shows the key of a token, also where a mapper writes another, and revocation needs no proof', async () => {
  const mapper = (name: string, protocolMapper: string, config: object) => ({
    name,
    protocol: 'openid-connect',
    protocolMapper,
    config: { 'access.token.claim': 'true', 'introspection.token.claim': 'true', ...config },
  })
  const protocolMappers = [
    mapper('audience', 'oidc-audience-mapper', { 'included.client.audience': 'server' }),
    mapper('cnf', 'oidc-hardcoded-claim-mapper', { 'claim.name': 'cnf.jkt', 'claim.value': 'x' }),
  ]
  const realm = await createRealm({}, { client: { protocolMappers } })
  const { body } = await requestTokens(realm, { ...PASSWORD, ...web })
  const introspect = () => realm.post('token/introspect', { ...server, token: body.access_token })
  expect((await introspect()).body).toMatchObject({ active: true, token_type: 'DPoP', cnf: { jkt: key.thumbprint } })
  expect((await realm.post('revoke', { ...web, token: body.access_token })).status).toBe(200)
  expect((await introspect()).body).toEqual({ active: false })
})

test('a bound token is no bearer token of a request for permissions', async () => {
  const realm = await createRealm({}, { client: { authorizationServicesEnabled: true } })
  const { body } = await requestTokens(realm, { ...PASSWORD, ...server })
  const headers = { authorization: `Bearer ${body.access_token}` }
  const uma = { grant_type: 'urn:ietf:params:oauth:grant-type:uma-ticket', audience: 'server' }
  expect((await realm.post('token', uma, { headers })).body.error_description).toBe('Invalid bearer token')
})

test('the admin API accepts a bound token with a proof only', async () => {
  const { app, call, adminToken } = await testServer()
  const origin = 'http://localhost:80'
  const proof = await key.prove('POST', `${origin}/realms/master/protocol/openid-connect/token`)
  const form = { grant_type: 'password', client_id: 'admin-cli', username: 'admin', password: 'admin' }
  const response = await app.inject({
    method: 'POST',
    url: `${origin}/realms/master/protocol/openid-connect/token`,
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...proof },
    payload: new URLSearchParams(form).toString(),
  })
  const { access_token: bound } = response.json()
  expect((await call('GET', '/admin/realms/master', { token: await adminToken() })).status).toBe(200)
  expect((await call('GET', '/admin/realms/master', { token: bound })).status).toBe(401)
  const url = `${origin}/admin/realms/master`
  const get = async (prover: ProofKey, options: Parameters<ProofKey['prove']>[2] = { accessToken: bound }) => {
    const headers = { authorization: `DPoP ${bound}`, ...(await prover.prove('GET', url, options)) }
    return (await app.inject({ url: `${url}?x=1`, headers })).statusCode
  }
  expect([await get(key), await get(otherKey), await get(key, {})]).toEqual([200, 401, 401])
})

test.each(['auth', 'ext/par/request'])(
  'a code of a request that named a key at %s is redeemed with it only',
  async (at) => {
    const realm = await createRealm()
    const request = { ...web, redirect_uri: APPLICATION, response_type: 'code', scope: 'openid' }
    const getCode = async () => {
      const parameters = { ...request, dpop_jkt: key.thumbprint }
      if (at === 'auth') return (await realm.logIn(parameters)).response!.get('code')!
      const url = `${realm.protocol}/${at}`
      const { body } = await realm.post(at, request, { headers: await key.prove('POST', url) })
      return (await realm.logIn({ ...web, request_uri: body.request_uri })).response!.get('code')!
    }
    const redeem = async (options: Parameters<typeof requestTokens>[2]) => {
      const form = { grant_type: 'authorization_code', code: await getCode(), redirect_uri: APPLICATION, ...web }
      return requestTokens(realm, form, options)
    }
    expect((await redeem({})).body.token_type).toBe('DPoP')
    expect(toError(await redeem({ headers: {} }))).toEqual([400, 'invalid_request', 'DPoP Proof missing'])
    expect((await redeem({ prover: otherKey })).body.error).toBe('invalid_request')
  },
)

test('a pushed request whose proof and parameter name different keys is refused', async () => {
  const realm = await createRealm()
  const request = { ...web, redirect_uri: APPLICATION, response_type: 'code', dpop_jkt: otherKey.thumbprint }
  const headers = await key.prove('POST', `${realm.protocol}/ext/par/request`)
  expect((await realm.post('ext/par/request', request, { headers })).status).toBe(400)
})

test('discovery lists the algorithms of proofs', async () => {
  const realm = await createRealm()
  const { body } = await realm.get('../../.well-known/openid-configuration')
  expect(body.dpop_signing_alg_values_supported).toContain('ES256')
  expect(body.dpop_signing_alg_values_supported).not.toContain('HS256')
})
