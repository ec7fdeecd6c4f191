// What people must do at log-in, and how they come in who have no account, or no password any more.
import { Secret, TOTP } from 'otpauth'
import { afterAll, expect, test } from 'vitest'
import { testBrowser, type Visited } from '../support/browser.ts'
import { openMailbox } from '../support/mailbox.ts'
import { realmWithPeople } from '../support/people.ts'
import { testServer } from '../support/server.ts'
import { testService } from '../support/service.ts'

const { app, call } = await testServer()
const { service } = await testService()
const mailbox = await openMailbox()
afterAll(() => mailbox.close())

const smtpServer = { host: '127.0.0.1', port: mailbox.port, from: 'realm@example.org' }

/** The path of the link in the latest mail to the address. */
async function latestLink(to: string): Promise<string> {
  await service.outbox!.settled()
  const mail = mailbox.mails.findLast((one) => one.to.includes(to))!
  const url = new URL(/https?:\/\/\S+/.exec(mail.text)![0])
  return url.pathname + url.search
}

const reached = ({ answer }: Visited) => answer?.has('code') === true
const logIn = { username: 'ann', password: 'pw' }

test('who must choose a new password is held to the policy, and logs in with it from then on', async () => {
  const { path, user, logInAddress } = await realmWithPeople(
    { passwordPolicy: 'length(8) and passwordHistory(3)' },
    { ann: { requiredActions: ['UPDATE_PASSWORD'] } },
  )
  const browser = testBrowser(app)
  const page = await browser.send(await browser.open(logInAddress().address), logIn)
  expect(page.text).toContain('Choose a new password')
  const choose = (from: Visited, password: string, repeated = password) =>
    browser.send(from, { 'password-new': password, 'password-confirm': repeated })
  const differing = await choose(page, 'long enough', 'long enugh')
  expect(differing.text).toContain('The two passwords differ.')
  const short = await choose(differing, 'short')
  expect(short.text).toContain('at least 8 characters')
  expect(reached(await choose(short, 'long enough'))).toBe(true)
  expect((await call('GET', `${path}/users/${user}`)).body.requiredActions).toEqual([])
  const other = testBrowser(app)
  const again = await other.send(await other.open(logInAddress().address), { ...logIn, password: 'long enough' })
  expect(reached(again)).toBe(true)
})

test('who has no full profile completes it, and who has one is not asked', async () => {
  const { path, user, logInAddress } = await realmWithPeople({}, { ann: { lastName: null } })
  const browser = testBrowser(app)
  const page = await browser.send(await browser.open(logInAddress().address), logIn)
  expect(page.text).toContain('Your details')
  expect(page.text).toMatch(/name="username"[^>]*readonly/)
  const wrong = await browser.send(page, { email: 'nowhere', firstName: 'Ann', lastName: 'Example' })
  expect(wrong.text).toContain('This is not an email address.')
  expect(
    reached(await browser.send(wrong, { email: 'a@example.org', firstName: 'Ann', lastName: 'B', username: 'eve' })),
  ).toBe(true)
  expect((await call('GET', `${path}/users/${user}`)).body).toMatchObject({
    username: 'ann',
    lastName: 'B',
    email: 'a@example.org',
  })
})

test('one-time codes are set up once, asked for from then on, and each counts once', async () => {
  const { logInAddress } = await realmWithPeople({}, { ann: { requiredActions: ['CONFIGURE_TOTP'] } })
  const browser = testBrowser(app)
  const setUp = await browser.send(await browser.open(logInAddress().address), logIn)
  const typed = /<p class="code">([A-Z2-7 ]+)<\/p>/.exec(setUp.text)![1]!
  const totp = new TOTP({ secret: Secret.fromBase32(typed.replaceAll(' ', '')) })
  const mistyped = await browser.send(setUp, { totp: '000000', userLabel: '' })
  expect(mistyped.text).toContain('Wrong code.')
  expect(mistyped.text).toContain(typed)
  const first = totp.generate()
  expect(reached(await browser.send(mistyped, { totp: first, userLabel: 'phone' }))).toBe(true)

  const later = testBrowser(app)
  const page = await later.send(await later.open(logInAddress().address), logIn)
  expect(page.text).toContain('One-time code')
  const asked = await later.send(page, { otp: first })
  expect(asked.text).toContain('Wrong code.')
  const code = totp.generate({ timestamp: Date.now() + 30_000 })
  expect(reached(await later.send(asked, { otp: code }))).toBe(true)
  const third = testBrowser(app)
  const replayed = await third.send(await third.send(await third.open(logInAddress().address), logIn), { otp: code })
  expect(replayed.text).toContain('Wrong code.')
})

