// Log-in with name and password: from the application to the page and back, with a code.
import { expect, test } from 'vitest'
import { testBrowser } from '../support/browser.ts'
import { realmWithPeople } from '../support/people.ts'
import { testServer } from '../support/server.ts'

const { app, call } = await testServer()

test('a person logs in on a page, and the application gets tokens for the code', async () => {
  const { logInAddress, redeem } = await realmWithPeople()
  const browser = testBrowser(app)
  const { address, verifier } = logInAddress()
  const page = await browser.open(address)
  expect(page.status).toBe(200)
  expect(page.text).toContain('<html lang="en">')
  const { answer } = await browser.send(page, { username: 'ann', password: 'pw' })
  expect(Object.fromEntries(answer!)).toMatchObject({
    state: 'st',
    session_state: expect.any(String),
    iss: expect.any(String),
  })
  const tokens = await redeem(answer!.get('code')!, verifier)
  expect(tokens.body).toMatchObject({
    session_state: answer!.get('session_state'),
    scope: expect.stringContaining('openid'),
  })
  expect((await redeem(answer!.get('code')!, verifier)).body.error).toBe('invalid_grant')
})

test('a wrong password leads back to the page, which keeps the name and not the password', async () => {
  const { logInAddress } = await realmWithPeople()
  const browser = testBrowser(app)
  const page = await browser.open(logInAddress().address)
  const again = await browser.send(page, { username: 'ann', password: 'wrong' })
  expect(again.status).toBe(200)
  expect(again.text).toContain('Wrong username or password.')
  expect(again.text).toContain('value="ann"')
  expect(again.text).not.toContain('value="wrong"')
  const nobody = await browser.send(again, { username: 'nobody', password: 'pw' })
  expect(nobody.text).toContain('Wrong username or password.')
  expect((await browser.send(nobody, { username: 'ann', password: 'pw' })).answer?.has('code')).toBe(true)
})

test('who is logged in is asked nothing, unless the application wants it, or only what it must', async () => {
  const { logInAddress } = await realmWithPeople()
  const browser = testBrowser(app)
  expect((await browser.open(logInAddress({ prompt: 'none' }).address)).answer?.get('error')).toBe('login_required')
  const first = await browser.send(await browser.open(logInAddress().address), { username: 'ann', password: 'pw' })
  const second = await browser.open(logInAddress({ prompt: 'none' }).address)
  expect(second.answer?.get('session_state')).toBe(first.answer?.get('session_state'))
  for (const parameters of [{ prompt: 'login' }, { max_age: '0' }]) {
    const page = await browser.open(logInAddress(parameters).address)
    expect(page.text).toContain('You are signing in as ann.')
    expect(page.text).not.toContain('name="username"')
    const again = await browser.send(page, { password: 'pw' })
    expect(again.answer?.get('session_state')).toBe(first.answer?.get('session_state'))
  }
})

test('a form counts once, and only in the browser that it was shown in', async () => {
  const { logInAddress } = await realmWithPeople()
  const [browser, other] = [testBrowser(app), testBrowser(app)]
  const page = await browser.open(logInAddress().address)
  const stolen = await other.send(page, { username: 'ann', password: 'pw' })
  expect([stolen.status, stolen.answer]).toEqual([400, undefined])
  await browser.send(page, { username: 'ann', password: 'wrong' })
  const twice = await browser.send(page, { username: 'ann', password: 'pw' })
  expect(twice.text).toContain('This form was sent already')
  expect((await browser.send(twice, { username: 'ann', password: 'pw' })).answer?.has('code')).toBe(true)
})

test('a log-in that took too long begins anew', async () => {
  const { path, logInAddress } = await realmWithPeople({ accessCodeLifespanLogin: 0 })
  const browser = testBrowser(app)
  const page = await browser.open(logInAddress().address)
  await call('PUT', path, { body: { accessCodeLifespanLogin: 1800 } })
  const late = await browser.send(page, { username: 'ann', password: 'pw' })
  expect(late.text).toContain('That took too long.')
  expect((await browser.send(late, { username: 'ann', password: 'pw' })).answer?.has('code')).toBe(true)
})

