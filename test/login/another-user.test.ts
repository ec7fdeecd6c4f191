// A log-in that goes on with another user: nothing that the user before has shown counts for the next.
import { decodeJwt } from 'jose'
import { Secret, TOTP } from 'otpauth'
import { afterAll, expect, test } from 'vitest'
import { type TestBrowser, testBrowser, type Visited } from '../support/browser.ts'
import { openMailbox } from '../support/mailbox.ts'
import { realmWithPeople } from '../support/people.ts'
import { testServer } from '../support/server.ts'

const { app, call, make } = await testServer()
const mailbox = await openMailbox()
afterAll(() => mailbox.close())

const part = { providerId: 'basic-flow', topLevel: false, builtIn: false }
const step = (authenticator: string, config?: string) => ({
  authenticator,
  requirement: 'REQUIRED',
  ...(config && { authenticatorConfig: config }),
})
const below = (flowAlias: string, requirement: string) => ({ flowAlias, requirement, authenticatorFlow: true })
const flow = (alias: string, authenticationExecutions: object[], topLevel = false) => ({
  ...part,
  alias,
  topLevel,
  authenticationExecutions,
})
const LEVEL = 'conditional-level-of-authentication'

/** A flow of two levels: first name and password, then a code. `apart`: the name is no part of the first level. */
const levels = (apart: boolean) => ({
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
      [{ authenticator: 'auth-cookie', requirement: 'ALTERNATIVE' }, below('forms', 'ALTERNATIVE')],
      true,
    ),
    flow('forms', [
      ...(apart ? [step('auth-username-form')] : []),
      below('first', 'CONDITIONAL'),
      below('second', 'CONDITIONAL'),
    ]),
    flow('first', [step(LEVEL, 'first'), step(apart ? 'auth-password-form' : 'auth-username-password-form')]),
    flow('second', [step(LEVEL, 'second'), step('auth-otp-form')]),
  ],
})

const secretOf = (name: string) => name.repeat(20).slice(0, 20)
const codeOf = (name: string) => new TOTP({ secret: Secret.fromUTF8(secretOf(name)) }).generate()

/** A realm with Ann and Eve, each with a password and an app for codes, and Eve's browser behind her log-in, on a page that follows. */
async function besideEve({ apart = false }) {
  const realm = await realmWithPeople(levels(apart))
  for (const name of ['ann', 'eve']) {
    const [found] = (await call('GET', `${realm.path}/users?username=${name}`)).body
    const account = {
      username: name,
      enabled: true,
      email: `${name}@example.org`,
      firstName: name,
      lastName: 'Example',
    }
    const otp = {
      type: 'otp',
      secretData: JSON.stringify({ value: secretOf(name) }),
      credentialData: JSON.stringify({ subType: 'totp', digits: 6, counter: 0, period: 30, algorithm: 'HmacSHA1' }),
    }
    const credentials = [{ type: 'password', value: `pw-${name}` }, otp]
    if (found) await call('PUT', `${realm.path}/users/${found.id}`, { body: { ...account, credentials } })
    else await make(`${realm.path}/users`, { ...account, credentials })
  }
  const browser = testBrowser(app)
  const { address, verifier } = realm.logInAddress({ acr_values: '2', kc_action: 'UPDATE_PROFILE' })
  const logIn = async (page: Visited, name: string) => {
    if (!apart) return browser.send(page, { username: name, password: `pw-${name}`, rememberMe: 'on' })
    const next = await browser.send(page, { username: name })
    return name === 'eve' ? browser.send(next, { password: 'pw-eve' }) : next
  }
  const code = await logIn(await browser.open(address), 'eve')
  const page = await browser.send(code, { otp: codeOf('eve') })
  expect(page.text).toContain('Your details')
  return { ...realm, browser, page, logIn, verifier }
}

/** The address of another page of the same log-in. */
const beside = ({ url }: Visited, name: string) => url.replace(/login-actions\/[\w-]+/, `login-actions/${name}`)
const isCodeAsked = ({ text }: Visited) => text.includes('name="otp"')

test('a restarted log-in asks the next user for the code that the user before has shown', async () => {
  const { browser, page, logIn } = await besideEve({})
  expect(isCodeAsked(await logIn(await browser.open(beside(page, 'restart')), 'ann'))).toBe(true)
})

test('a restarted log-in asks the next user for the password, where a level of it lasts', async () => {
  const { browser, page, logIn } = await besideEve({ apart: true })
  const next = await logIn(await browser.open(beside(page, 'restart')), 'ann')
  expect(next.text).toContain('You are signing in as ann.')
  expect(next.text).toContain('name="password"')
})

test('a forgotten password or a sign-up in between keeps no level either', async () => {
  for (const name of ['reset-credentials', 'registration']) {
    const { browser, page, logIn } = await besideEve({})
    const other = await browser.open(beside(page, name))
    expect(other.text).not.toContain('Your details')
    const start = name === 'registration' ? await browser.follow(other, 'restart') : other
    const form = name === 'registration' ? start : await browser.send(start, { username: 'ann' })
    const back = form.text.includes('name="password"') ? form : await browser.open(beside(form, 'authenticate'))
    expect(isCodeAsked(await logIn(back, 'ann'))).toBe(true)
  }
})

test('levels of a session do not count for the user who restarts the log-in that began with it', async () => {
  const { browser, page, logIn, logInAddress, redeem, path } = await besideEve({})
  const done = await browser.send(page, { email: 'eve@example.org', firstName: 'Eve', lastName: 'Example' })
  expect(done.answer?.has('code')).toBe(true)
  const { address, verifier } = logInAddress({ prompt: 'login', acr_values: '2' })
  const again = await browser.open(address)
  expect(again.text).toContain('You are signing in as eve.')
  const next = await logIn(await browser.follow(again, 'restart'), 'ann')
  expect(isCodeAsked(next)).toBe(true)
  const { answer } = await browser.send(next, { otp: codeOf('ann') })
  const { body } = await redeem(answer!.get('code')!, verifier)
  expect(decodeJwt(body.id_token)).toMatchObject({ preferred_username: 'ann', acr: '2' })
  const [eve] = (await call('GET', `${path}/users?username=eve`)).body
  expect((await call('GET', `${path}/users/${eve.id}/sessions`)).body).toEqual([])
})

/** Ann's browser with a session, on a page that an application wants to be shown. */
async function onAPage() {
  const realm = await realmWithPeople()
  const browser = testBrowser(app)
  await browser.send(await browser.open(realm.logInAddress().address), { username: 'ann', password: 'pw' })
  const page = await browser.open(realm.logInAddress({ kc_action: 'UPDATE_PROFILE' }).address)
  return { ...realm, send: () => cancelled(browser, page) }
}

const cancelled = (browser: TestBrowser, page: Visited) => browser.send(page, { 'cancel-aia': 'true' })

test('a log-in that goes on with a session ends with it, and makes no new one', async () => {
  const { path, user, send } = await onAPage()
  await call('POST', `${path}/users/${user}/logout`)
  expect((await send()).answer).toBeUndefined()
  expect((await call('GET', `${path}/users/${user}/sessions`)).body).toEqual([])
})

test('who is disabled between two pages does not come in', async () => {
  const { path, user, send } = await onAPage()
  await call('PUT', `${path}/users/${user}`, { body: { enabled: false } })
  const page = await send()
  expect([page.status, page.answer]).toEqual([400, undefined])
})