test('who declines the terms does not come in', async () => {
  const { path, logInAddress } = await realmWithPeople({}, { ann: { requiredActions: ['TERMS_AND_CONDITIONS'] } })
  await call('PUT', `${path}/authentication/required-actions/TERMS_AND_CONDITIONS`, {
    body: {
      alias: 'TERMS_AND_CONDITIONS',
      name: 'Terms',
      providerId: 'TERMS_AND_CONDITIONS',
      enabled: true,
      priority: 1,
    },
  })
  await call('PUT', `${path}/localization/en/termsText`, {
    body: 'Be kind.',
    headers: { 'content-type': 'text/plain' },
  })
  const browser = testBrowser(app)
  const page = await browser.send(await browser.open(logInAddress().address), logIn)
  expect(page.text).toContain('Be kind.')
  expect((await browser.send(page, { cancel: 'true' })).status).toBe(400)
  const again = await browser.send(await browser.open(logInAddress().address), logIn)
  expect(reached(await browser.send(again, { accept: 'true' }))).toBe(true)
})

test('an account that demands what Regent does not offer cannot log in', async () => {
  const { logInAddress } = await realmWithPeople({}, { ann: { requiredActions: ['webauthn-register'] } })
  const browser = testBrowser(app)
  const page = await browser.send(await browser.open(logInAddress().address), logIn)
  expect([page.status, page.text]).toEqual([400, expect.stringContaining('webauthn-register')])
})

test('an application that must ask is agreed to once, and may be refused', async () => {
  const { path, user, logInAddress } = await realmWithPeople({}, { client: { consentRequired: true } })
  const browser = testBrowser(app)
  const page = await browser.send(await browser.open(logInAddress().address), logIn)
  expect(page.text).toContain('Your email address')
  expect((await browser.send(page, { cancel: 'true' })).answer?.get('error')).toBe('access_denied')
  const again = await browser.send(await browser.open(logInAddress().address), logIn)
  expect(reached(await browser.send(again, { accept: 'true' }))).toBe(true)
  const [consent] = (await call('GET', `${path}/users/${user}/consents`)).body
  expect(consent).toMatchObject({ clientId: 'web', grantedClientScopes: expect.arrayContaining(['email', 'profile']) })
  expect(reached(await browser.open(logInAddress({ prompt: 'none' }).address))).toBe(true)
})

test('somebody new registers, and is logged in', async () => {
  const { path, logInAddress } = await realmWithPeople({ registrationAllowed: true, passwordPolicy: 'length(8)' })
  const browser = testBrowser(app)
  const page = await browser.follow(await browser.open(logInAddress().address), '/registration')
  expect(page.text).toContain('<h1>Register</h1>')
  const bob = { username: 'bob', email: 'bob@example.org', firstName: 'Bob', lastName: 'New' }
  const password = { password: 'long enough', 'password-confirm': 'long enough' }
  const taken = await browser.send(page, { ...bob, username: 'ann', ...password })
  expect(taken.text).toContain('This username is taken.')
  expect(taken.text).not.toContain('long enough')
  const weak = await browser.send(taken, { ...bob, password: 'short', 'password-confirm': 'short' })
  expect(weak.text).toContain('at least 8 characters')
  expect(reached(await browser.send(weak, { ...bob, ...password }))).toBe(true)
  const [made] = (await call('GET', `${path}/users?username=bob&exact=true`)).body
  expect(made).toMatchObject({ ...bob, enabled: true, emailVerified: false })
})

test('nobody registers where the realm does not let them', async () => {
  const { logInAddress } = await realmWithPeople()
  const page = await testBrowser(app).open(logInAddress({ prompt: 'create' }).address)
  expect([page.status, page.text]).toEqual([400, expect.stringContaining('You cannot register here.')])
})

test('an address is confirmed by the link in a mail, in the same browser or with a click in another', async () => {
  const { path, user, logInAddress } = await realmWithPeople(
    { verifyEmail: true, smtpServer },
    { ann: { email: 'ann@here.example' } },
  )
  const browser = testBrowser(app)
  const page = await browser.send(await browser.open(logInAddress().address), logIn)
  expect(page.text).toContain('ann@here.example')
  const link = await latestLink('ann@here.example')
  const elsewhere = testBrowser(app)
  const question = await elsewhere.open(link)
  expect((await call('GET', `${path}/users/${user}`)).body.emailVerified).toBe(false)
  expect((await elsewhere.send(question, {})).text).toContain('Your email address is confirmed.')
  expect((await call('GET', `${path}/users/${user}`)).body.emailVerified).toBe(true)
  expect((await browser.open(link)).status).toBe(400)
  expect(reached(await browser.open(page.url))).toBe(true)
})

