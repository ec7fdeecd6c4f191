// Flows that are not as they should be: they ask for more, never for less.
import { expect, test } from 'vitest'
import { testBrowser, type Visited } from '../support/browser.ts'
import { realmWithPeople } from '../support/people.ts'
import { testServer } from '../support/server.ts'

const { app, call } = await testServer()

const otp = {
  type: 'otp',
  secretData: JSON.stringify({ value: 'ABCDEFGHIJKLMNOPQRST' }),
  credentialData: JSON.stringify({ subType: 'totp', digits: 6, counter: 0, period: 30, algorithm: 'HmacSHA1' }),
}
const logIn = { username: 'ann', password: 'pw' }
const reached = ({ answer }: Visited) => answer?.has('code') === true
const flow = (alias: string, authenticationExecutions: object[], topLevel = false) => ({
  providerId: 'basic-flow',
  builtIn: false,
  alias,
  topLevel,
  authenticationExecutions,
})

/** A realm in which Ann shows a code as well, where the condition holds. */
async function secondFactorBy(authenticator: string, config: Record<string, string>) {
  const realm = await realmWithPeople({
    browserFlow: 'own',
    roles: { realm: [{ name: 'staff' }] },
    authenticatorConfig: [{ alias: 'when', config }],
    authenticationFlows: [
      flow(
        'own',
        [
          { authenticator: 'auth-username-password-form', requirement: 'REQUIRED' },
          { flowAlias: 'code', requirement: 'CONDITIONAL', authenticatorFlow: true },
        ],
        true,
      ),
      flow('code', [
        { authenticator, requirement: 'REQUIRED', authenticatorConfig: 'when' },
        { authenticator: 'auth-otp-form', requirement: 'REQUIRED' },
      ]),
    ],
  })
  const [ann] = (await call('GET', `${realm.path}/users?username=ann`)).body
  await call('PUT', `${realm.path}/users/${ann.id}`, { body: { ...ann, credentials: [otp] } })
  const enter = async () => {
    const browser = testBrowser(app)
    return browser.send(await browser.open(realm.logInAddress().address), logIn)
  }
  const steps = (await call('GET', `${realm.path}/authentication/flows/own/executions`)).body
  const config_ = steps.find(({ authenticationConfig }: Record<string, string>) => authenticationConfig)
  return { ...realm, enter, configPath: `${realm.path}/authentication/config/${config_.authenticationConfig}` }
}

test.each([
  ['conditional-user-role', { condUserRole: 'staff' }],
  ['conditional-user-attribute', { attribute_name: 'team', attribute_expected_value: 'a' }],
  ['conditional-level-of-authentication', { 'loa-condition-level': '2', 'loa-max-age': '0' }],
  ['conditional-credential', { credentials: 'webauthn', included: 'true' }],
])('%s without its settings asks for the second factor', async (authenticator, config) => {
  const { enter, configPath } = await secondFactorBy(authenticator, config)
  // The first is the one without which nothing can be said.
  const others = Object.fromEntries(Object.entries(config).slice(1))
  for (const left of [others, {}]) {
    expect((await call('PUT', configPath, { body: { alias: 'when', config: left } })).status).toBe(204)
    expect((await enter()).text).toContain('name="otp"')
  }
  await call('DELETE', configPath)
  expect((await enter()).text).toContain('name="otp"')
})

test.each([
  'conditional-user-role',
  'conditional-user-attribute',
  'conditional-level-of-authentication',
  'conditional-credential',
])('%s without its settings holds before the user is known', async (authenticator) => {
  const { logInAddress } = await realmWithPeople({
    browserFlow: 'own',
    authenticationFlows: [
      flow(
        'own',
        [
          { flowAlias: 'none', requirement: 'CONDITIONAL', authenticatorFlow: true },
          { authenticator: 'auth-username-password-form', requirement: 'REQUIRED' },
        ],
        true,
      ),
      flow('none', [
        { authenticator, requirement: 'REQUIRED' },
        { authenticator: 'deny-access-authenticator', requirement: 'REQUIRED' },
      ]),
    ],
  })
  const page = await testBrowser(app).open(logInAddress().address)
  expect([page.status, page.text]).toEqual([401, expect.stringContaining('Access denied.')])
})

