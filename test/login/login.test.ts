// Login with username and password, from the client to the page and back with a code.
import { expect, test } from 'vitest'
import { testBrowser } from '../support/browser.ts'
import { createLoginRealm } from '../support/login-realm.ts'
import { testServer } from '../support/server.ts'

const { app, call } = await testServer()

test('a user logs in on a page, and the client gets tokens for the code', async () => {
  const { logInAddress, redeem } = await createLoginRealm()
  const browser = testBrowser(app)
  const { address, verifier } = logInAddress()
  const page = await browser.open(address)
  expect(page.status).toBe(200)
  expect(page.text).toContain('<html lang="en">')
  const { response } = await browser.send(page, { username: 'ann', password: 'pw' })
  expect(Object.fromEntries(response!)).toMatchObject({
    state: 'st',
    session_state: expect.any(String),
    iss: expect.any(String),
  })
  const tokens = await redeem(response!.get('code')!, verifier)
  expect(tokens.body).toMatchObject({
    session_state: response!.get('session_state'),
    scope: expect.stringContaining('openid'),
  })
  expect((await redeem(response!.get('code')!, verifier)).body.error).toBe('invalid_grant')
})

test('a wrong password returns to the page with the username but without the password', async () => {
  const { logInAddress } = await createLoginRealm()
  const browser = testBrowser(app)
  const page = await browser.open(logInAddress().address)
  const again = await browser.send(page, { username: 'ann', password: 'wrong' })
  expect(again.status).toBe(200)
  expect(again.text).toContain('Invalid username or password.')
  expect(again.text).toContain('value="ann"')
  expect(again.text).not.toContain('value="wrong"')
  const nobody = await browser.send(again, { username: 'nobody', password: 'pw' })
  expect(nobody.text).toContain('Invalid username or password.')
  expect((await browser.send(nobody, { username: 'ann', password: 'pw' })).response?.has('code')).toBe(true)
})

test('a user with a session sees no page, unless the client requires a new login', async () => {
  const { logInAddress } = await createLoginRealm()
  const browser = testBrowser(app)
  expect((await browser.open(logInAddress({ prompt: 'none' }).address)).response?.get('error')).toBe('login_required')
  const first = await browser.send(await browser.open(logInAddress().address), { username: 'ann', password: 'pw' })
  const second = await browser.open(logInAddress({ prompt: 'none' }).address)
  expect(second.response?.get('session_state')).toBe(first.response?.get('session_state'))
  for (const parameters of [{ prompt: 'login' }, { max_age: '0' }]) {
    const page = await browser.open(logInAddress(parameters).address)
    expect(page.text).toContain('You are signing in as ann.')
    expect(page.text).not.toContain('name="username"')
    const again = await browser.send(page, { password: 'pw' })
    expect(again.response?.get('session_state')).toBe(first.response?.get('session_state'))
  }
})

test('a form is accepted once, and only from the browser that loaded it', async () => {
  const { logInAddress } = await createLoginRealm()
  const [browser, other] = [testBrowser(app), testBrowser(app)]
  const page = await browser.open(logInAddress().address)
  const stolen = await other.send(page, { username: 'ann', password: 'pw' })
  expect([stolen.status, stolen.response]).toEqual([400, undefined])
  await browser.send(page, { username: 'ann', password: 'wrong' })
  const twice = await browser.send(page, { username: 'ann', password: 'pw' })
  expect(twice.text).toContain('This form was already submitted')
  expect((await browser.send(twice, { username: 'ann', password: 'pw' })).response?.has('code')).toBe(true)
})

test('a login that took too long starts again', async () => {
  const { path, logInAddress } = await createLoginRealm({ accessCodeLifespanLogin: 0 })
  const browser = testBrowser(app)
  const page = await browser.open(logInAddress().address)
  await call('PUT', path, { body: { accessCodeLifespanLogin: 1800 } })
  const late = await browser.send(page, { username: 'ann', password: 'pw' })
  expect(late.text).toContain('Your sign-in has expired.')
  expect((await browser.send(late, { username: 'ann', password: 'pw' })).response?.has('code')).toBe(true)
})