test('a forgotten password is chosen anew by a link, and who is not known is told the same', async () => {
  const { logInAddress } = await realmWithPeople(
    { resetPasswordAllowed: true, smtpServer },
    { ann: { email: 'ann@there.example' } },
  )
  const browser = testBrowser(app)
  const ask = async (username: string) =>
    browser.send(await browser.follow(await browser.open(logInAddress().address), '/reset-credentials'), { username })
  const [known, unknown] = [await ask('ann@there.example'), await ask('nobody')]
  for (const page of [known, unknown]) expect(page.text).toContain('If there is such an account')
  const choose = await browser.open(await latestLink('ann@there.example'))
  expect(choose.text).toContain('Choose a new password')
  const password = { 'password-new': 'another', 'password-confirm': 'another' }
  expect(reached(await browser.send(choose, password))).toBe(true)
  const other = testBrowser(app)
  const again = await other.send(await other.open(logInAddress().address), { ...logIn, password: 'another' })
  expect(reached(again)).toBe(true)
})

test('who follows the link of an administrator does what is asked, is not logged in, and cannot do it twice', async () => {
  const { path, user, logInAddress } = await realmWithPeople({ smtpServer }, { ann: { email: 'ann@errand.example' } })
  await call('PUT', `${path}/users/${user}/execute-actions-email`, { body: ['UPDATE_PASSWORD'] })
  const link = await latestLink('ann@errand.example')
  const browser = testBrowser(app)
  const question = await browser.open(link)
  expect(question.text).toContain('choose a new password')
  const choose = await browser.send(question, {})
  const done = await browser.send(choose, { 'password-new': 'another', 'password-confirm': 'another' })
  expect(done.text).toContain('Your account is up to date.')
  expect((await browser.open(logInAddress({ prompt: 'none' }).address)).answer?.get('error')).toBe('login_required')
  expect((await browser.open(link)).status).toBe(400)
})

/** Otto, who has an app for one-time codes: how he asks for tokens, and a code of his, some steps from now. */
async function otto(settings: object = {}) {
  const { path, name } = await realmWithPeople(settings, { client: { directAccessGrantsEnabled: true } })
  const secret = 'ABCDEFGHIJKLMNOPQRST'
  const data = { subType: 'totp', digits: 6, counter: 0, period: 30, algorithm: 'HmacSHA1' }
  const [secretData, credentialData] = [{ value: secret }, data].map((one) => JSON.stringify(one))
  const person = { username: 'otto', enabled: true, email: 'otto@example.org', firstName: 'O', lastName: 'T' }
  const credentials = [
    { type: 'password', value: 'pw' },
    { type: 'otp', secretData, credentialData },
  ]
  await call('POST', `${path}/users`, { body: { ...person, credentials } })
  return {
    ask: (form: Record<string, string>) =>
      call('POST', `/realms/${name}/protocol/openid-connect/token`, {
        token: null,
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body: new URLSearchParams({
          grant_type: 'password',
          client_id: 'web',
          username: 'otto',
          password: 'pw',
          ...form,
        }).toString(),
      }),
    codeIn: (steps: number) =>
      new TOTP({ secret: Secret.fromUTF8(secret) }).generate({ timestamp: Date.now() + steps * 30_000 }),
  }
}

test('a client that sends the password sends the code too, where the person has an app', async () => {
  const { ask, codeIn } = await otto()
  const code = codeIn(0)
  expect((await ask({})).body.error).toBe('invalid_grant')
  expect((await ask({ otp: '000000' })).body.error).toBe('invalid_grant')
  expect((await ask({ otp: code, password: 'wrong' })).body.error).toBe('invalid_grant')
  expect((await ask({ totp: code })).status).toBe(200)
  expect((await ask({ totp: code })).body.error).toBe('invalid_grant')
  expect((await ask({ username: 'ann' })).status).toBe(200)
})

test('a realm accepts codes that are 100 steps off at most, whatever its window is', async () => {
  const { ask, codeIn } = await otto({ otpPolicyLookAheadWindow: 2_000_000 })
  for (const steps of [-200, 200, 50_000]) expect((await ask({ totp: codeIn(steps) })).body.error).toBe('invalid_grant')
  for (const steps of [-90, 90]) expect((await ask({ totp: codeIn(steps) })).status).toBe(200)
})