test('what an application may not ask for is told on a page where it cannot be trusted, otherwise to the application', async () => {
  const { logInAddress } = await realmWithPeople()
  const browser = testBrowser(app)
  const ask = (parameters: Record<string, string>) => browser.open(logInAddress(parameters).address)
  const shown = {
    'not known': { client_id: 'nobody' },
    redirect_uri: { redirect_uri: 'http://app.example.evil.example/back' },
  }
  for (const [text, parameters] of Object.entries(shown)) {
    const page = await ask(parameters)
    expect([page.status, page.answer]).toEqual([400, undefined])
    expect(page.text).toContain(text)
  }
  const told = [
    [{ response_type: 'token' }, 'unauthorized_client'],
    [{ response_type: 'foo' }, 'unsupported_response_type'],
    [{ response_mode: 'foo' }, 'invalid_request'],
    [{ scope: 'openid nix' }, 'invalid_scope'],
    [{ code_challenge: 'short' }, 'invalid_request'],
    [{ request: 'abc' }, 'request_not_supported'],
  ] as const
  for (const [parameters, error] of told) {
    const { answer } = await ask(parameters)
    expect([answer?.get('error'), answer?.get('state')]).toEqual([error, 'st'])
  }
})

test('an application is answered by fragment or by form where it wishes so', async () => {
  const { logInAddress } = await realmWithPeople()
  const browser = testBrowser(app)
  await browser.send(await browser.open(logInAddress().address), { username: 'ann', password: 'pw' })
  const byFragment = await browser.open(logInAddress({ response_mode: 'fragment' }).address)
  expect(byFragment.headers.location).toMatch(/^http:\/\/app\.example\/back#state=st&/)
  const byForm = await browser.open(logInAddress({ response_mode: 'form_post' }).address)
  expect(byForm.text).toMatch(/<form method="post" action="http:\/\/app\.example\/back">.*name="code"/s)
})

test('a step that Regent does not execute makes the log-in fail, and the event says which', async () => {
  const { path, logInAddress } = await realmWithPeople({ eventsEnabled: true })
  const flows = (await call('GET', `${path}/authentication/flows/browser/executions`)).body as Record<string, string>[]
  const kerberos = flows.find(({ providerId }) => providerId === 'auth-spnego')!
  await call('POST', `${path}/authentication/flows/browser/copy`, { body: { newName: 'own' } })
  const own = (await call('GET', `${path}/authentication/flows/own/executions`)).body as Record<string, string>[]
  const step = own.find(({ providerId }) => providerId === kerberos.providerId)!
  await call('PUT', `${path}/authentication/flows/own/executions`, { body: { ...step, requirement: 'ALTERNATIVE' } })
  await call('PUT', path, { body: { browserFlow: 'own' } })
  const page = await testBrowser(app).open(logInAddress().address)
  expect(page.status).toBe(400)
  expect(page.text).toContain('Sign-in here needs auth-spnego')
  const [event] = (await call('GET', `${path}/events`)).body
  expect(event).toMatchObject({ type: 'LOGIN_ERROR', clientId: 'web', details: { reason: 'auth-spnego' } })
})

test('cookies are for the pages of the realm, and scripts do not read them', async () => {
  const { name, logInAddress } = await realmWithPeople()
  const answer = await app.inject({ url: logInAddress().address })
  const cookies = [answer.headers['set-cookie']].flat()
  expect(cookies).toHaveLength(2)
  for (const cookie of cookies) expect(cookie).toMatch(new RegExp(`; Path=/realms/${name}/; HttpOnly; SameSite=Lax$`))
})

test('of two clicks at once one counts', async () => {
  const { path, logInAddress } = await realmWithPeople({ eventsEnabled: true })
  const browser = testBrowser(app)
  const page = await browser.open(logInAddress().address)
  const wrong = { username: 'ann', password: 'wrong' }
  await Promise.all(Array.from({ length: 5 }, () => browser.send(page, wrong)))
  expect((await call('GET', `${path}/events?type=LOGIN_ERROR`)).body).toHaveLength(1)
})
