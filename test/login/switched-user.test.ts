// Logins that continue as another user: what the first user has proved does not count for the next one.
import { decodeJwt } from 'jose'
import { Secret, TOTP } from 'otpauth'
import { afterAll, expect, test } from 'vitest'
import { type TestBrowser, testBrowser, type Visited } from '../support/browser.ts'
import { createLoginRealm } from '../support/login-realm.ts'
import { openMailbox } from '../support/mailbox.ts'
import { testServer } from '../support/server.ts'

const { app, call, create } = await testServer()
const mailbox = await openMailbox()
afterAll(() => mailbox.close())

const part = { providerId: 'basic-flow', topLevel: false, builtIn: false }
const step = (authenticator: string, config?: string) => ({
  authenticator,
  requirement: 'REQUIRED',
  ...(config && { authenticatorConfig: config }),
})
const subFlow = (flowAlias: string, requirement: string) => ({ flowAlias, requirement, authenticatorFlow: true })
const flow = (alias: string, authenticationExecutions: object[], topLevel = false) => ({
  ...part,
  alias,
  topLevel,
  authenticationExecutions,
})
const LEVEL = 'conditional-level-of-authentication'

/**
 * Returns a flow with two levels of authentication: username and password, then a one-time code. If `hasUsernameStep`, the
 * username is a step before the levels.
 */
const levels = (hasUsernameStep: boolean) => ({
  browserFlow: 'step up',
  registrationAllowed: true,
  resetPasswordAllowed: true,
  rememberMe: true,
  smtpServer: { host: '127.0.0.1', port: mailbox.port, from: 'realm@example.org' },
  authenticatorConfig: [
    { alias: 'first', config: { 'loa-condition-level': '1', 'loa-max-age': '3600' } },
    { alias: 'second', config: { 'loa-condition-level': '2', 'loa-max-age': '300' } },
  ],
  authenticationFlows: [
    flow(
      'step up',
      [{ authenticator: 'auth-cookie', requirement: 'ALTERNATIVE' }, subFlow('forms', 'ALTERNATIVE')],
      true,
    ),
    flow('forms', [
      ...(hasUsernameStep ? [step('auth-username-form')] : []),
      subFlow('first', 'CONDITIONAL'),
      subFlow('second', 'CONDITIONAL'),
    ]),
    flow('first', [step(LEVEL, 'first'), step(hasUsernameStep ? 'auth-password-form' : 'auth-username-password-form')]),
    flow('second', [step(LEVEL, 'second'), step('auth-otp-form')]),
  ],
})

const otpSecret = (name: string) => name.repeat(20).slice(0, 20)
const otpCode = (name: string) => new TOTP({ secret: Secret.fromUTF8(otpSecret(name)) }).generate()

/** Creates a realm with Ann and Eve, who have a password and an OTP credential, and logs Eve in up to her profile page. */
async function openAsEve({ hasUsernameStep = false }) {
  const realm = await createLoginRealm(levels(hasUsernameStep))
  for (const name of ['ann', 'eve']) {
    const [existing] = (await call('GET', `${realm.path}/users?username=${name}`)).body
    const account = {
      username: name,
      enabled: true,
      email: `${name}@example.org`,
      firstName: name,
      lastName: 'Example',
    }
    const otp = {
      type: 'otp',
      secretData: JSON.stringify({ value: otpSecret(name) }),
      credentialData: JSON.stringify({ subType: 'totp', digits: 6, counter: 0, period: 30, algorithm: 'HmacSHA1' }),
    }
    const credentials = [{ type: 'password', value: `pw-${name}` }, otp]
    if (existing) await call('PUT', `${realm.path}/users/${existing.id}`, { body: { ...account, credentials } })
    else await create(`${realm.path}/users`, { ...account, credentials })
  }
  const browser = testBrowser(app)
  const { address, verifier } = realm.logInAddress({ acr_values: '2', kc_action: 'UPDATE_PROFILE' })
  const logIn = async (page: Visited, name: string) => {
    if (!hasUsernameStep) return browser.send(page, { username: name, password: `pw-${name}`, rememberMe: 'on' })
    const next = await browser.send(page, { username: name })
    return name === 'eve' ? browser.send(next, { password: 'pw-eve' }) : next
  }
  const code = await logIn(await browser.open(address), 'eve')
  const page = await browser.send(code, { otp: otpCode('eve') })
  expect(page.text).toContain('Your profile')
  return { ...realm, browser, page, logIn, verifier }
}

