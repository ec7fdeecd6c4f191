// Levels of authentication (step-up): a login reaches the requested level, and repeats no factor that is still valid.
import { decodeJwt } from 'jose'
import { Secret, TOTP } from 'otpauth'
import { describe, expect, test } from 'vitest'
import { APPLICATION, type TestBrowser, testBrowser } from '../support/browser.ts'
import { createLoginRealm } from '../support/login-realm.ts'
import { testServer } from '../support/server.ts'

const { app } = await testServer()
const secret = 'ABCDEFGHIJKLMNOPQRST'
const otp = {
  type: 'otp',
  secretData: JSON.stringify({ value: secret }),
  credentialData: JSON.stringify({ subType: 'totp', digits: 6, counter: 0, period: 30, algorithm: 'HmacSHA1' }),
}

const part = { providerId: 'basic-flow', topLevel: false, builtIn: false }
const level = (name: string, authenticator: string) => ({
  ...part,
  alias: name,
  authenticationExecutions: [
    { authenticator: 'conditional-level-of-authentication', authenticatorConfig: name, requirement: 'REQUIRED' },
    { authenticator, requirement: 'REQUIRED' },
  ],
})
const settings = {
  attributes: { 'acr.loa.map': JSON.stringify({ silver: 1, gold: 2 }) },
  browserFlow: 'step up',
  authenticatorConfig: [
    { alias: 'silver', config: { 'loa-condition-level': '1', 'loa-max-age': '3600' } },
    { alias: 'gold', config: { 'loa-condition-level': '2', 'loa-max-age': '0' } },
  ],
  authenticationFlows: [
    {
      ...part,
      alias: 'step up',
      topLevel: true,
      authenticationExecutions: [
        { authenticator: 'auth-cookie', requirement: 'ALTERNATIVE' },
        { flowAlias: 'levels', requirement: 'ALTERNATIVE' },
      ],
    },
    {
      ...part,
      alias: 'levels',
      authenticationExecutions: [
        { flowAlias: 'silver', requirement: 'CONDITIONAL' },
        { flowAlias: 'gold', requirement: 'CONDITIONAL' },
      ],
    },
    level('silver', 'auth-username-password-form'),
    level('gold', 'auth-otp-form'),
  ],
}

test('a user who logged in with a password needs only the one-time code for a higher level', async () => {
  const { logInAddress, redeem, path } = await createLoginRealm(settings)
  const { call } = await testServer()
  const [ann] = (await call('GET', `${path}/users?username=ann`)).body
  await call('PUT', `${path}/users/${ann.id}`, { body: { ...ann, credentials: [otp] } })
  const browser = testBrowser(app)
  const acrOf = async (code: string | null | undefined, verifier: string) =>
    decodeJwt((await redeem(code!, verifier)).body.id_token).acr

  const first = logInAddress()
  const low = await browser.send(await browser.open(first.address), { username: 'ann', password: 'pw' })
  expect(await acrOf(low.response?.get('code'), first.verifier)).toBe('silver')

  const second = logInAddress({ acr_values: 'gold' })
  const page = await browser.open(second.address)
  expect(page.text).toContain('One-time code')
  const high = await browser.send(page, { otp: new TOTP({ secret: Secret.fromUTF8(secret) }).generate() })
  expect(await acrOf(high.response?.get('code'), second.verifier)).toBe('gold')
  expect(high.response?.get('session_state')).toBe(low.response?.get('session_state'))

  const third = await browser.open(logInAddress({ acr_values: 'silver', prompt: 'none' }).address)
  expect(third.response?.has('code')).toBe(true)
})

test('a level without its config is required even if it was reached before', async () => {
  const { logInAddress, path } = await createLoginRealm(settings)
  const { call } = await testServer()
  const [ann] = (await call('GET', `${path}/users?username=ann`)).body
  await call('PUT', `${path}/users/${ann.id}`, { body: { ...ann, credentials: [otp] } })
  const logIn = async () => {
    const browser = testBrowser(app)
    return browser.send(await browser.open(logInAddress().address), { username: 'ann', password: 'pw' })
  }
  expect((await logIn()).response?.has('code')).toBe(true)
  const steps = (await call('GET', `${path}/authentication/flows/step up/executions`)).body
  const { authenticationConfig } = steps.find(({ alias }: { alias?: string }) => alias === 'gold')
  expect((await call('DELETE', `${path}/authentication/config/${authenticationConfig}`)).status).toBe(204)
  expect((await logIn()).text).toContain('One-time code')
})