test('nobody logs in where the pattern of a condition cannot be read', async () => {
  const config = { attribute_name: 'team', attribute_expected_value: '(', regex: 'true', not: 'true' }
  const { enter } = await secondFactorBy('conditional-user-attribute', config)
  const page = await enter()
  expect([page.status, reached(page), page.text]).toEqual([400, false, expect.not.stringContaining('name="otp"')])
})

test('a condition asks for the second factor once its role is deleted', async () => {
  const { enter, path } = await secondFactorBy('conditional-user-role', { condUserRole: 'staff' })
  expect(reached(await enter())).toBe(true)
  await call('DELETE', `${path}/roles/staff`)
  expect((await enter()).text).toContain('name="otp"')
})

test('a sign-up whose flow creates nobody logs nobody in', async () => {
  const step = (authenticator: string) => ({ authenticator, requirement: 'REQUIRED' })
  for (const steps of [
    [step('auth-username-form')],
    [step('auth-username-form'), step('allow-access-authenticator')],
  ]) {
    const realm = await realmWithPeople({
      registrationAllowed: true,
      registrationFlow: 'in',
      authenticationFlows: [flow('in', steps, true)],
    })
    const browser = testBrowser(app)
    const page = await browser.open(realm.logInAddress({ prompt: 'create' }).address)
    const next = await browser.send(page, { username: 'ann' })
    expect([next.status, reached(next)]).toEqual([400, false])
  }
})

test('a sign-up does not log in by the session of the browser', async () => {
  const { path, logInAddress } = await realmWithPeople({ registrationAllowed: true })
  const browser = testBrowser(app)
  await browser.send(await browser.open(logInAddress().address), logIn)
  const cookie = flow('in', [{ authenticator: 'auth-cookie', requirement: 'REQUIRED' }], true)
  await call('POST', `${path}/authentication/flows`, { body: cookie })
  await call('POST', `${path}/authentication/flows/in/executions/execution`, { body: { provider: 'auth-cookie' } })
  const [step] = (await call('GET', `${path}/authentication/flows/in/executions`)).body
  await call('PUT', `${path}/authentication/flows/in/executions`, { body: { ...step, requirement: 'REQUIRED' } })
  await call('PUT', path, { body: { registrationFlow: 'in' } })
  const page = await browser.open(logInAddress({ prompt: 'create' }).address)
  expect([page.status, reached(page)]).toEqual([400, false])
})

test('with organizations the page after the name is the same for anybody, with what was typed', async () => {
  const { path, logInAddress } = await realmWithPeople({ organizationsEnabled: true }, { ann: { username: 'p77123' } })
  await call('POST', `${path}/organizations`, { body: { name: 'acme', domains: [{ name: 'example.org' }] } })
  const pageFor = async (username: string) => {
    const browser = testBrowser(app)
    const page = await browser.send(await browser.open(logInAddress().address), { username })
    return {
      browser,
      page,
      text: page.text.replaceAll(username, 'NAME').replace(/(session_code|tab_id|execution)=[\w-]+/g, ''),
    }
  }
  const [known, ...others] = await Promise.all(
    ['ann@example.org', 'nobody@example.org', 'p77123', 'p77124', 'ANN@example.org', '${doLogIn}'].map(pageFor),
  )
  expect(known!.text).toContain('You are signing in as NAME.')
  for (const other of others) expect(other.text).toBe(known!.text)
  expect(reached(await known!.browser.send(known!.page, { password: 'pw' }))).toBe(true)
  const wrong = await others[0]!.browser.send(others[0]!.page, { password: 'pw' })
  expect(wrong.text).toContain('You are signing in as nobody@example.org.')
})