/** Returns the URL of another page of the same login. */
const getSibling = ({ url }: Visited, name: string) => url.replace(/login-actions\/[\w-]+/, `login-actions/${name}`)
const asksForCode = ({ text }: Visited) => text.includes('name="otp"')

test('a restarted login asks the next user for the one-time code again', async () => {
  const { browser, page, logIn } = await openAsEve({})
  expect(asksForCode(await logIn(await browser.open(getSibling(page, 'restart')), 'ann'))).toBe(true)
})

test('a restarted login asks the next user for the password, even if the level has not expired', async () => {
  const { browser, page, logIn } = await openAsEve({ hasUsernameStep: true })
  const next = await logIn(await browser.open(getSibling(page, 'restart')), 'ann')
  expect(next.text).toContain('You are signing in as ann.')
  expect(next.text).toContain('name="password"')
})

test('a password reset or a registration in between resets the level of authentication', async () => {
  for (const name of ['reset-credentials', 'registration']) {
    const { browser, page, logIn } = await openAsEve({})
    const other = await browser.open(getSibling(page, name))
    expect(other.text).not.toContain('Your profile')
    const start = name === 'registration' ? await browser.follow(other, 'restart') : other
    const form = name === 'registration' ? start : await browser.send(start, { username: 'ann' })
    const back = form.text.includes('name="password"') ? form : await browser.open(getSibling(form, 'authenticate'))
    expect(asksForCode(await logIn(back, 'ann'))).toBe(true)
  }
})

test('the level of a session does not apply to another user who restarts the login', async () => {
  const { browser, page, logIn, logInAddress, redeem, path } = await openAsEve({})
  const done = await browser.send(page, { email: 'eve@example.org', firstName: 'Eve', lastName: 'Example' })
  expect(done.response?.has('code')).toBe(true)
  const { address, verifier } = logInAddress({ prompt: 'login', acr_values: '2' })
  const again = await browser.open(address)
  expect(again.text).toContain('You are signing in as eve.')
  const next = await logIn(await browser.follow(again, 'restart'), 'ann')
  expect(asksForCode(next)).toBe(true)
  const { response } = await browser.send(next, { otp: otpCode('ann') })
  const { body } = await redeem(response!.get('code')!, verifier)
  expect(decodeJwt(body.id_token)).toMatchObject({ preferred_username: 'ann', acr: '2' })
  const [eve] = (await call('GET', `${path}/users?username=eve`)).body
  expect((await call('GET', `${path}/users/${eve.id}/sessions`)).body).toEqual([])
})

/** Logs Ann in, and opens the profile page that an application requests. */
async function openProfilePage() {
  const realm = await createLoginRealm()
  const browser = testBrowser(app)
  await browser.send(await browser.open(realm.logInAddress().address), { username: 'ann', password: 'pw' })
  const page = await browser.open(realm.logInAddress({ kc_action: 'UPDATE_PROFILE' }).address)
  return { ...realm, send: () => cancelAction(browser, page) }
}

const cancelAction = (browser: TestBrowser, page: Visited) => browser.send(page, { 'cancel-aia': 'true' })

test('a login that continues a session fails once the session has ended', async () => {
  const { path, user, send } = await openProfilePage()
  await call('POST', `${path}/users/${user}/logout`)
  expect((await send()).response).toBeUndefined()
  expect((await call('GET', `${path}/users/${user}/sessions`)).body).toEqual([])
})

test('a user who is disabled between two pages cannot log in', async () => {
  const { path, user, send } = await openProfilePage()
  await call('PUT', `${path}/users/${user}`, { body: { enabled: false } })
  const page = await send()
  expect([page.status, page.response]).toEqual([400, undefined])
})