test('a client that requires a level that the flow cannot reach is refused', async () => {
  const { logInAddress } = await createLoginRealm(settings)
  const claims = JSON.stringify({ id_token: { acr: { essential: true, values: ['3'] } } })
  const browser = testBrowser(app)
  const page = await browser.open(logInAddress({ claims }).address)
  const next = await browser.send(page, { username: 'ann', password: 'pw' })
  expect(next.response?.get('error')).toBe('access_denied')
})

test.each([[['unknown']], [['silver', 'unknown']]])(
  'essential levels are refused if one is unknown: %j',
  async (values) => {
    const { logInAddress } = await createLoginRealm(settings)
    const requestLevels = (essential: boolean) =>
      testBrowser(app).open(
        logInAddress({ claims: JSON.stringify({ id_token: { acr: { essential, values } } }) }).address,
      )
    const page = await requestLevels(true)
    expect([page.status, page.text]).toEqual([400, expect.stringContaining('invalid parameter: claims')])
    expect((await requestLevels(false)).text).toContain('name="password"')
  },
)

describe('minimum.acr.value', () => {
  const createRealmWithMinimum = async (minimum: string) => {
    const attributes = { 'minimum.acr.value': minimum }
    const realm = await createLoginRealm(settings, { client: { attributes } })
    const { call, create } = await testServer()
    const [ann] = (await call('GET', `${realm.path}/users?username=ann`)).body
    await call('PUT', `${realm.path}/users/${ann.id}`, { body: { ...ann, credentials: [otp] } })
    const redirectUris = [APPLICATION]
    await create(`${realm.path}/clients`, { clientId: 'other', publicClient: true, redirectUris })
    return realm
  }
  const enterPassword = async (browser: TestBrowser, address: string) =>
    browser.send(await browser.open(address), { username: 'ann', password: 'pw' })
  const code = () => new TOTP({ secret: Secret.fromUTF8(secret) }).generate()

  // As in Keycloak, the claim is the requested name, as far as the login reaches its level.
  test.each([
    [{}, 'gold'],
    [{ acr_values: 'silver' }, 'silver'],
    [{ acr_values: '0' }, 'gold'],
  ])('makes a login reach the level, also if the request names a lower one: %j', async (parameters, acr) => {
    const { logInAddress, redeem } = await createRealmWithMinimum('gold')
    const { address, verifier } = logInAddress(parameters)
    const browser = testBrowser(app)
    const page = await enterPassword(browser, address)
    expect(page.text).toContain('One-time code')
    const { response } = await browser.send(page, { otp: code() })
    expect(decodeJwt((await redeem(response!.get('code')!, verifier)).body.id_token).acr).toBe(acr)
    const again = await browser.open(logInAddress({ prompt: 'none' }).address)
    expect(again.response?.has('code')).toBe(true)
  })

  test('is required of a session that another client has started', async () => {
    const { logInAddress } = await createRealmWithMinimum('gold')
    const browser = testBrowser(app)
    const low = await enterPassword(browser, logInAddress({ client_id: 'other' }).address)
    expect(low.response?.has('code')).toBe(true)
    const silent = await browser.open(logInAddress({ prompt: 'none' }).address)
    expect(silent.response?.get('error')).toBe('login_required')
    expect((await browser.open(logInAddress().address)).text).toContain('One-time code')
  })

  test.each(['3', 'unknown'])('refuses all logins if the flow cannot reach the level %s', async (minimum) => {
    const { logInAddress } = await createRealmWithMinimum(minimum)
    const browser = testBrowser(app)
    const page = await enterPassword(browser, logInAddress().address)
    const { response } = await browser.send(page, { otp: code() })
    expect(response?.get('error')).toBe('access_denied')
  })

  test('that every login reaches changes nothing', async () => {
    const { logInAddress } = await createRealmWithMinimum('silver')
    const { response } = await enterPassword(testBrowser(app), logInAddress().address)
    expect(response?.has('code')).toBe(true)
  })
})