test('an invalid request is reported to the client, or on a page if its redirect URI is not trusted', async () => {
  const { logInAddress } = await createLoginRealm()
  const browser = testBrowser(app)
  const ask = (parameters: Record<string, string>) => browser.open(logInAddress(parameters).address)
  const onPage = {
    'Client not found': { client_id: 'nobody' },
    redirect_uri: { redirect_uri: 'http://app.example.evil.example/back' },
  }
  for (const [text, parameters] of Object.entries(onPage)) {
    const page = await ask(parameters)
    expect([page.status, page.response]).toEqual([400, undefined])
    expect(page.text).toContain(text)
  }
  const redirected = [
    [{ response_type: 'token' }, 'unauthorized_client'],
    [{ response_type: 'foo' }, 'unsupported_response_type'],
    [{ response_mode: 'foo' }, 'invalid_request'],
    [{ scope: 'openid nix' }, 'invalid_scope'],
    [{ code_challenge: 'short' }, 'invalid_request'],
  ] as const
  for (const [parameters, error] of redirected) {
    const { response } = await ask(parameters)
    expect([response?.get('error'), response?.get('state')]).toEqual([error, 'st'])
  }
})

test('response_mode selects a redirect with a fragment or a form', async () => {
  const { logInAddress } = await createLoginRealm()
  const browser = testBrowser(app)
  await browser.send(await browser.open(logInAddress().address), { username: 'ann', password: 'pw' })
  const byFragment = await browser.open(logInAddress({ response_mode: 'fragment' }).address)
  expect(byFragment.headers.location).toMatch(/^http:\/\/app\.example\/back#state=st&/)
  const byForm = await browser.open(logInAddress({ response_mode: 'form_post' }).address)
  expect(byForm.text).toMatch(/<form method="post" action="http:\/\/app\.example\/back">.*name="code"/s)
})

test('a step that Regent does not support makes the login fail, and the event names it', async () => {
  const { path, logInAddress } = await createLoginRealm({ eventsEnabled: true })
  const flows = (await call('GET', `${path}/authentication/flows/browser/executions`)).body as Record<string, string>[]
  const kerberos = flows.find(({ providerId }) => providerId === 'auth-spnego')!
  await call('POST', `${path}/authentication/flows/browser/copy`, { body: { newName: 'own' } })
  const copied = (await call('GET', `${path}/authentication/flows/own/executions`)).body as Record<string, string>[]
  const step = copied.find(({ providerId }) => providerId === kerberos.providerId)!
  await call('PUT', `${path}/authentication/flows/own/executions`, { body: { ...step, requirement: 'ALTERNATIVE' } })
  await call('PUT', path, { body: { browserFlow: 'own' } })
  const page = await testBrowser(app).open(logInAddress().address)
  expect(page.status).toBe(400)
  expect(page.text).toContain('The authentication flow requires auth-spnego')
  const [event] = (await call('GET', `${path}/events`)).body
  expect(event).toMatchObject({ type: 'LOGIN_ERROR', clientId: 'web', details: { reason: 'auth-spnego' } })
})

test('cookies are limited to the realm and hidden from scripts', async () => {
  const { name, logInAddress } = await createLoginRealm()
  const response = await app.inject({ url: logInAddress().address })
  const cookies = [response.headers['set-cookie']].flat()
  expect(cookies).toHaveLength(2)
  for (const cookie of cookies) expect(cookie).toMatch(new RegExp(`; Path=/realms/${name}/; HttpOnly; SameSite=Lax$`))
})

test('of several submissions of one form at once, one is evaluated', async () => {
  const { path, logInAddress } = await createLoginRealm({ eventsEnabled: true })
  const browser = testBrowser(app)
  const page = await browser.open(logInAddress().address)
  const form = { username: 'ann', password: 'wrong' }
  await Promise.all(Array.from({ length: 5 }, () => browser.send(page, form)))
  expect((await call('GET', `${path}/events?type=LOGIN_ERROR`)).body).toHaveLength(1)
})
