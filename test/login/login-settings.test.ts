// The settings of realms, clients and client scopes that decide how users log in.
import { afterAll, expect, test } from 'vitest'
import { loginAddress, testBrowser } from '../support/browser.ts'
import { openTimedServer } from '../support/timed-server.ts'

const { app, call, createRealm, later, close } = await openTimedServer()
afterAll(close)

type Realm = Awaited<ReturnType<typeof createRealm>>

const ann = { username: 'ann', password: 'pw' }

/** Opens the login page of the client, in a new browser. */
async function openLoginPage({ name }: Pick<Realm, 'name'>, parameters: Record<string, string> = {}) {
  const browser = testBrowser(app)
  return { browser, page: await browser.open(loginAddress(name, parameters).address) }
}

/** Logs Ann in up to the page behind the login page. */
async function logIn(realm: Pick<Realm, 'name'>) {
  const { browser, page } = await openLoginPage(realm)
  return { browser, page: page.text.includes('name="password"') ? await browser.send(page, ann) : page }
}

test.each([
  ['accessCodeLifespanLogin', openLoginPage, ann],
  ['accessCodeLifespanUserAction', logIn, { 'password-new': 'new', 'password-confirm': 'new' }],
])('%s is the time that a user has for a page', async (setting, openPage, form) => {
  const realm = await createRealm({ [setting]: 100 }, { ann: { requiredActions: ['UPDATE_PASSWORD'] } })
  const submitAfter = async (seconds: number) => {
    const { browser, page } = await openPage(realm)
    later(seconds)
    return (await browser.send(page, form)).text.includes('Your sign-in has expired.')
  }
  expect(await submitAfter(101)).toBe(true)
  expect(await submitAfter(99)).toBe(false)
})

test('with registrationEmailAsUsername, the registration form has no username, and the email address is used', async () => {
  const realm = await createRealm({ registrationAllowed: true, registrationEmailAsUsername: true })
  const { browser, page } = await openLoginPage(realm, { prompt: 'create' })
  expect(page.text).not.toContain('name="username"')
  const password = { password: 'pw', 'password-confirm': 'pw' }
  await browser.send(page, { email: 'bob@example.org', firstName: 'Bob', lastName: 'New', ...password })
  const [bob] = await call('GET', `${realm.path}/users?email=bob@example.org`)
  expect(bob.username).toBe('bob@example.org')
})

test('without resetPasswordAllowed, the link for a forgotten password is refused, and no longer shown', async () => {
  const realm = await createRealm({ resetPasswordAllowed: true })
  const { browser, page } = await openLoginPage(realm)
  await call('PUT', realm.path, { resetPasswordAllowed: false })
  expect((await browser.follow(page, '/reset-credentials')).status).toBe(400)
  expect((await openLoginPage(realm)).page.text).not.toContain('/reset-credentials')
})

test('a log-in at forgot-credentials begins with the flow for a forgotten password, where that is allowed', async () => {
  const realm = await createRealm({ resetPasswordAllowed: true })
  const address = loginAddress(realm.name).address.replace(
    '/openid-connect/auth?',
    '/openid-connect/forgot-credentials?',
  )
  const open = () => testBrowser(app).open(address)
  const { text } = await open()
  expect([text.includes('name="username"'), text.includes('name="password"')]).toEqual([true, false])
  await call('PUT', realm.path, { resetPasswordAllowed: false })
  expect((await open()).status).toBe(400)
})

/** A flow that nobody can pass. */
const closedFlow = {
  ...{ alias: 'closed', providerId: 'basic-flow', topLevel: true, builtIn: false },
  authenticationExecutions: [{ authenticator: 'deny-access-authenticator', requirement: 'REQUIRED' }],
}

const DENIED = 'Access denied.'

