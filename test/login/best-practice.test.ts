// RFC 9700, the security best current practice of OAuth 2.0: tests of rules that other files do not test.
// docs/oauth-security.md lists all rules with their tests.
import { decodeJwt } from 'jose'
import { expect, test } from 'vitest'
import { APPLICATION, type TestBrowser, testBrowser } from '../support/browser.ts'
import { createLoginRealm } from '../support/login-realm.ts'
import { testServer } from '../support/server.ts'

const { app, call, create } = await testServer()

const logIn = async (browser: TestBrowser, address: string) =>
  browser.send(await browser.open(address), { username: 'ann', password: 'pw' })

test('2.1, 4.1.3, 4.11.2: an unregistered redirect URI is never followed, whatever else the request contains', async () => {
  const { logInAddress } = await createLoginRealm()
  const foreign = [
    'http://app.example/back/../evil',
    'http://app.example/back?more=1',
    'http://app.example.evil/back',
    'http://app.example@evil.example/back',
    'http://APP.example/back/',
    'https://app.example/back',
    'javascript:alert(1)',
  ]
  for (const redirect_uri of foreign) {
    for (const parameters of [{}, { response_type: 'nonsense' }, { scope: 'unknown' }]) {
      const page = await testBrowser(app).open(logInAddress({ redirect_uri, ...parameters }).address)
      expect([redirect_uri, page.status, page.response, page.headers.location]).toEqual([
        redirect_uri,
        400,
        undefined,
        undefined,
      ])
    }
  }
})

test('2.1.2: the authorization endpoint returns no tokens', async () => {
  const { logInAddress } = await createLoginRealm()
  for (const response_type of ['token', 'id_token', 'id_token token', 'code token']) {
    const { response } = await testBrowser(app).open(logInAddress({ response_type }).address)
    expect(response?.get('error')).toMatch(/unsupported_response_type|unauthorized_client|invalid_request/)
    expect(response?.has('access_token')).toBe(false)
  }
})

test('2.1.1, 4.5, 4.8: a code is redeemed only with the verifier of its challenge, and a verifier only with a challenge', async () => {
  const { name, logInAddress, redeem } = await createLoginRealm()
  const code = async (parameters?: Record<string, string>) => {
    const { address, verifier } = logInAddress(parameters)
    const { response } = await logIn(testBrowser(app), address)
    return { code: response!.get('code')!, verifier }
  }
  const first = await code()
  expect((await redeem(first.code, logInAddress().verifier)).body.error).toBe('invalid_grant')
  const without = { grant_type: 'authorization_code', client_id: 'web', redirect_uri: APPLICATION }
  const redeemWithout = async (code: string) =>
    call('POST', `/realms/${name}/protocol/openid-connect/token`, {
      token: null,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({ ...without, code }).toString(),
    })
  expect((await redeemWithout((await code()).code)).body.error).toBe('invalid_grant')
  // A code is not redeemed with a verifier if an attacker removed the challenge from the request.
  const { address, verifier } = logInAddress()
  const url = new URL(address, 'http://localhost')
  url.searchParams.delete('code_challenge')
  url.searchParams.delete('code_challenge_method')
  const { response } = await logIn(testBrowser(app), url.pathname + url.search)
  expect((await redeem(response!.get('code')!, verifier)).body.error).toBe('invalid_grant')
})

test('2.1.1: a client that must use PKCE gets no code without it', async () => {
  const client = { attributes: { 'pkce.code.challenge.method': 'S256' } }
  const { logInAddress } = await createLoginRealm({}, { client })
  const url = new URL(logInAddress().address, 'http://localhost')
  url.searchParams.delete('code_challenge')
  url.searchParams.delete('code_challenge_method')
  const { response } = await testBrowser(app).open(url.pathname + url.search)
  expect(response?.get('error')).toBe('invalid_request')
  const plain = await testBrowser(app).open(logInAddress({ code_challenge_method: 'plain' }).address)
  expect(plain.response?.get('error')).toBe('invalid_request')
})