test('a second factor that Regent cannot ask for is not left out', async () => {
  const webauthn = { type: 'webauthn', secretData: '{}', credentialData: '{}' }
  const { path, user, logInAddress } = await realmWithPeople()
  const flow = `${path}/authentication/flows`
  await call('POST', `${flow}/browser/copy`, { body: { newName: 'own' } })
  const steps = (await call('GET', `${flow}/own/executions`)).body as Record<string, string>[]
  const step = steps.find(({ providerId }) => providerId === 'webauthn-authenticator')!
  await call('PUT', `${flow}/own/executions`, { body: { ...step, requirement: 'ALTERNATIVE' } })
  await call('PUT', path, { body: { browserFlow: 'own' } })
  const enter = async () => {
    const browser = testBrowser(app)
    return browser.send(await browser.open(logInAddress().address), logIn)
  }
  expect(reached(await enter())).toBe(true)
  const live = (await call('GET', `${path}/users/${user}`)).body
  await call('PUT', `${path}/users/${user}`, { body: { ...live, credentials: [webauthn] } })
  expect((await enter()).text).toContain('webauthn-authenticator')
})

test('in a realm with organizations the name comes first', async () => {
  const { path, logInAddress } = await realmWithPeople({ organizationsEnabled: true })
  await call('POST', `${path}/organizations`, { body: { name: 'acme', domains: [{ name: 'acme.example' }] } })
  const browser = testBrowser(app)
  const page = await browser.open(logInAddress().address)
  expect(page.text).not.toContain('type="password"')
  const next = await browser.send(page, { username: 'ann' })
  expect(next.text).toContain('You are signing in as ann.')
  expect(reached(await browser.send(next, { password: 'pw' }))).toBe(true)
})

test('an application may ask for an action, which people may decline unless it is their duty', async () => {
  const { path, user, logInAddress } = await realmWithPeople()
  const browser = testBrowser(app)
  const ask = (action: string) => browser.open(logInAddress({ kc_action: action }).address)
  const wished = await browser.send(await ask('CONFIGURE_TOTP'), logIn)
  expect(wished.text).toContain('Set up one-time codes')
  const declined = await browser.send(wished, { 'cancel-aia': 'true' })
  expect([declined.answer?.get('kc_action_status'), reached(declined)]).toEqual(['cancelled', true])
  expect((await ask('webauthn-register')).answer?.get('kc_action_status')).toBe('error')
  const live = (await call('GET', `${path}/users/${user}`)).body
  await call('PUT', `${path}/users/${user}`, { body: { ...live, requiredActions: ['CONFIGURE_TOTP'] } })
  const duty = await browser.send(await ask('CONFIGURE_TOTP'), { 'cancel-aia': 'true' })
  expect([duty.answer, duty.text]).toEqual([undefined, expect.stringContaining('Set up one-time codes')])
})

test('who changes their password shows anew who they are, as long after the log-in as the policy says', async () => {
  const { path, logInAddress } = await realmWithPeople()
  const browser = testBrowser(app)
  await browser.send(await browser.open(logInAddress().address), logIn)
  const ask = async () => (await browser.open(logInAddress({ kc_action: 'UPDATE_PASSWORD' }).address)).text
  expect(await ask()).toContain('name="password-new"')
  await call('PUT', path, { body: { passwordPolicy: 'maxAuthAge(0)' } })
  expect(await ask()).toContain('You are signing in as ann.')
})

test('who chooses a new password may end what goes on elsewhere', async () => {
  const { path, user, logInAddress } = await realmWithPeople()
  const [here, elsewhere] = [testBrowser(app), testBrowser(app)]
  for (const browser of [here, elsewhere]) await browser.send(await browser.open(logInAddress().address), logIn)
  const page = await here.open(logInAddress({ kc_action: 'UPDATE_PASSWORD' }).address)
  const fields = { 'password-new': 'another', 'password-confirm': 'another', 'logout-sessions': 'on' }
  const done = await here.send(page, fields)
  expect([done.answer?.get('kc_action_status'), reached(done)]).toEqual(['success', true])
  expect((await elsewhere.open(logInAddress({ prompt: 'none' }).address)).answer?.get('error')).toBe('login_required')
  expect((await call('GET', `${path}/users/${user}/sessions`)).body).toHaveLength(1)
})
