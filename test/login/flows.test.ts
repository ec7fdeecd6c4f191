// Custom authentication flows: conditions, separate forms, and the forms of user profiles.
import { expect, test } from 'vitest'
import { testBrowser } from '../support/browser.ts'
import { createLoginRealm } from '../support/login-realm.ts'
import { testServer } from '../support/server.ts'

const { app, call } = await testServer()

interface Step {
  readonly authenticator?: string
  readonly flowAlias?: string
  readonly authenticatorConfig?: string
  readonly requirement: string
}

/** Returns realm settings with these flows. The first one is the browser flow. */
const flows = (steps: Record<string, Step[]>, configs: Record<string, Record<string, string>> = {}) => ({
  browserFlow: Object.keys(steps)[0],
  authenticationFlows: Object.entries(steps).map(([alias, authenticationExecutions], at) => ({
    alias,
    providerId: 'basic-flow',
    topLevel: at === 0,
    builtIn: false,
    authenticationExecutions,
  })),
  authenticatorConfig: Object.entries(configs).map(([alias, config]) => ({ alias, config })),
})

const password: Step = { authenticator: 'auth-username-password-form', requirement: 'REQUIRED' }
const deny: Step = { authenticator: 'deny-access-authenticator', requirement: 'REQUIRED' }

/** Whether Ann can log in; otherwise she must see that access is denied. */
async function canLogIn({ logInAddress }: Awaited<ReturnType<typeof createLoginRealm>>): Promise<boolean> {
  const browser = testBrowser(app)
  const page = await browser.send(await browser.open(logInAddress().address), { username: 'ann', password: 'pw' })
  if (!page.response) expect([page.status, page.text]).toEqual([401, expect.stringContaining('Access denied.')])
  return page.response?.has('code') === true
}

/** Creates a realm that denies access if the condition is met. */
const createDenyingRealm = (authenticator: string, config: Record<string, string>, ann: object = {}) =>
  createLoginRealm(
    {
      ...flows(
        {
          top: [password, { flowAlias: 'gate', requirement: 'CONDITIONAL' }],
          gate: [{ authenticator, authenticatorConfig: 'condition', requirement: 'REQUIRED' }, deny],
        },
        { condition: config },
      ),
      groups: [{ name: 'a', attributes: { team: ['green'] }, subGroups: [{ name: 'b' }] }],
      roles: { realm: [{ name: 'staff' }, { name: 'manager', composite: true, composites: { realm: ['staff'] } }] },
    },
    { ann },
  )

test('a role condition is met by an effective role or, if negated, by its absence', async () => {
  const role = 'conditional-user-role'
  expect(await canLogIn(await createDenyingRealm(role, { condUserRole: 'staff' }))).toBe(true)
  expect(await canLogIn(await createDenyingRealm(role, { condUserRole: 'staff' }, { realmRoles: ['manager'] }))).toBe(
    false,
  )
  expect(await canLogIn(await createDenyingRealm(role, { condUserRole: 'staff', negate: 'true' }))).toBe(false)
})

test('an attribute condition is met by a value or a pattern', async () => {
  const attribute = 'conditional-user-attribute'
  const ann = { attributes: { team: ['red', 'blue-2'] } }
  const expecting = (value: string, more = {}) => ({ attribute_name: 'team', attribute_expected_value: value, ...more })
  expect(await canLogIn(await createDenyingRealm(attribute, expecting('red'), ann))).toBe(false)
  expect(await canLogIn(await createDenyingRealm(attribute, expecting('blue'), ann))).toBe(true)
  expect(await canLogIn(await createDenyingRealm(attribute, expecting('blue-\\d', { regex: 'true' }), ann))).toBe(false)
  expect(await canLogIn(await createDenyingRealm(attribute, expecting('red', { not: 'true' }), ann))).toBe(true)
  const member = { ...ann, groups: ['/a/b'] }
  expect(await canLogIn(await createDenyingRealm(attribute, expecting('green'), member))).toBe(true)
  const withGroups = expecting('green', { include_group_attributes: 'true' })
  expect(await canLogIn(await createDenyingRealm(attribute, withGroups, member))).toBe(false)
})

test('a credential condition is met by the use of one of its types or, if not included, by their absence', async () => {
  const credential = 'conditional-credential'
  const using = (credentials: string, included: string) => ({ credentials, included })
  expect(await canLogIn(await createDenyingRealm(credential, using('otp##password', 'true')))).toBe(false)
  expect(await canLogIn(await createDenyingRealm(credential, using('otp', 'true')))).toBe(true)
  expect(await canLogIn(await createDenyingRealm(credential, using('otp##password', 'false')))).toBe(true)
  expect(await canLogIn(await createDenyingRealm(credential, using('otp', 'false')))).toBe(false)
})

test('a step that denies access shows its error message', async () => {
  const denial = { ...deny, authenticatorConfig: 'closed' }
  const { logInAddress } = await createLoginRealm(
    flows({ top: [password, denial] }, { closed: { denyErrorMessage: 'Closed on Sundays.' } }),
  )
  const browser = testBrowser(app)
  const page = await browser.send(await browser.open(logInAddress().address), { username: 'ann', password: 'pw' })
  expect([page.status, page.text]).toEqual([401, expect.stringContaining('Closed on Sundays.')])
})

test('a conditional flow without conditions is skipped, and one with an unsupported condition fails', async () => {
  const top = [password, { flowAlias: 'gate', requirement: 'CONDITIONAL' }]
  expect(await canLogIn(await createLoginRealm(flows({ top, gate: [deny] })))).toBe(true)
  const unsupported = { authenticator: 'conditional-client-scope', requirement: 'REQUIRED' }
  const { logInAddress } = await createLoginRealm(flows({ top, gate: [unsupported, deny] }))
  const browser = testBrowser(app)
  const page = await browser.send(await browser.open(logInAddress().address), { username: 'ann', password: 'pw' })
  expect([page.status, page.text]).toEqual([400, expect.stringContaining('conditional-client-scope')])
})