test('4.2.4, 4.16: pages send no referrer, and cannot be framed by other sites', async () => {
  const { logInAddress } = await createLoginRealm()
  const page = await testBrowser(app).open(logInAddress().address)
  expect(page.headers['referrer-policy']).toBe('no-referrer')
  expect(page.headers['x-frame-options']).toBe('SAMEORIGIN')
  expect(page.headers['content-security-policy']).toContain("frame-ancestors 'self'")
  expect(page.text).not.toMatch(/(?:src|href)="(?:https?:)?\/\//)
})

test('4.2.4, 4.5: a reused code revokes the tokens of its first use', async () => {
  const { name, logInAddress, redeem } = await createLoginRealm()
  const { address, verifier } = logInAddress()
  const { response } = await logIn(testBrowser(app), address)
  const first = await redeem(response!.get('code')!, verifier)
  expect(first.status).toBe(200)
  expect((await redeem(response!.get('code')!, verifier)).status).toBe(400)
  const refresh = await call('POST', `/realms/${name}/protocol/openid-connect/token`, {
    token: null,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({
      grant_type: 'refresh_token',
      client_id: 'web',
      refresh_token: first.body.refresh_token,
    }).toString(),
  })
  expect(refresh.body.error).toBe('invalid_grant')
})

test('4.3.2: access tokens in query parameters are ignored', async () => {
  const { name, logInAddress, redeem } = await createLoginRealm()
  const { address, verifier } = logInAddress()
  const { response } = await logIn(testBrowser(app), address)
  const { access_token: token } = (await redeem(response!.get('code')!, verifier)).body
  const userInfo = `/realms/${name}/protocol/openid-connect/userinfo`
  expect((await call('GET', `${userInfo}?access_token=${token}`, { token: null })).status).toBe(401)
  expect((await call('GET', userInfo, { token })).status).toBe(200)
})

test('4.4: authorization responses contain the issuer, and discovery announces it', async () => {
  const { name, logInAddress } = await createLoginRealm()
  const { response } = await logIn(testBrowser(app), logInAddress().address)
  const { body } = await call('GET', `/realms/${name}/.well-known/openid-configuration`, { token: null })
  expect(response!.get('iss')).toBe(body.issuer)
  expect(body.authorization_response_iss_parameter_supported).toBe(true)
})

test('4.9, 4.10: tokens name the client that they were issued to', async () => {
  const { logInAddress, redeem } = await createLoginRealm()
  const { address, verifier } = logInAddress()
  const { response } = await logIn(testBrowser(app), address)
  const { body } = await redeem(response!.get('code')!, verifier)
  expect(decodeJwt(body.access_token)).toMatchObject({ azp: 'web', iss: expect.any(String), exp: expect.any(Number) })
  expect(decodeJwt(body.id_token)).toMatchObject({ aud: 'web', nonce: 'no' })
})

test('4.12: the redirect after a login form is neither 307 nor 308', async () => {
  const { logInAddress } = await createLoginRealm()
  const { status } = await logIn(testBrowser(app), logInAddress().address)
  expect(status).not.toBe(307)
  expect(status).not.toBe(308)
})

test('4.13: forwarded headers are ignored unless proxies are trusted', async () => {
  const { name } = await createLoginRealm()
  const { body } = await call('GET', `/realms/${name}/.well-known/openid-configuration`, {
    token: null,
    headers: { 'x-forwarded-host': 'evil.example', forwarded: 'host=evil.example', 'x-forwarded-proto': 'https' },
  })
  expect(body.issuer).not.toContain('evil.example')
})

test('4.15: a client whose ID is the id of a user is not taken for that user', async () => {
  const { path, name, user } = await createLoginRealm()
  await create(`${path}/clients`, {
    clientId: user,
    secret: 'secret',
    publicClient: false,
    serviceAccountsEnabled: true,
  })
  const { body } = await call('POST', `/realms/${name}/protocol/openid-connect/token`, {
    token: null,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({
      grant_type: 'client_credentials',
      client_id: user,
      client_secret: 'secret',
    }).toString(),
  })
  expect(decodeJwt(body.access_token).sub).not.toBe(user)
})
