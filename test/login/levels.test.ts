// Levels of authentication: an application gets as much proof as it asks for, and asks for no more than is missing.
import { decodeJwt } from 'jose'
import { Secret, TOTP } from 'otpauth'
import { expect, test } from 'vitest'
import { testBrowser } from '../support/browser.ts'
import { realmWithPeople } from '../support/people.ts'
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

test('who has shown a password is asked only for the code by an application that wants more', async () => {
  const { logInAddress, redeem, path } = await realmWithPeople(settings)
  const { call } = await testServer()
  const [ann] = (await call('GET', `${path}/users?username=ann`)).body
  await call('PUT', `${path}/users/${ann.id}`, { body: { ...ann, credentials: [otp] } })
  const browser = testBrowser(app)
  const acrOf = async (code: string | null | undefined, verifier: string) =>
    decodeJwt((await redeem(code!, verifier)).body.id_token).acr

  const first = logInAddress()
  const low = await browser.send(await browser.open(first.address), { username: 'ann', password: 'pw' })
  expect(await acrOf(low.answer?.get('code'), first.verifier)).toBe('silver')

  const second = logInAddress({ acr_values: 'gold' })
  const page = await browser.open(second.address)
  expect(page.text).toContain('One-time code')
  const high = await browser.send(page, { otp: new TOTP({ secret: Secret.fromUTF8(secret) }).generate() })
  expect(await acrOf(high.answer?.get('code'), second.verifier)).toBe('gold')
  expect(high.answer?.get('session_state')).toBe(low.answer?.get('session_state'))

  const third = await browser.open(logInAddress({ acr_values: 'silver', prompt: 'none' }).address)
  expect(third.answer?.has('code')).toBe(true)
})

test('a level without its setting is asked for, whatever level was reached before', async () => {
  const { logInAddress, path } = await realmWithPeople(settings)
  const { call } = await testServer()
  const [ann] = (await call('GET', `${path}/users?username=ann`)).body
  await call('PUT', `${path}/users/${ann.id}`, { body: { ...ann, credentials: [otp] } })
  const logIn = async () => {
    const browser = testBrowser(app)
    return browser.send(await browser.open(logInAddress().address), { username: 'ann', password: 'pw' })
  }
  expect((await logIn()).answer?.has('code')).toBe(true)
  const steps = (await call('GET', `${path}/authentication/flows/step up/executions`)).body
  const { authenticationConfig } = steps.find(({ alias }: { alias?: string }) => alias === 'gold')
  expect((await call('DELETE', `${path}/authentication/config/${authenticationConfig}`)).status).toBe(204)
  expect((await logIn()).text).toContain('One-time code')
})

test('an application that insists on a level that the flow does not have is refused', async () => {
  const { logInAddress } = await realmWithPeople(settings)
  const claims = JSON.stringify({ id_token: { acr: { essential: true, values: ['3'] } } })
  const browser = testBrowser(app)
  const page = await browser.open(logInAddress({ claims }).address)
  const next = await browser.send(page, { username: 'ann', password: 'pw' })
  expect(next.answer?.get('error')).toBe('access_denied')
})
