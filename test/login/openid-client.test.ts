// The library openid-client with a client that it registers: pushed requests, signed request objects, DPoP and encrypted ID tokens together.
import { type CryptoKey, exportJWK, generateKeyPair, type JWK } from 'jose'
import * as oidc from 'openid-client'
import { expect, test } from 'vitest'
import { APPLICATION } from '../support/browser.ts'
import { openProtectedServers } from '../support/protected-realm.ts'

const { app, createRealm } = await openProtectedServers()

/** Sends the requests of the library to the server in this process. */
const fetchInProcess: oidc.CustomFetch = async (url, { method, headers, body }) => {
  const {
    statusCode,
    headers: received,
    body: text,
  } = await app.inject({
    method: method as 'GET',
    url,
    headers,
    ...(body !== undefined && body !== null && { payload: String(body) }),
  })
  return new Response(statusCode === 204 ? null : text, {
    status: statusCode,
    headers: new Headers(Object.entries(received).map(([name, value]) => [name, String(value)])),
  })
}

/** Registers a client with all protections, through an initial access token. */
async function registerClient(realm: Awaited<ReturnType<typeof createRealm>>) {
  const signing = await generateKeyPair('ES256', { extractable: true })
  const encryption = await generateKeyPair('RSA-OAEP', { extractable: true })
  const toJwk = async (key: CryptoKey, members: JWK) => ({ ...(await exportJWK(key)), ...members })
  const keys = [
    await toJwk(signing.publicKey, { kid: 's1', use: 'sig', alg: 'ES256' }),
    await toJwk(encryption.publicKey, { kid: 'e1', use: 'enc', alg: 'RSA-OAEP' }),
  ]
  const { body } = await realm.call('POST', '/clients-initial-access', {})
  const config = await oidc.dynamicClientRegistration(
    new URL(realm.issuer),
    {
      client_name: 'Bank',
      redirect_uris: [APPLICATION],
      token_endpoint_auth_method: 'private_key_jwt',
      request_object_signing_alg: 'ES256',
      require_pushed_authorization_requests: true,
      dpop_bound_access_tokens: true,
      id_token_encrypted_response_alg: 'RSA-OAEP',
      id_token_encrypted_response_enc: 'A256GCM',
      jwks: { keys },
    },
    oidc.PrivateKeyJwt({ key: signing.privateKey, kid: 's1' }),
    { initialAccessToken: body.token, execute: [oidc.allowInsecureRequests], [oidc.customFetch]: fetchInProcess },
  )
  config[oidc.customFetch] = fetchInProcess
  oidc.enableDecryptingResponses(config, ['A256GCM'], { key: encryption.privateKey, kid: 'e1' })
  return { config, key: { key: signing.privateKey, kid: 's1' } }
}

test('openid-client logs in with all protections, and is refused without a proof or a pushed request', async () => {
  const realm = await createRealm()
  const { config, key } = await registerClient(realm)
  const proofs = oidc.getDPoPHandle(config, await oidc.randomDPoPKeyPair('ES256'))
  const logIn = async () => {
    const pkceCodeVerifier = oidc.randomPKCECodeVerifier()
    const parameters = {
      redirect_uri: APPLICATION,
      scope: 'openid',
      state: oidc.randomState(),
      nonce: oidc.randomNonce(),
      code_challenge: await oidc.calculatePKCECodeChallenge(pkceCodeVerifier),
      code_challenge_method: 'S256',
    }
    const signed = await oidc.buildAuthorizationUrlWithJAR(config, parameters, key)
    const pushed = await oidc.buildAuthorizationUrlWithPAR(config, signed.searchParams, { DPoP: proofs })
    const { response } = await realm.logIn(Object.fromEntries(pushed.searchParams))
    const checks = { pkceCodeVerifier, expectedState: parameters.state, expectedNonce: parameters.nonce }
    return { url: new URL(`${APPLICATION}?${response}`), checks, signed }
  }
  const { url, checks, signed } = await logIn()
  const tokens = await oidc.authorizationCodeGrant(config, url, checks, undefined, { DPoP: proofs })
  expect(tokens).toMatchObject({ token_type: 'dpop', expires_in: 300 })
  const { sub = '', ...claims } = tokens.claims() ?? {}
  expect(claims).toMatchObject({ preferred_username: 'ann' })
  const userInfo = await oidc.fetchUserInfo(config, tokens.access_token, sub, { DPoP: proofs })
  expect(userInfo.email).toBe('ann@example.org')
  const refreshed = await oidc.refreshTokenGrant(config, tokens.refresh_token!, undefined, { DPoP: proofs })
  expect(refreshed.token_type).toBe('dpop')

  await expect(oidc.refreshTokenGrant(config, refreshed.refresh_token!)).rejects.toMatchObject({
    error_description: 'DPoP proof is missing',
  })
  await expect(oidc.fetchUserInfo(config, refreshed.access_token, sub)).rejects.toThrow()
  const unproven = await logIn()
  await expect(oidc.authorizationCodeGrant(config, unproven.url, unproven.checks)).rejects.toMatchObject({
    error: 'invalid_request',
  })
  const direct = await realm.open({ ...Object.fromEntries(signed.searchParams), redirect_uri: APPLICATION })
  expect(direct.response?.get('error')).toBe('invalid_request')
})