test.each([
  ['registrationFlow', { prompt: 'create' }, ''],
  ['resetCredentialsFlow', {}, '/reset-credentials'],
])('%s is the flow of its page', async (binding, parameters, link) => {
  const settings = { registrationAllowed: true, resetPasswordAllowed: true, authenticationFlows: [closedFlow] }
  const openPage = async (bound: object) => {
    const realm = await createRealm({ ...settings, ...bound })
    const { browser, page } = await openLoginPage(realm, parameters)
    return (link === '' ? page : await browser.follow(page, link)).text
  }
  expect(await openPage({})).not.toContain(DENIED)
  expect(await openPage({ [binding]: 'closed' })).toContain(DENIED)
})

test('directGrantFlow is the flow of the password grant', async () => {
  const realm = await createRealm({ authenticationFlows: [closedFlow] })
  expect(await realm.logIn()).toHaveProperty('access_token')
  await call('PUT', realm.path, { directGrantFlow: 'closed' })
  expect(await realm.logIn()).toMatchObject({ error: 'invalid_grant' })
})

test('the password grant names the step of its flow that only pages support', async () => {
  const authenticationExecutions = [{ authenticator: 'auth-username-password-form', requirement: 'REQUIRED' }]
  const pageFlow = { ...closedFlow, alias: 'page', authenticationExecutions }
  const realm = await createRealm({ authenticationFlows: [pageFlow], directGrantFlow: 'page' })
  expect(await realm.logIn()).toMatchObject({
    error: 'invalid_grant',
    error_description:
      'The direct grant flow requires auth-username-password-form, which the password grant does not support',
  })
})

test('clientAuthenticationFlow decides which methods clients may use', async () => {
  const keysOnly = {
    ...{ alias: 'keys only', providerId: 'client-flow', topLevel: true, builtIn: false },
    authenticationExecutions: [{ authenticator: 'client-jwt', requirement: 'ALTERNATIVE' }],
  }
  const client = { publicClient: false, secret: 'secret' }
  const realm = await createRealm({ authenticationFlows: [keysOnly] }, { client })
  const request = () => realm.logIn({ client_secret: 'secret' })
  expect(await request()).toHaveProperty('access_token')
  await call('PUT', realm.path, { clientAuthenticationFlow: 'keys only' })
  expect(await request()).toMatchObject({ error: 'invalid_client' })
})

test.each(['browser', 'direct_grant'])(
  'authenticationFlowBindingOverrides.%s replaces the flow of the realm',
  async (binding) => {
    const realm = await createRealm({ authenticationFlows: [closedFlow] })
    const isDenied = async () =>
      binding === 'browser'
        ? (await openLoginPage(realm)).page.text.includes(DENIED)
        : (await realm.logIn()).error === 'invalid_grant'
    expect(await isDenied()).toBe(false)
    const flows: { id: string; alias: string }[] = await call('GET', `${realm.path}/authentication/flows`)
    const { id } = flows.find(({ alias }) => alias === 'closed')!
    await call('PUT', realm.client, { authenticationFlowBindingOverrides: { [binding]: id } })
    expect(await isDenied()).toBe(true)
  },
)

test.each([
  ['baseUrl', { baseUrl: 'https://app.example/home' }, 'https://app.example/home'],
  ['baseUrl and rootUrl', { baseUrl: '/home', rootUrl: 'https://root.example' }, 'https://root.example/home'],
])('an error page links to the %s of the client', async (_, client, address) => {
  const settings = { browserFlow: 'closed', authenticationFlows: [closedFlow] }
  const { page } = await openLoginPage(await createRealm(settings, { client }))
  expect(page.text).toContain(`<a href="${address}">`)
})

