// Session fixation: an attacker who plants the cookie of a login does not get the login of the user.
import { afterAll, expect, test } from 'vitest'
import { type TestBrowser, testBrowser, type Visited } from '../support/browser.ts'
import { createLoginRealm } from '../support/login-realm.ts'
import { openMailbox } from '../support/mailbox.ts'
import { testServer } from '../support/server.ts'
import { testService } from '../support/service.ts'

const { app } = await testServer()
const { service } = await testService()
const mailbox = await openMailbox()
afterAll(() => mailbox.close())

const COOKIE = 'AUTH_SESSION_ID'
const logIn = { username: 'ann', password: 'pw' }
const profileRequest = { kc_action: 'UPDATE_PROFILE' }

/** Returns a browser with the login cookie of another one. */
function createVictim(other: TestBrowser): TestBrowser {
  const browser = testBrowser(app)
  browser.cookies.set(COOKIE, other.cookies.get(COOKIE)!)
  return browser
}

/** Returns the path on which the login of a page continues. */
function getLoginPath({ url, text }: Visited): string {
  const [, tab] = /tab_id=([\w-]+)/.exec(text)!
  return `${url.split('/').slice(0, 3).join('/')}/login-actions/authenticate?client_id=web&tab_id=${tab}`
}

/** Expects that the attacker's browser sees no page of the user's login, and gets neither a code nor a session. */
async function expectNothing(attacker: TestBrowser, address: string): Promise<void> {
  const page = await attacker.open(address)
  expect(page.text).not.toContain('Your profile')
  expect(page.text).not.toContain('signing in as ann')
  expect(page.text).not.toContain('name="password-new"')
  expect(page.response?.has('code') ?? false).toBe(false)
  expect(attacker.cookies.has('KEYCLOAK_IDENTITY')).toBe(false)
}

test('an attacker who planted a cookie does not see the page after the login of the user', async () => {
  const { logInAddress } = await createLoginRealm()
  const attacker = testBrowser(app)
  const address = getLoginPath(await attacker.open(logInAddress(profileRequest).address))
  const victim = createVictim(attacker)
  const page = await victim.send(await victim.open(address), logIn)
  expect(page.text).toContain('Your profile')
  await expectNothing(attacker, address)
  expect((await victim.send(page, { 'cancel-aia': 'true' })).response?.has('code')).toBe(true)
})

test('an attacker who entered the username before planting the cookie does not see it either', async () => {
  const flow = { providerId: 'basic-flow', topLevel: true, builtIn: false, alias: 'in turn' }
  const steps = ['auth-username-form', 'auth-password-form'].map((authenticator) => ({
    authenticator,
    requirement: 'REQUIRED',
  }))
  const { logInAddress } = await createLoginRealm({
    browserFlow: 'in turn',
    authenticationFlows: [{ ...flow, authenticationExecutions: steps }],
  })
  const attacker = testBrowser(app)
  const page = await attacker.send(await attacker.open(logInAddress(profileRequest).address), { username: 'ann' })
  const victim = createVictim(attacker)
  const next = await victim.send(await victim.open(getLoginPath(page)), { password: 'pw' })
  expect(next.text).toContain('Your profile')
  const attackerPage = await attacker.open(getLoginPath(page))
  expect(attackerPage.text).not.toContain('Your profile')
  expect(attackerPage.text).toContain('name="username"')
})

test('an attacker does not see it if the login continues an existing session of the user', async () => {
  const { logInAddress } = await createLoginRealm()
  const attacker = testBrowser(app)
  await attacker.open(logInAddress(profileRequest).address)
  const victim = testBrowser(app)
  await victim.send(await victim.open(logInAddress().address), logIn)
  victim.cookies.set(COOKIE, attacker.cookies.get(COOKIE)!)
  const page = await victim.open(logInAddress(profileRequest).address)
  expect(page.text).toContain('Your profile')
  await expectNothing(attacker, getLoginPath(page))
})

test('an attacker does not see it if the user follows a password reset link', async () => {
  const { logInAddress } = await createLoginRealm({
    resetPasswordAllowed: true,
    smtpServer: { host: '127.0.0.1', port: mailbox.port, from: 'realm@example.org' },
  })
  const attacker = testBrowser(app)
  const start = await attacker.open(logInAddress().address)
  const forgot = await attacker.follow(start, 'reset-credentials')
  const sent = await attacker.send(forgot, { username: 'ann' })
  await service.outboxWorker!.whenIdle()
  const link = new URL(/https?:\/\/\S+/.exec(mailbox.emails.at(-1)!.text)![0])
  const victim = createVictim(attacker)
  const page = await victim.open(link.pathname + link.search)
  expect(page.text).toContain('name="password-new"')
  await expectNothing(attacker, getLoginPath(sent))
})

test('a cookie value that the server did not create is replaced', async () => {
  const { logInAddress } = await createLoginRealm()
  const browser = testBrowser(app)
  browser.cookies.set(COOKIE, 'known')
  await browser.open(logInAddress().address)
  expect(browser.cookies.get(COOKIE)).toMatch(/^[\w-]{43}$/)
})

test('logins in other tabs of the browser continue after a login', async () => {
  const { logInAddress } = await createLoginRealm()
  const browser = testBrowser(app)
  const [first, second] = [
    await browser.open(logInAddress(profileRequest).address),
    await browser.open(logInAddress().address),
  ]
  expect((await browser.send(first, logIn)).text).toContain('Your profile')
  expect((await browser.send(second, logIn)).response?.has('code')).toBe(true)
})
