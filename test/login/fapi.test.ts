// FAPI 2.0 Security Profile: a realm whose clients are bound by Keycloak's global profile with DPoP. Each rule is broken everywhere it counts.
import { generateKeyPairSync, randomUUID } from 'node:crypto'
import { SignJWT } from 'jose'
import { describe, expect, test } from 'vitest'
import { ActionError } from '../../src/reconcile/execute/action-error.ts'
import { APPLICATION, loginAddress } from '../support/browser.ts'
import { createProofKey } from '../support/dpop.ts'
import { globalProfileSettings } from '../support/policed-realm.ts'
import { openProtectedServers } from '../support/protected-realm.ts'
import { createSource, planText } from '../support/sources.ts'

const { service, createRealm } = await openProtectedServers()
const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
const jwks = JSON.stringify({ keys: [{ ...publicKey.export({ format: 'jwk' }), kid: 'k', use: 'sig' }] })

const REDIRECT = APPLICATION.replace('http:', 'https:')
/** A client that keeps the rules. */
const bank = {
  clientId: 'bank',
  clientAuthenticatorType: 'client-jwt',
  redirectUris: [REDIRECT],
  attributes: { 'use.jwks.string': 'true', 'jwks.string': jwks },
}

/** Creates a realm with the profile, and a client that was created under it. */
async function createFapiRealm(profile = 'fapi-2-dpop-security-profile') {
  const realm = await createRealm()
  const settings = globalProfileSettings(profile)
  expect((await realm.call('PUT', '', settings)).status).toBe(204)
  expect((await realm.call('POST', '/clients', bank)).status).toBe(201)
  return realm
}

type FapiRealm = Awaited<ReturnType<typeof createFapiRealm>>

/** Returns the parameters by which the client authenticates. */
async function authenticate({ issuer }: FapiRealm, { alg = 'PS256', aud = issuer } = {}) {
  const now = Math.floor(Date.now() / 1000)
  const claims = { iss: 'bank', sub: 'bank', aud, jti: randomUUID(), iat: now, exp: now + 30 }
  return {
    client_id: 'bank',
    client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
    client_assertion: await new SignJWT(claims).setProtectedHeader({ alg, kid: 'k' }).sign(privateKey),
  }
}

/** Pushes a request, and returns the response with the PKCE verifier. */
async function push(realm: FapiRealm, parameters: Record<string, string> = {}, removed: readonly string[] = []) {
  const { address, verifier } = loginAddress(realm.name, { client_id: 'bank', redirect_uri: REDIRECT, ...parameters })
  const { searchParams } = new URL(address, 'http://localhost')
  for (const name of removed) searchParams.delete(name)
  const form = { ...Object.fromEntries(searchParams), ...(await authenticate(realm)) }
  return { ...(await realm.post('ext/par/request', form)), verifier }
}

const key = await createProofKey()

/** Logs in, and returns the form of the token request. */
async function logIn(realm: FapiRealm) {
  const { body, verifier } = await push(realm)
  const { response } = await realm.logIn({ client_id: 'bank', request_uri: body.request_uri })
  const code = response!.get('code')!
  return { grant_type: 'authorization_code', code, redirect_uri: REDIRECT, code_verifier: verifier }
}

const prove = async (realm: FapiRealm) => ({ headers: await key.prove('POST', `${realm.protocol}/token`) })

test('a client that keeps the rules logs in, and its tokens are bound to its key', async () => {
  const realm = await createFapiRealm()
  const [client] = (await realm.call('GET', '/clients?clientId=bank')).body
  expect(client).toMatchObject({
    consentRequired: true,
    fullScopeAllowed: false,
    attributes: { 'dpop.bound.access.tokens': 'true', 'pkce.code.challenge.method': 'S256' },
  })
  // Consent has tests of its own.
  await realm.call('PUT', '', { clientPolicies: { policies: [] } })
  await realm.call('PUT', `/clients/${client.id}`, { ...client, consentRequired: false })
  await realm.call('PUT', '', globalProfileSettings('fapi-2-dpop-security-profile'))
  const form = await logIn(realm)
  const tokens = await realm.post('token', { ...form, ...(await authenticate(realm)) }, await prove(realm))
  expect(tokens).toMatchObject({ status: 200, body: { token_type: 'DPoP' } })
  const unproven = await realm.post('token', { ...(await logIn(realm)), ...(await authenticate(realm)) })
  expect(unproven.body).toMatchObject({ error_description: 'DPoP proof is missing' })
})

