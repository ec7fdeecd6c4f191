// Flows that administrators compose: conditions, alternatives, and what a form asks for.
import { expect, test } from 'vitest'
import { testBrowser } from '../support/browser.ts'
import { realmWithPeople } from '../support/people.ts'
import { testServer } from '../support/server.ts'

const { app, call } = await testServer()

interface Step {
  readonly authenticator?: string
  readonly flowAlias?: string
  readonly authenticatorConfig?: string
  readonly requirement: string
}

/** Settings of a realm whose log-in with a browser is these flows, the first of them at the top. */
const flows = (described: Record<string, Step[]>, configs: Record<string, Record<string, string>> = {}) => ({
  browserFlow: Object.keys(described)[0],
  authenticationFlows: Object.entries(described).map(([alias, authenticationExecutions], at) => ({
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

/** Logs Ann in: whether she is let in. */
async function enters({ logInAddress }: Awaited<ReturnType<typeof realmWithPeople>>): Promise<boolean> {
  const browser = testBrowser(app)
  const page = await browser.send(await browser.open(logInAddress().address), { username: 'ann', password: 'pw' })
  if (!page.answer) expect([page.status, page.text]).toEqual([401, expect.stringContaining('Access denied.')])
  return page.answer?.has('code') === true
}

/** A realm that denies access where the condition holds. */
const denyingWhere = (authenticator: string, config: Record<string, string>, ann: object = {}) =>
  realmWithPeople(
    {
      ...flows(
        {
          own: [password, { flowAlias: 'gate', requirement: 'CONDITIONAL' }],
          gate: [{ authenticator, authenticatorConfig: 'condition', requirement: 'REQUIRED' }, deny],
        },
        { condition: config },
      ),
      groups: [{ name: 'a', attributes: { team: ['green'] }, subGroups: [{ name: 'b' }] }],
      roles: { realm: [{ name: 'staff' }, { name: 'boss', composite: true, composites: { realm: ['staff'] } }] },
    },
    { ann },
  )

test('a condition asks for a role that somebody holds in effect, or for its absence', async () => {
  const role = 'conditional-user-role'
  expect(await enters(await denyingWhere(role, { condUserRole: 'staff' }))).toBe(true)
  expect(await enters(await denyingWhere(role, { condUserRole: 'staff' }, { realmRoles: ['boss'] }))).toBe(false)
  expect(await enters(await denyingWhere(role, { condUserRole: 'staff', negate: 'true' }))).toBe(false)
})

test('a condition asks for an attribute, by its value or by a pattern', async () => {
  const attribute = 'conditional-user-attribute'
  const ann = { attributes: { team: ['red', 'blue-2'] } }
  const asks = (value: string, more = {}) => ({ attribute_name: 'team', attribute_expected_value: value, ...more })
  expect(await enters(await denyingWhere(attribute, asks('red'), ann))).toBe(false)
  expect(await enters(await denyingWhere(attribute, asks('blue'), ann))).toBe(true)
  expect(await enters(await denyingWhere(attribute, asks('blue-\\d', { regex: 'true' }), ann))).toBe(false)
  expect(await enters(await denyingWhere(attribute, asks('red', { not: 'true' }), ann))).toBe(true)
  const member = { ...ann, groups: ['/a/b'] }
  expect(await enters(await denyingWhere(attribute, asks('green'), member))).toBe(true)
  const withGroups = asks('green', { include_group_attributes: 'true' })
  expect(await enters(await denyingWhere(attribute, withGroups, member))).toBe(false)
})

test('a conditional flow without conditions does not apply, and one that is not known fails', async () => {
  const own = [password, { flowAlias: 'gate', requirement: 'CONDITIONAL' }]
  expect(await enters(await realmWithPeople(flows({ own, gate: [deny] })))).toBe(true)
  const strange = { authenticator: 'conditional-client-scope', requirement: 'REQUIRED' }
  const { logInAddress } = await realmWithPeople(flows({ own, gate: [strange, deny] }))
  const browser = testBrowser(app)
  const page = await browser.send(await browser.open(logInAddress().address), { username: 'ann', password: 'pw' })
  expect([page.status, page.text]).toEqual([400, expect.stringContaining('conditional-client-scope')])
})

test('name and password may be asked one after the other', async () => {
  const form = (authenticator: string): Step => ({ authenticator, requirement: 'REQUIRED' })
  const { logInAddress } = await realmWithPeople(
    flows({ own: [form('auth-username-form'), form('auth-password-form')] }),
  )
  const browser = testBrowser(app)
  const first = await browser.open(logInAddress().address)
  expect(first.text).not.toContain('type="password"')
  const second = await browser.send(first, { username: 'ann' })
  expect(second.text).toContain('You are signing in as ann.')
  const another = await browser.follow(second, '/restart')
  expect(another.text).toContain('name="username"')
  const again = await browser.send(another, { username: 'ann' })
  expect((await browser.send(again, { password: 'pw' })).answer?.has('code')).toBe(true)
})

test('an edit of the flow does not break a log-in on its way', async () => {
  const realm = await realmWithPeople()
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
  expect((await browser.send(page, { username: 'ann', password: 'pw' })).answer?.has('code')).toBe(true)
})

test('people are asked for what the profile of their realm wants, as it wants it', async () => {
  const german = { internationalizationEnabled: true, supportedLocales: ['de', 'en'], defaultLocale: 'en' }
  const realm = await realmWithPeople({ registrationAllowed: true, ...german })
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
  const without = await browser.send(page, typed)
  expect(without.text).toContain('Please fill in Size.')
  const small = await browser.send(without, { ...typed, size: 'L', plate: 'abc' })
  expect(small.text).toContain('Only capitals.')
  const american = await browser.send(small, { ...typed, size: 'L', born: '28.2.2000' })
  expect(american.text).toContain('This is not a date.')
  const inGerman = await browser.open(`${american.url}&kc_locale=de`)
  const right = { ...typed, size: 'L', plate: 'ABC', born: '28.2.2000' }
  expect((await browser.send(inGerman, right)).answer?.has('code')).toBe(true)
  const [made] = (await call('GET', `${realm.path}/users?username=bob&exact=true`)).body
  expect(made.attributes).toEqual({ size: ['L'], langs: ['de', 'en'], plate: ['ABC'], born: ['28.2.2000'] })
})
