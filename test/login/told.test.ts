// What is told of log-ins with a browser, in the words that were recorded of the reference server.
import { expect, test } from 'vitest'
import { type TestBrowser, testBrowser, type Visited } from '../support/browser.ts'
import { realmWithPeople } from '../support/people.ts'
import { testServer } from '../support/server.ts'

const { app, call } = await testServer()

const APPLICATION = { redirect_uri: 'http://app.example/back' }
const BEGUN = { auth_method: 'openid-connect', ...APPLICATION }
const AT_ONCE = { ...BEGUN, auth_type: 'code' }
const DONE = { response_type: 'code', response_mode: 'query' }
const ANN = { username: 'ann', password: 'pw' }

interface Told {
  readonly type: string
  readonly clientId?: string
  readonly userId?: string
  readonly sessionId?: string
  readonly error?: string
  readonly details?: Record<string, string>
}

/** What is told of the work, with what differs from run to run left out. */
async function told(
  options: Parameters<typeof realmWithPeople>,
  work: (
    browser: TestBrowser,
    page: Visited,
    address: (parameters?: Record<string, string>) => string,
  ) => Promise<unknown>,
) {
  const [settings, others] = options
  const { path, user, logInAddress } = await realmWithPeople({ eventsEnabled: true, ...settings }, others)
  const browser = testBrowser(app)
  const address = (parameters?: Record<string, string>) => logInAddress(parameters).address
  await work(browser, await browser.open(address()), address)
  const { body } = await call('GET', `${path}/events?direction=asc`)
  return body.map(({ type, clientId, userId, sessionId, error, details = {} }: Told) => {
    const { code_id: code, ...others } = details
    expect(sessionId, type).toBe(code)
    return { type, clientId, ...(userId === user && { ann: true }), ...(error && { error }), details: others }
  })
}

test('a log-in, one that goes on, and what was wrong with others', async () => {
  const events = await told([], async (browser, page, address) => {
    await browser.send(page, { username: 'ann', password: 'wrong' })
    await browser.send(await browser.open(address()), { username: 'nobody', password: 'pw' })
    await browser.send(await browser.open(address()), ANN)
    await browser.open(address({ prompt: 'none' }))
    await testBrowser(app).open(address({ prompt: 'none' }))
  })
  const login = {
    type: 'LOGIN',
    clientId: 'web',
    ann: true,
    details: { ...AT_ONCE, ...DONE, consent: 'no_consent_required', username: 'ann' },
  }
  const failed = { type: 'LOGIN_ERROR', clientId: 'web' }
  expect(events).toEqual([
    { ...failed, ann: true, error: 'invalid_user_credentials', details: { ...AT_ONCE, username: 'ann' } },
    { ...failed, error: 'user_not_found', details: { ...AT_ONCE, username: 'nobody' } },
    login,
    login,
  ])
})

test('a disabled account', async () => {
  const events = await told([{}, { ann: { enabled: false } }], (browser, page) => browser.send(page, ANN))
  const details = { ...AT_ONCE, username: 'ann' }
  expect(events).toEqual([{ type: 'LOGIN_ERROR', clientId: 'web', ann: true, error: 'user_disabled', details }])
})

test('agreement, and none', async () => {
  const events = await told([{}, { client: { consentRequired: true } }], async (browser, page, address) => {
    await browser.send(await browser.send(page, ANN), { accept: 'false' })
    await browser.send(await browser.send(await browser.open(address()), ANN), { accept: 'true' })
    await browser.open(address())
  })
  const said = { ...BEGUN, ...DONE, username: 'ann' }
  const login = { type: 'LOGIN', clientId: 'web', ann: true }
  expect(events).toEqual([
    { ...login, type: 'LOGIN_ERROR', error: 'rejected_by_user', details: said },
    { ...login, details: { ...said, consent: 'consent_granted' } },
    { ...login, details: { ...said, auth_type: 'code', consent: 'persistent_consent' } },
  ])
})

test('a new password, by the name of today and that of before', async () => {
  const events = await told([{}, { ann: { requiredActions: ['UPDATE_PASSWORD'] } }], async (browser, page) => {
    const asked = await browser.send(page, ANN)
    const again = await browser.send(asked, { 'password-new': 'new', 'password-confirm': 'other' })
    await browser.send(again, { 'password-new': 'new', 'password-confirm': 'new' })
  })
  const said = { ...BEGUN, ...DONE, username: 'ann' }
  const details = { ...said, credential_type: 'password', custom_required_action: 'UPDATE_PASSWORD' }
  const event = { clientId: 'web', ann: true, details }
  const error = 'password_confirm_error'
  expect(events).toEqual([
    { ...event, type: 'UPDATE_PASSWORD_ERROR', error },
    { ...event, type: 'UPDATE_CREDENTIAL_ERROR', error },
    { ...event, type: 'UPDATE_PASSWORD' },
    { ...event, type: 'UPDATE_CREDENTIAL' },
    { ...event, type: 'LOGIN', details: { ...said, consent: 'no_consent_required' } },
  ])
})

test('a forgotten password of nobody', async () => {
  const smtpServer = { host: '127.0.0.1', port: '1', from: 'sso@example.org' }
  const events = await told([{ resetPasswordAllowed: true, smtpServer }], async (browser, page) => {
    await browser.send(await browser.follow(page, 'reset-credentials'), { username: 'nobody' })
  })
  const details = { ...AT_ONCE, username: 'nobody' }
  expect(events).toEqual([{ type: 'RESET_PASSWORD_ERROR', clientId: 'web', error: 'user_not_found', details }])
})

test('requests that begin no log-in', async () => {
  const wrong = { redirect_uri: 'http://evil.example/' }
  const events = await told([], async (_, page, address) => {
    await testBrowser(app).open(address({ client_id: 'nobody' }))
    await testBrowser(app).open(address(wrong))
    await testBrowser(app).open(address({ scope: 'openid nonsense' }))
    // A form, in a browser that was never asked.
    await testBrowser(app).send(page, ANN)
  })
  const failed = { type: 'LOGIN_ERROR', clientId: 'web' }
  expect(events).toEqual([
    { ...failed, clientId: 'nobody', error: 'client_not_found', details: {} },
    { ...failed, error: 'invalid_redirect_uri', details: wrong },
    {
      ...failed,
      error: 'invalid_request',
      details: { ...APPLICATION, ...DONE, reason: 'Invalid scopes: openid nonsense' },
    },
    { ...failed, error: 'cookie_not_found', details: {} },
  ])
})
