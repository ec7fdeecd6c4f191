// A cookie of a log-in that somebody else knows: whoever planted it cannot go on with what the user has shown.
import { afterAll, expect, test } from 'vitest'
import { type TestBrowser, testBrowser, type Visited } from '../support/browser.ts'
import { openMailbox } from '../support/mailbox.ts'
import { realmWithPeople } from '../support/people.ts'
import { testServer } from '../support/server.ts'
import { testService } from '../support/service.ts'

const { app } = await testServer()
const { service } = await testService()
const mailbox = await openMailbox()
afterAll(() => mailbox.close())

const COOKIE = 'AUTH_SESSION_ID'
const logIn = { username: 'ann', password: 'pw' }
const wish = { kc_action: 'UPDATE_PROFILE' }

/** A browser in which the cookie of another was planted. */
function plantedBy(other: TestBrowser): TestBrowser {
  const browser = testBrowser(app)
  browser.cookies.set(COOKIE, other.cookies.get(COOKIE)!)
  return browser
}

/** The address under which the log-in of the page goes on. */
function addressOf({ url, text }: Visited): string {
  const [, tab] = /tab_id=([\w-]+)/.exec(text)!
  return `${url.split('/').slice(0, 3).join('/')}/login-actions/authenticate?client_id=web&tab_id=${tab}`
}

/** Expects that the attacker's browser learns nothing of the user behind the address, and gets neither code nor session. */
async function expectNothing(attacker: TestBrowser, address: string): Promise<void> {
  const page = await attacker.open(address)
  expect(page.text).not.toContain('Your details')
  expect(page.text).not.toContain('signing in as ann')
  expect(page.text).not.toContain('name="password-new"')
  expect(page.answer?.has('code') ?? false).toBe(false)
  expect(attacker.cookies.has('KEYCLOAK_IDENTITY')).toBe(false)
}

test('the browser that planted a cookie does not see the page after the log-in of the user', async () => {
  const { logInAddress } = await realmWithPeople()
  const attacker = testBrowser(app)
  const address = addressOf(await attacker.open(logInAddress(wish).address))
  const victim = plantedBy(attacker)
  const page = await victim.send(await victim.open(address), logIn)
  expect(page.text).toContain('Your details')
  await expectNothing(attacker, address)
  expect((await victim.send(page, { 'cancel-aia': 'true' })).answer?.has('code')).toBe(true)
})

test('neither does one that gave the name of the user before it planted the cookie', async () => {
  const flow = { providerId: 'basic-flow', topLevel: true, builtIn: false, alias: 'in turn' }
  const steps = ['auth-username-form', 'auth-password-form'].map((authenticator) => ({
    authenticator,
    requirement: 'REQUIRED',
  }))
  const { logInAddress } = await realmWithPeople({
    browserFlow: 'in turn',
    authenticationFlows: [{ ...flow, authenticationExecutions: steps }],
  })
  const attacker = testBrowser(app)
  const page = await attacker.send(await attacker.open(logInAddress(wish).address), { username: 'ann' })
  const victim = plantedBy(attacker)
  const next = await victim.send(await victim.open(addressOf(page)), { password: 'pw' })
  expect(next.text).toContain('Your details')
  const seen = await attacker.open(addressOf(page))
  expect(seen.text).not.toContain('Your details')
  expect(seen.text).toContain('name="username"')
})

test('neither does one whose log-in goes on with the session that the user has already', async () => {
  const { logInAddress } = await realmWithPeople()
  const attacker = testBrowser(app)
  await attacker.open(logInAddress(wish).address)
  const victim = testBrowser(app)
  await victim.send(await victim.open(logInAddress().address), logIn)
  victim.cookies.set(COOKIE, attacker.cookies.get(COOKIE)!)
  const page = await victim.open(logInAddress(wish).address)
  expect(page.text).toContain('Your details')
  await expectNothing(attacker, addressOf(page))
})

test('neither does one in whose log-in the user follows the link to a new password', async () => {
  const { logInAddress } = await realmWithPeople({
    resetPasswordAllowed: true,
    smtpServer: { host: '127.0.0.1', port: mailbox.port, from: 'realm@example.org' },
  })
  const attacker = testBrowser(app)
  const begun = await attacker.open(logInAddress().address)
  const forgot = await attacker.follow(begun, 'reset-credentials')
  const sent = await attacker.send(forgot, { username: 'ann' })
  await service.outbox!.settled()
  const link = new URL(/https?:\/\/\S+/.exec(mailbox.mails.at(-1)!.text)![0])
  const victim = plantedBy(attacker)
  const page = await victim.open(link.pathname + link.search)
  expect(page.text).toContain('name="password-new"')
  await expectNothing(attacker, addressOf(sent))
})

test('a cookie that is no secret of the server is not taken over', async () => {
  const { logInAddress } = await realmWithPeople()
  const browser = testBrowser(app)
  browser.cookies.set(COOKIE, 'known')
  await browser.open(logInAddress().address)
  expect(browser.cookies.get(COOKIE)).toMatch(/^[\w-]{43}$/)
})

test('log-ins in other tabs of the browser go on after a log-in', async () => {
  const { logInAddress } = await realmWithPeople()
  const browser = testBrowser(app)
  const [first, second] = [await browser.open(logInAddress(wish).address), await browser.open(logInAddress().address)]
  expect((await browser.send(first, logIn)).text).toContain('Your details')
  expect((await browser.send(second, logIn)).answer?.has('code')).toBe(true)
})