test('username and password may be on separate pages', async () => {
  const form = (authenticator: string): Step => ({ authenticator, requirement: 'REQUIRED' })
  const { logInAddress } = await createLoginRealm(
    flows({ top: [form('auth-username-form'), form('auth-password-form')] }),
  )
  const browser = testBrowser(app)
  const first = await browser.open(logInAddress().address)
  expect(first.text).not.toContain('type="password"')
  const second = await browser.send(first, { username: 'ann' })
  expect(second.text).toContain('You are signing in as ann.')
  const another = await browser.follow(second, '/restart')
  expect(another.text).toContain('name="username"')
  const again = await browser.send(another, { username: 'ann' })
  expect((await browser.send(again, { password: 'pw' })).response?.has('code')).toBe(true)
})

test('a step that allows access continues the flow', async () => {
  const allow: Step = { authenticator: 'allow-access-authenticator', requirement: 'REQUIRED' }
  expect(await canLogIn(await createLoginRealm(flows({ top: [password, allow] })))).toBe(true)
})

test('a registration flow with terms requires that they are accepted', async () => {
  const required = (authenticator: string): Step => ({ authenticator, requirement: 'REQUIRED' })
  const registration = flows({
    sign: [{ ...required('registration-page-form'), flowAlias: 'form' }],
    form: [required('registration-user-creation'), required('registration-terms-and-conditions')],
  })
  const [sign, form] = registration.authenticationFlows
  const realm = await createLoginRealm({
    ...{ registrationAllowed: true, registrationFlow: 'sign' },
    authenticationFlows: [sign, { ...form, providerId: 'form-flow' }],
  })
  const browser = testBrowser(app)
  const page = await browser.open(realm.logInAddress({ prompt: 'create' }).address)
  const bob = { username: 'bob', email: 'bob@example.org', firstName: 'Bob', lastName: 'New' }
  const refused = await browser.send(page, bob)
  expect(refused.text).toContain('You must accept the terms and conditions.')
  expect((await browser.send(refused, { ...bob, termsAccepted: 'on' })).response?.has('code')).toBe(true)
})

test('a change of the flow does not break a login in progress', async () => {
  const realm = await createLoginRealm()
  await call('POST', `${realm.path}/authentication/flows/browser/copy`, { body: { newName: 'own' } })
  await call('PUT', realm.path, { body: { browserFlow: 'own' } })
  const browser = testBrowser(app)
  const page = await browser.open(realm.logInAddress().address)
  const steps = (await call('GET', `${realm.path}/authentication/flows/own/executions`)).body as Record<
    string,
    string
  >[]
  const cookie = steps.find(({ providerId }) => providerId === 'auth-cookie')!
  await call('PUT', `${realm.path}/authentication/flows/own/executions`, {
    body: { ...cookie, requirement: 'DISABLED' },
  })
  expect((await browser.send(page, { username: 'ann', password: 'pw' })).response?.has('code')).toBe(true)
})

test('a registration form shows and validates the attributes of the user profile', async () => {
  const german = { internationalizationEnabled: true, supportedLocales: ['de', 'en'], defaultLocale: 'en' }
  const realm = await createLoginRealm({ registrationAllowed: true, ...german })
  await call('POST', `${realm.path}/localization/en`, { body: { capitals: 'Only capitals.' } })
  const profile = (await call('GET', `${realm.path}/users/profile`)).body
  const both = { view: ['admin', 'user'], edit: ['admin', 'user'] }
  const attributes = [
    ...profile.attributes,
    {
      name: 'size',
      displayName: 'Size',
      permissions: both,
      validations: { options: { options: ['S', 'L'] } },
      required: {},
    },
    { name: 'langs', displayName: 'Languages', permissions: both, multivalued: true },
    {
      name: 'plate',
      permissions: both,
      validations: { pattern: { pattern: '[A-Z]+', 'error-message': '${capitals}' } },
    },
    { name: 'born', permissions: both, validations: { 'local-date': {} } },
    { name: 'rank', displayName: 'Rank', permissions: { view: ['admin'], edit: ['admin'] } },
  ]
  await call('PUT', `${realm.path}/users/profile`, { body: { ...profile, attributes } })
  const browser = testBrowser(app)
  const page = await browser.open(realm.logInAddress({ prompt: 'create' }).address)
  expect(page.text).toContain('<option value="S">S</option>')
  expect(page.text).not.toContain('Rank')
  const bob = { username: 'bob', email: 'bob@example.org', firstName: 'Bob', lastName: 'New', rank: '1' }
  const typed = { ...bob, langs: 'de\r\n\r\nen', password: 'pw', 'password-confirm': 'pw' }
  const incomplete = await browser.send(page, typed)
  expect(incomplete.text).toContain('Please fill in Size.')
  const small = await browser.send(incomplete, { ...typed, size: 'L', plate: 'abc' })
  expect(small.text).toContain('Only capitals.')
  const american = await browser.send(small, { ...typed, size: 'L', born: '28.2.2000' })
  expect(american.text).toContain('This is not a date.')
  const inGerman = await browser.open(`${american.url}&kc_locale=de`)
  const right = { ...typed, size: 'L', plate: 'ABC', born: '28.2.2000' }
  expect((await browser.send(inGerman, right)).response?.has('code')).toBe(true)
  const [created] = (await call('GET', `${realm.path}/users?username=bob&exact=true`)).body
  expect(created.attributes).toEqual({ size: ['L'], langs: ['de', 'en'], plate: ['ABC'], born: ['28.2.2000'] })
})
