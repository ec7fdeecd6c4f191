// RFC 9700, the security best current practice of OAuth 2.0: a test for each rule that has none elsewhere.
// docs/oauth-security.md lists all rules, and where each is tested.
import { decodeJwt } from 'jose'
import { expect, test } from 'vitest'
import { APPLICATION, type TestBrowser, testBrowser } from '../support/browser.ts'
import { realmWithPeople } from '../support/people.ts'
import { testServer } from '../support/server.ts'

const { app, call, make } = await testServer()

const logIn = async (browser: TestBrowser, address: string) =>
  browser.send(await browser.open(address), { username: 'ann', password: 'pw' })

test('2.1, 4.1.3, 4.11.2: nobody is sent to an address that the client has not registered, whatever else is wrong', async () => {
  const { logInAddress } = await realmWithPeople()
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
      expect([redirect_uri, page.status, page.answer, page.headers.location]).toEqual([
        redirect_uri,
        400,
        undefined,
        undefined,
      ])
    }
  }
})

test('2.1.2: no token is given by the authorization endpoint', async () => {
  const { logInAddress } = await realmWithPeople()
  for (const response_type of ['token', 'id_token', 'id_token token', 'code token']) {
    const { answer } = await testBrowser(app).open(logInAddress({ response_type }).address)
    expect(answer?.get('error')).toMatch(/unsupported_response_type|unauthorized_client|invalid_request/)
    expect(answer?.has('access_token')).toBe(false)
  }
})

test('2.1.1, 4.5, 4.8: a code is redeemed only with the verifier of its challenge, and a verifier only with a challenge', async () => {
  const { name, logInAddress, redeem } = await realmWithPeople()
  const code = async (parameters?: Record<string, string>) => {
    const { address, verifier } = logInAddress(parameters)
    const { answer } = await logIn(testBrowser(app), address)
    return { code: answer!.get('code')!, verifier }
  }
  const one = await code()
  expect((await redeem(one.code, logInAddress().verifier)).body.error).toBe('invalid_grant')
  const without = { grant_type: 'authorization_code', client_id: 'web', redirect_uri: APPLICATION }
  const redeemWithout = async (code: string) =>
    call('POST', `/realms/${name}/protocol/openid-connect/token`, {
      token: null,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({ ...without, code }).toString(),
    })
  expect((await redeemWithout((await code()).code)).body.error).toBe('invalid_grant')
  // What somebody took the challenge from on the way is not redeemed with a verifier.
  const { address, verifier } = logInAddress()
  const url = new URL(address, 'http://localhost')
  url.searchParams.delete('code_challenge')
  url.searchParams.delete('code_challenge_method')
  const { answer } = await logIn(testBrowser(app), url.pathname + url.search)
  expect((await redeem(answer!.get('code')!, verifier)).body.error).toBe('invalid_grant')
})

test('2.1.1: a client that must use PKCE gets no code without it', async () => {
  const client = { attributes: { 'pkce.code.challenge.method': 'S256' } }
  const { logInAddress } = await realmWithPeople({}, { client })
  const url = new URL(logInAddress().address, 'http://localhost')
  url.searchParams.delete('code_challenge')
  url.searchParams.delete('code_challenge_method')
  const { answer } = await testBrowser(app).open(url.pathname + url.search)
  expect(answer?.get('error')).toBe('invalid_request')
  const plain = await testBrowser(app).open(logInAddress({ code_challenge_method: 'plain' }).address)
  expect(plain.answer?.get('error')).toBe('invalid_request')
})

test('4.2.4, 4.16: pages tell nobody where they were, and stand in no frame of others', async () => {
  const { logInAddress } = await realmWithPeople()
  const page = await testBrowser(app).open(logInAddress().address)
  expect(page.headers['referrer-policy']).toBe('no-referrer')
  expect(page.headers['x-frame-options']).toBe('SAMEORIGIN')
  expect(page.headers['content-security-policy']).toContain("frame-ancestors 'self'")
  expect(page.text).not.toMatch(/(?:src|href)="(?:https?:)?\/\//)
})

test('4.2.4, 4.5: a code that is used again ends what its first use gave', async () => {
  const { name, logInAddress, redeem } = await realmWithPeople()
  const { address, verifier } = logInAddress()
  const { answer } = await logIn(testBrowser(app), address)
  const first = await redeem(answer!.get('code')!, verifier)
  expect(first.status).toBe(200)
  expect((await redeem(answer!.get('code')!, verifier)).status).toBe(400)
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

test('4.3.2: access tokens in addresses are not looked at', async () => {
  const { name, logInAddress, redeem } = await realmWithPeople()
  const { address, verifier } = logInAddress()
  const { answer } = await logIn(testBrowser(app), address)
  const { access_token: token } = (await redeem(answer!.get('code')!, verifier)).body
  const userInfo = `/realms/${name}/protocol/openid-connect/userinfo`
  expect((await call('GET', `${userInfo}?access_token=${token}`, { token: null })).status).toBe(401)
  expect((await call('GET', userInfo, { token })).status).toBe(200)
})

test('4.4: an answer names its issuer, and discovery says so', async () => {
  const { name, logInAddress } = await realmWithPeople()
  const { answer } = await logIn(testBrowser(app), logInAddress().address)
  const { body } = await call('GET', `/realms/${name}/.well-known/openid-configuration`, { token: null })
  expect(answer!.get('iss')).toBe(body.issuer)
  expect(body.authorization_response_iss_parameter_supported).toBe(true)
})

test('4.9, 4.10: an access token says for whom it is', async () => {
  const { logInAddress, redeem } = await realmWithPeople()
  const { address, verifier } = logInAddress()
  const { answer } = await logIn(testBrowser(app), address)
  const { body } = await redeem(answer!.get('code')!, verifier)
  expect(decodeJwt(body.access_token)).toMatchObject({ azp: 'web', iss: expect.any(String), exp: expect.any(Number) })
  expect(decodeJwt(body.id_token)).toMatchObject({ aud: 'web', nonce: 'no' })
})

test('4.12: a browser is not made to send its form to the application', async () => {
  const { logInAddress } = await realmWithPeople()
  const { status } = await logIn(testBrowser(app), logInAddress().address)
  expect(status).not.toBe(307)
  expect(status).not.toBe(308)
})

test('4.13: what a request says of proxies counts only where proxies are trusted', async () => {
  const { name } = await realmWithPeople()
  const { body } = await call('GET', `/realms/${name}/.well-known/openid-configuration`, {
    token: null,
    headers: { 'x-forwarded-host': 'evil.example', forwarded: 'host=evil.example', 'x-forwarded-proto': 'https' },
  })
  expect(body.issuer).not.toContain('evil.example')
})

test('4.15: a client is not taken for a person of its name', async () => {
  const { path, name, user } = await realmWithPeople()
  await make(`${path}/clients`, { clientId: user, secret: 'secret', publicClient: false, serviceAccountsEnabled: true })
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