test('default.acr.values are the levels that a client requests without naming any', async () => {
  const part = { providerId: 'basic-flow', topLevel: false, builtIn: false }
  const level = (number: number, authenticator: string) => ({
    ...{ ...part, alias: `level ${number}` },
    authenticationExecutions: [
      {
        authenticator: 'conditional-level-of-authentication',
        authenticatorConfig: `config ${number}`,
        requirement: 'REQUIRED',
      },
      { authenticator, requirement: 'REQUIRED' },
    ],
  })
  const settings = {
    browserFlow: 'levels',
    authenticatorConfig: [1, 2].map((number) => ({
      alias: `config ${number}`,
      config: { 'loa-condition-level': String(number), 'loa-max-age': '0' },
    })),
    authenticationFlows: [
      {
        ...{ ...part, alias: 'levels', topLevel: true },
        authenticationExecutions: [1, 2].map((number) => ({
          flowAlias: `level ${number}`,
          requirement: 'CONDITIONAL',
        })),
      },
      level(1, 'auth-username-password-form'),
      level(2, 'deny-access-authenticator'),
    ],
  }
  const realm = await createRealm(settings)
  expect((await logIn(realm)).page.response?.has('code')).toBe(true)
  await call('PUT', realm.client, { attributes: { 'default.acr.values': '2' } })
  expect((await logIn(realm)).page.text).toContain(DENIED)
})

/** Returns the entries of the consent page, in order, for client scopes and a client with these attributes. */
async function listConsentItems(
  scopes: Readonly<Record<string, Record<string, string>>>,
  clientAttributes: Record<string, string> = {},
): Promise<string[]> {
  const client = { consentRequired: true, defaultClientScopes: [], attributes: clientAttributes }
  const realm = await createRealm({}, { client })
  for (const [name, attributes] of Object.entries(scopes)) {
    const scope = await call('POST', `${realm.path}/client-scopes`, { name, protocol: 'openid-connect', attributes })
    await call('PUT', `${realm.client}/default-client-scopes/${scope.split('/').at(-1)}`)
  }
  return [...(await logIn(realm)).page.text.matchAll(/<li>(.*?)<\/li>/g)].map(([, item]) => item!)
}

test('the consent page shows client scopes unless display.on.consent.screen is "false"', async () => {
  const items = await listConsentItems({ visible: {}, hidden: { 'display.on.consent.screen': 'false' } })
  expect(items).toEqual(['visible'])
})

test('the consent page shows consent.screen.text instead of the name of a client scope', async () => {
  expect(await listConsentItems({ desk: { 'consent.screen.text': 'Your desk' } })).toEqual(['Your desk'])
})

test('the consent page is ordered by gui.order', async () => {
  const items = await listConsentItems({ a: { 'gui.order': '3' }, b: { 'gui.order': '1' }, c: { 'gui.order': '2' } })
  expect(items).toEqual(['b', 'c', 'a'])
})

test('the consent page shows a client as an entry of its own if display.on.consent.screen is "true"', async () => {
  const attributes = {
    ...{ 'display.on.consent.screen': 'true', 'consent.screen.text': 'Your shop' },
    'gui.order': '2',
  }
  const items = await listConsentItems({ a: { 'gui.order': '3' }, b: { 'gui.order': '1' } }, attributes)
  expect(items).toEqual(['b', 'Your shop', 'a'])
})

test('a client with consentRequired gets no tokens for a password before the user consents', async () => {
  const { logIn } = await createRealm({}, { client: { consentRequired: true } })
  expect(await logIn()).toMatchObject({ error: 'invalid_client', error_description: 'Client requires user consent' })
})

test('a form that asks only for the username accepts an email address with loginWithEmailAllowed only', async () => {
  const step = (authenticator: string) => ({ authenticator, requirement: 'REQUIRED' })
  const twoPages = {
    ...{ alias: 'two pages', providerId: 'basic-flow', topLevel: true, builtIn: false },
    authenticationExecutions: [step('auth-username-form'), step('auth-password-form')],
  }
  const realm = await createRealm({ browserFlow: 'two pages', authenticationFlows: [twoPages] })
  const isAccepted = async () => {
    const { browser, page } = await openLoginPage(realm)
    return (await browser.send(page, { username: 'ann@example.org' })).text.includes('name="password"')
  }
  expect(await isAccepted()).toBe(true)
  await call('PUT', realm.path, { loginWithEmailAllowed: false })
  expect(await isAccepted()).toBe(false)
})
