// The user events of logins with a browser, as recorded from Keycloak.
import { expect, test } from 'vitest'
import { type TestBrowser, testBrowser, type Visited } from '../support/browser.ts'
import { createLoginRealm } from '../support/login-realm.ts'
import { testServer } from '../support/server.ts'

const { app, call } = await testServer()

const APPLICATION = { redirect_uri: 'http://app.example/back' }
const STARTED = { auth_method: 'openid-connect', ...APPLICATION }
const WITH_CODE = { ...STARTED, auth_type: 'code' }
const RESPONSE = { response_type: 'code', response_mode: 'query' }
const ANN = { username: 'ann', password: 'pw' }

interface RecordedEvent {
  readonly type: string
  readonly clientId?: string
  readonly userId?: string
  readonly sessionId?: string
  readonly error?: string
  readonly details?: Record<string, string>
}

/** Runs something in a new realm, and returns its user events without the values that differ from run to run. */
async function collectEvents(
  options: Parameters<typeof createLoginRealm>,
  run: (
    browser: TestBrowser,
    page: Visited,
    address: (parameters?: Record<string, string>) => string,
  ) => Promise<unknown>,
) {
  const [settings, objects] = options
  const { path, user, logInAddress } = await createLoginRealm({ eventsEnabled: true, ...settings }, objects)
  const browser = testBrowser(app)
  const address = (parameters?: Record<string, string>) => logInAddress(parameters).address
  await run(browser, await browser.open(address()), address)
  const { body } = await call('GET', `${path}/events?direction=asc`)
  return body.map(({ type, clientId, userId, sessionId, error, details = {} }: RecordedEvent) => {
    const { code_id: code, ...otherDetails } = details
    expect(sessionId, type).toBe(code)
    return { type, clientId, ...(userId === user && { ann: true }), ...(error && { error }), details: otherDetails }
  })
}

test('successful, repeated and failed logins record their events', async () => {
  const events = await collectEvents([], async (browser, page, address) => {
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
    details: { ...WITH_CODE, ...RESPONSE, consent: 'no_consent_required', username: 'ann' },
  }
  const failed = { type: 'LOGIN_ERROR', clientId: 'web' }
  expect(events).toEqual([
    { ...failed, ann: true, error: 'invalid_user_credentials', details: { ...WITH_CODE, username: 'ann' } },
    { ...failed, error: 'user_not_found', details: { ...WITH_CODE, username: 'nobody' } },
    login,
    login,
  ])
})

test('the login of a disabled user records user_disabled', async () => {
  const events = await collectEvents([{}, { ann: { enabled: false } }], (browser, page) => browser.send(page, ANN))
  const details = { ...WITH_CODE, username: 'ann' }
  expect(events).toEqual([{ type: 'LOGIN_ERROR', clientId: 'web', ann: true, error: 'user_disabled', details }])
})

test('granted and denied consent record their events', async () => {
  const events = await collectEvents([{}, { client: { consentRequired: true } }], async (browser, page, address) => {
    await browser.send(await browser.send(page, ANN), { accept: 'false' })
    await browser.send(await browser.send(await browser.open(address()), ANN), { accept: 'true' })
    await browser.open(address())
  })
  const details = { ...STARTED, ...RESPONSE, username: 'ann' }
  const login = { type: 'LOGIN', clientId: 'web', ann: true }
  expect(events).toEqual([
    { ...login, type: 'LOGIN_ERROR', error: 'rejected_by_user', details },
    { ...login, details: { ...details, consent: 'consent_granted' } },
    { ...login, details: { ...details, auth_type: 'code', consent: 'persistent_consent' } },
  ])
})

test('a new password records UPDATE_PASSWORD and UPDATE_CREDENTIAL', async () => {
  const events = await collectEvents([{}, { ann: { requiredActions: ['UPDATE_PASSWORD'] } }], async (browser, page) => {
    const form = await browser.send(page, ANN)
    const again = await browser.send(form, { 'password-new': 'new', 'password-confirm': 'other' })
    await browser.send(again, { 'password-new': 'new', 'password-confirm': 'new' })
  })
  const login = { ...STARTED, ...RESPONSE, username: 'ann' }
  const details = { ...login, credential_type: 'password', custom_required_action: 'UPDATE_PASSWORD' }
  const event = { clientId: 'web', ann: true, details }
  const error = 'password_confirm_error'
  expect(events).toEqual([
    { ...event, type: 'UPDATE_PASSWORD_ERROR', error },
    { ...event, type: 'UPDATE_CREDENTIAL_ERROR', error },
    { ...event, type: 'UPDATE_PASSWORD' },
    { ...event, type: 'UPDATE_CREDENTIAL' },
    { ...event, type: 'LOGIN', details: { ...login, consent: 'no_consent_required' } },
  ])
})

test('a password reset for an unknown user records user_not_found', async () => {
  const smtpServer = { host: '127.0.0.1', port: '1', from: 'sso@example.org' }
  const events = await collectEvents([{ resetPasswordAllowed: true, smtpServer }], async (browser, page) => {
    await browser.send(await browser.follow(page, 'reset-credentials'), { username: 'nobody' })
  })
  const details = { ...WITH_CODE, username: 'nobody' }
  expect(events).toEqual([{ type: 'RESET_PASSWORD_ERROR', clientId: 'web', error: 'user_not_found', details }])
})

test('requests that start no login record LOGIN_ERROR', async () => {
  const redirect = { redirect_uri: 'http://evil.example/' }
  const events = await collectEvents([], async (_, page, address) => {
    await testBrowser(app).open(address({ client_id: 'nobody' }))
    await testBrowser(app).open(address(redirect))
    await testBrowser(app).open(address({ scope: 'openid nonsense' }))
    // A form that is sent by a browser without the cookie of the login.
    await testBrowser(app).send(page, ANN)
  })
  const failed = { type: 'LOGIN_ERROR', clientId: 'web' }
  expect(events).toEqual([
    { ...failed, clientId: 'nobody', error: 'client_not_found', details: {} },
    { ...failed, error: 'invalid_redirect_uri', details: redirect },
    {
      ...failed,
      error: 'invalid_request',
      details: { ...APPLICATION, ...RESPONSE, reason: 'Invalid scopes: openid nonsense' },
    },
    { ...failed, error: 'cookie_not_found', details: {} },
  ])
})
