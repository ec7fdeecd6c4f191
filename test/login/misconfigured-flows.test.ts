// Misconfigured flows fail closed: they never require less than they would otherwise.
import { expect, test } from 'vitest'
import { testBrowser, type Visited } from '../support/browser.ts'
import { createLoginRealm } from '../support/login-realm.ts'
import { testServer } from '../support/server.ts'

const { app, call } = await testServer()

const otp = {
  type: 'otp',
  secretData: JSON.stringify({ value: 'ABCDEFGHIJKLMNOPQRST' }),
  credentialData: JSON.stringify({ subType: 'totp', digits: 6, counter: 0, period: 30, algorithm: 'HmacSHA1' }),
}
const logIn = { username: 'ann', password: 'pw' }
const hasCode = ({ response }: Visited) => response?.has('code') === true
const flow = (alias: string, authenticationExecutions: object[], topLevel = false) => ({
  providerId: 'basic-flow',
  builtIn: false,
  alias,
  topLevel,
  authenticationExecutions,
})

/** Creates a realm in which Ann needs a one-time code if the condition is met. */
async function createConditionalOtpRealm(authenticator: string, config: Record<string, string>) {
  const realm = await createLoginRealm({
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
  const withConfig = steps.find(({ authenticationConfig }: Record<string, string>) => authenticationConfig)
  return { ...realm, enter, configPath: `${realm.path}/authentication/config/${withConfig.authenticationConfig}` }
}

test.each([
  ['conditional-user-role', { condUserRole: 'staff' }],
  ['conditional-user-attribute', { attribute_name: 'team', attribute_expected_value: 'a' }],
  ['conditional-level-of-authentication', { 'loa-condition-level': '2', 'loa-max-age': '0' }],
  ['conditional-credential', { credentials: 'webauthn', included: 'true' }],
])('%s without its config requires the second factor', async (authenticator, config) => {
  const { enter, configPath } = await createConditionalOtpRealm(authenticator, config)
  // The condition cannot be evaluated without its first setting.
  const withoutFirst = Object.fromEntries(Object.entries(config).slice(1))
  for (const remaining of [withoutFirst, {}]) {
    expect((await call('PUT', configPath, { body: { alias: 'when', config: remaining } })).status).toBe(204)
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
])('%s without its config is met before the user is known', async (authenticator) => {
  const { logInAddress } = await createLoginRealm({
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

test.each([
  ['identity-provider-redirector', { defaultProvider: 'partner' }, 'partner'],
  ['organization', { requiresUserMembership: 'true' }, 'requiresUserMembership'],
])('a login that reaches %s with an unsupported setting fails', async (authenticator, config, name) => {
  const step = { requirement: 'ALTERNATIVE' }
  const { path, logInAddress } = await createLoginRealm({
    browserFlow: 'own',
    organizationsEnabled: true,
    authenticatorConfig: [{ alias: 'when', config }],
    authenticationFlows: [
      flow(
        'own',
        [
          { ...step, authenticator, authenticatorConfig: 'when' },
          { ...step, authenticator: 'auth-username-password-form' },
        ],
        true,
      ),
    ],
  })
  const open = () => testBrowser(app).open(logInAddress().address)
  expect((await open()).text).toContain(name)
  const [{ authenticationConfig }] = (await call('GET', `${path}/authentication/flows/own/executions`)).body
  await call('DELETE', `${path}/authentication/config/${authenticationConfig}`)
  expect((await open()).text).toContain('name="password"')
})

test('a login with kc_idp_hint fails for an identity provider of the realm, and ignores unknown and disabled ones', async () => {
  const identityProviders = [
    { alias: 'partner', providerId: 'oidc' },
    { alias: 'disabled', providerId: 'oidc', enabled: false },
  ]
  const { logInAddress } = await createLoginRealm({ identityProviders })
  const open = async (hint: string) => (await testBrowser(app).open(logInAddress({ kc_idp_hint: hint }).address)).text
  expect(await open('partner')).toContain('partner')
  for (const hint of ['disabled', 'unknown', '']) expect(await open(hint)).toContain('name="password"')
})

test('a reset of one-time codes that would remove others fails', async () => {
  const { path, user, logInAddress } = await createLoginRealm({
    resetPasswordAllowed: true,
    resetCredentialsFlow: 'own',
    authenticatorConfig: [{ alias: 'when', config: { action_on_otp_reset_flag: 'Remove all' } }],
    authenticationFlows: [
      flow(
        'own',
        [
          { authenticator: 'reset-credentials-choose-user', requirement: 'REQUIRED' },
          { authenticator: 'reset-otp', requirement: 'REQUIRED', authenticatorConfig: 'when' },
        ],
        true,
      ),
    ],
  })
  const ann = (await call('GET', `${path}/users/${user}`)).body
  await call('PUT', `${path}/users/${user}`, { body: { ...ann, credentials: [otp] } })
  const reset = async () => {
    const browser = testBrowser(app)
    const form = await browser.follow(await browser.open(logInAddress().address), '/reset-credentials')
    return (await browser.send(form, { username: 'ann' })).text
  }
  expect(await reset()).toContain('reset-otp: Remove all')
  const steps = (await call('GET', `${path}/authentication/flows/own/executions`)).body as Record<string, string>[]
  const config = `${path}/authentication/config/${steps[1]!.authenticationConfig}`
  const remaining = { alias: 'when', config: { action_on_otp_reset_flag: 'Remove none' } }
  await call('PUT', config, { body: remaining })
  expect(await reset()).toContain('Set up one-time codes')
})

test('no user can log in if the pattern of a condition is invalid', async () => {
  const config = { attribute_name: 'team', attribute_expected_value: '(', regex: 'true', not: 'true' }
  const { enter } = await createConditionalOtpRealm('conditional-user-attribute', config)
  const page = await enter()
  expect([page.status, hasCode(page), page.text]).toEqual([400, false, expect.not.stringContaining('name="otp"')])
})

test('a condition requires the second factor once its role is deleted', async () => {
  const { enter, path } = await createConditionalOtpRealm('conditional-user-role', { condUserRole: 'staff' })
  expect(hasCode(await enter())).toBe(true)
  await call('DELETE', `${path}/roles/staff`)
  expect((await enter()).text).toContain('name="otp"')
})

test('a registration flow that creates no user logs no user in', async () => {
  const step = (authenticator: string) => ({ authenticator, requirement: 'REQUIRED' })
  for (const steps of [
    [step('auth-username-form')],
    [step('auth-username-form'), step('allow-access-authenticator')],
  ]) {
    const realm = await createLoginRealm({
      registrationAllowed: true,
      registrationFlow: 'in',
      authenticationFlows: [flow('in', steps, true)],
    })
    const browser = testBrowser(app)
    const page = await browser.open(realm.logInAddress({ prompt: 'create' }).address)
    const next = await browser.send(page, { username: 'ann' })
    expect([next.status, hasCode(next)]).toEqual([400, false])
  }
})

test('a registration flow does not log in by the session of the browser', async () => {
  const { path, logInAddress } = await createLoginRealm({ registrationAllowed: true })
  const browser = testBrowser(app)
  await browser.send(await browser.open(logInAddress().address), logIn)
  const cookie = flow('in', [{ authenticator: 'auth-cookie', requirement: 'REQUIRED' }], true)
  await call('POST', `${path}/authentication/flows`, { body: cookie })
  await call('POST', `${path}/authentication/flows/in/executions/execution`, { body: { provider: 'auth-cookie' } })
  const [step] = (await call('GET', `${path}/authentication/flows/in/executions`)).body
  await call('PUT', `${path}/authentication/flows/in/executions`, { body: { ...step, requirement: 'REQUIRED' } })
  await call('PUT', path, { body: { registrationFlow: 'in' } })
  const page = await browser.open(logInAddress({ prompt: 'create' }).address)
  expect([page.status, hasCode(page)]).toEqual([400, false])
})

test('with organizations, the page after the username is the same for known and unknown users', async () => {
  const { path, logInAddress } = await createLoginRealm({ organizationsEnabled: true }, { ann: { username: 'p77123' } })
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
  const [knownUser, ...otherPages] = await Promise.all(
    ['ann@example.org', 'nobody@example.org', 'p77123', 'p77124', 'ANN@example.org', '${doLogIn}'].map(pageFor),
  )
  expect(knownUser!.text).toContain('You are signing in as NAME.')
  for (const other of otherPages) expect(other.text).toBe(knownUser!.text)
  expect(hasCode(await knownUser!.browser.send(knownUser!.page, { password: 'pw' }))).toBe(true)
  const refused = await otherPages[0]!.browser.send(otherPages[0]!.page, { password: 'pw' })
  expect(refused.text).toContain('You are signing in as nobody@example.org.')
})