describe('a client that breaks a rule is refused', () => {
  const rules: Readonly<Record<string, readonly [fields: object, message: string]>> = {
    'confidential-client': [{ publicClient: true }, 'invalid client access type: public'],
    'secure-client-authenticator': [
      { clientAuthenticatorType: 'client-secret' },
      'Invalid client metadata: token_endpoint_auth_method',
    ],
    'secure-client-uris': [{ redirectUris: [APPLICATION] }, 'Invalid redirectUris'],
    'secure-signature-algorithm': [
      { attributes: { ...bank.attributes, 'id.token.signed.response.alg': 'RS256' } },
      'not allowed signature algorithm.',
    ],
  }
  test.each(Object.entries(rules))('by REST and registration: %s', async (_executor, [fields, message]) => {
    const realm = await createFapiRealm()
    const refused = { status: 400, body: { error_description: message } }
    expect(await realm.call('POST', '/clients', { ...bank, clientId: 'new', ...fields })).toMatchObject(refused)
    const { token } = (await realm.call('POST', '/clients-initial-access', {})).body
    const headers = { authorization: `Bearer ${token}` }
    expect(await realm.register({ ...bank, clientId: 'new', ...fields }, headers)).toMatchObject(refused)
  })

  /** Rules that change clients by REST: a document that declares another value is refused. */
  const configured: Readonly<Record<string, readonly [fields: object, message: string]>> = {
    'consent-required': [{ consentRequired: false }, 'Client is required to enable consentRequired'],
    'full-scope-disabled': [{ fullScopeAllowed: true }, 'Not permitted to enable fullScopeAllowed'],
    'reject-implicit-grant': [{ implicitFlowEnabled: true }, 'Invalid client metadata: implicit flow enabled'],
    'pkce-enforcer': [
      { attributes: { ...bank.attributes, 'pkce.code.challenge.method': 'plain' } },
      'Invalid client metadata: code_challenge_method',
    ],
    'dpop-bind-enforcer': [
      { attributes: { ...bank.attributes, 'dpop.bound.access.tokens': 'false' } },
      'Invalid client metadata: DPoP token is disabled',
    ],
  }
  test.each(Object.entries({ ...rules, ...configured }))('by a plan: %s', async (executor, [fields, message]) => {
    const realm = await createFapiRealm()
    const declared = { realm: realm.name, clients: [{ ...bank, clientId: 'new', ...fields }] }
    const error: unknown = await planText(service, createSource([declared])).catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(ActionError)
    const [problem] = error instanceof ActionError ? error.problems : []
    expect(problem?.position).toMatchObject({ file: 'test-1.yaml', line: expect.any(Number) })
    expect(problem?.message).toContain(`executor ${executor}: ${message}`)
  })
})

describe('a request that breaks a rule is refused', () => {
  test('by the authorization endpoint, which accepts pushed requests only', async () => {
    const realm = await createFapiRealm()
    const { address } = loginAddress(realm.name, { client_id: 'bank', redirect_uri: REDIRECT })
    const page = await realm.open(Object.fromEntries(new URL(address, 'http://localhost').searchParams))
    expect([page.status, page.text]).toEqual([400, expect.stringContaining('PAR request_uri not included.')])
  })

  test.each<[string, Record<string, string>, readonly string[], string]>([
    ['without PKCE', {}, ['code_challenge', 'code_challenge_method'], 'Missing parameter: code_challenge_method'],
    [
      'with a plain challenge',
      { code_challenge_method: 'plain' },
      [],
      'Invalid parameter: code challenge method is not matching the configured one',
    ],
  ])('by the endpoint for pushed requests %s', async (_name, parameters, removed, message) => {
    const { status, body } = await push(await createFapiRealm(), parameters, removed)
    expect([status, body.error_description]).toEqual([400, message])
  })

  test.each<[string, object, string]>([
    ['RS256', { alg: 'RS256' }, 'Invalid signature algorithm'],
    [
      'the token endpoint as its audience',
      { aud: 'token' },
      'The audience of the client assertion must be the issuer as a single text',
    ],
  ])('by the token endpoint with an assertion with %s', async (_name, options, message) => {
    const realm = await createFapiRealm()
    const aud = 'aud' in options ? { aud: `${realm.protocol}/token` } : {}
    const credentials = await authenticate(realm, { ...options, ...aud })
    const { status, body } = await realm.post(
      'token',
      { grant_type: 'client_credentials', ...credentials },
      await prove(realm),
    )
    expect([status, body.error_description]).toEqual([400, message])
  })

  test('by each endpoint for clients that existed before the policy', async () => {
    const realm = await createFapiRealm()
    const server = { client_id: 'server', client_secret: 'secret' }
    const refusal = [400, 'Configured client authentication method not allowed for client']
    for (const [endpoint, form] of [
      ['token', { grant_type: 'client_credentials' }],
      ['token/introspect', { token: 'x' }],
      ['revoke', { token: 'x' }],
    ] as const) {
      const { status, body } = await realm.post(endpoint, { ...server, ...form })
      expect([status, body.error_description]).toEqual(refusal)
    }
    const login = await realm.post('token', {
      grant_type: 'password',
      client_id: 'web',
      username: 'ann',
      password: 'pw',
    })
    expect(login.body.error_description).toBe('invalid client access type: public')
  })
})

test('the profile with mutual TLS binds clients to certificates, in a plan and at the token endpoint', async () => {
  const realm = await createFapiRealm('fapi-2-security-profile')
  const [client] = (await realm.call('GET', '/clients?clientId=bank')).body
  expect(client.attributes['tls.client.certificate.bound.access.tokens']).toBe('true')
  const unbound = { attributes: { ...bank.attributes, 'tls.client.certificate.bound.access.tokens': 'false' } }
  const declared = { realm: realm.name, clients: [{ ...bank, clientId: 'new', ...unbound }] }
  await expect(planText(service, createSource([declared]))).rejects.toThrow('executor holder-of-key-enforcer')
  await realm.call('PUT', '', { clientPolicies: { policies: [] } })
  await realm.call('PUT', `/clients/${client.id}`, { ...client, serviceAccountsEnabled: true })
  await realm.call('PUT', '', globalProfileSettings('fapi-2-security-profile'))
  const form = { grant_type: 'client_credentials', ...(await authenticate(realm)) }
  expect((await realm.post('token', form)).body).toMatchObject({
    error_description: 'Client Certification missing for MTLS HoK Token Binding',
  })
})
