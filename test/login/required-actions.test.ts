// Required actions, registration, password reset and email verification at login.
import { HOTP, Secret, TOTP } from 'otpauth'
import { afterAll, expect, test } from 'vitest'
import { testBrowser, type Visited } from '../support/browser.ts'
import { createLoginRealm } from '../support/login-realm.ts'
import { openMailbox } from '../support/mailbox.ts'
import { testServer } from '../support/server.ts'
import { testService } from '../support/service.ts'

const { app, call, create } = await testServer()
const { service } = await testService()
const mailbox = await openMailbox()
afterAll(() => mailbox.close())

const smtpServer = { host: '127.0.0.1', port: mailbox.port, from: 'realm@example.org' }

/** Returns the path of the link in the latest email to an address. */
async function latestLink(to: string): Promise<string> {
  await service.outboxWorker!.whenIdle()
  const mail = mailbox.emails.findLast((message) => message.to.includes(to))!
  const url = new URL(/https?:\/\/\S+/.exec(mail.text)![0])
  return url.pathname + url.search
}

const hasCode = ({ response }: Visited) => response?.has('code') === true
const logIn = { username: 'ann', password: 'pw' }

test('a user who must change their password can log in with a new one that meets the policy', async () => {
  const { path, user, logInAddress } = await createLoginRealm(
    { passwordPolicy: 'length(8) and passwordHistory(3)' },
    { ann: { requiredActions: ['UPDATE_PASSWORD'] } },
  )
  const browser = testBrowser(app)
  const page = await browser.send(await browser.open(logInAddress().address), logIn)
  expect(page.text).toContain('Choose a new password')
  for (const rule of ['at least 8 characters', 'not one of your last 3 passwords'])
    expect(page.text).toContain(`<li>${rule}</li>`)
  const choose = (from: Visited, password: string, repeated = password) =>
    browser.send(from, { 'password-new': password, 'password-confirm': repeated })
  const differing = await choose(page, 'long enough', 'long enugh')
  expect(differing.text).toContain('The passwords do not match.')
  const short = await choose(differing, 'short')
  expect(short.text).toContain('The password must have at least 8 characters.')
  expect(hasCode(await choose(short, 'long enough'))).toBe(true)
  expect((await call('GET', `${path}/users/${user}`)).body.requiredActions).toEqual([])
  const other = testBrowser(app)
  const again = await other.send(await other.open(logInAddress().address), { ...logIn, password: 'long enough' })
  expect(hasCode(again)).toBe(true)
})

test('a user with an incomplete profile must complete it at login', async () => {
  const { path, user, logInAddress } = await createLoginRealm({}, { ann: { lastName: null } })
  const browser = testBrowser(app)
  const page = await browser.send(await browser.open(logInAddress().address), logIn)
  expect(page.text).toContain('Your profile')
  expect(page.text).toMatch(/name="username"[^>]*readonly/)
  const invalid = await browser.send(page, { email: 'nowhere', firstName: 'Ann', lastName: 'Example' })
  expect(invalid.text).toContain('This is not an email address.')
  expect(
    hasCode(await browser.send(invalid, { email: 'a@example.org', firstName: 'Ann', lastName: 'B', username: 'eve' })),
  ).toBe(true)
  expect((await call('GET', `${path}/users/${user}`)).body).toMatchObject({
    username: 'ann',
    lastName: 'B',
    email: 'a@example.org',
  })
})

test('one-time codes are required after their setup, and each code is accepted once', async () => {
  const { logInAddress } = await createLoginRealm({}, { ann: { requiredActions: ['CONFIGURE_TOTP'] } })
  const browser = testBrowser(app)
  const setUp = await browser.send(await browser.open(logInAddress().address), logIn)
  const typed = /<p class="code">([A-Z2-7 ]+)<\/p>/.exec(setUp.text)![1]!
  const totp = new TOTP({ secret: Secret.fromBase32(typed.replaceAll(' ', '')) })
  const mistyped = await browser.send(setUp, { totp: '000000', userLabel: '' })
  expect(mistyped.text).toContain('Invalid one-time code.')
  expect(mistyped.text).toContain(typed)
  const first = totp.generate()
  expect(hasCode(await browser.send(mistyped, { totp: first, userLabel: 'phone' }))).toBe(true)

  const later = testBrowser(app)
  const page = await later.send(await later.open(logInAddress().address), logIn)
  expect(page.text).toContain('One-time code')
  const refused = await later.send(page, { otp: first })
  expect(refused.text).toContain('Invalid one-time code.')
  const code = totp.generate({ timestamp: Date.now() + 30_000 })
  expect(hasCode(await later.send(refused, { otp: code }))).toBe(true)
  const third = testBrowser(app)
  const replayed = await third.send(await third.send(await third.open(logInAddress().address), logIn), { otp: code })
  expect(replayed.text).toContain('Invalid one-time code.')
})

test('a user who declines the terms cannot log in', async () => {
  const { path, logInAddress } = await createLoginRealm({}, { ann: { requiredActions: ['TERMS_AND_CONDITIONS'] } })
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
  expect(hasCode(await browser.send(again, { accept: 'true' }))).toBe(true)
})

test('a user with a required action that Regent does not support cannot log in', async () => {
  const { logInAddress } = await createLoginRealm({}, { ann: { requiredActions: ['webauthn-register'] } })
  const browser = testBrowser(app)
  const page = await browser.send(await browser.open(logInAddress().address), logIn)
  expect([page.status, page.text]).toEqual([400, expect.stringContaining('webauthn-register')])
})

test('a client that requires consent asks for it until the user grants it', async () => {
  const { path, user, logInAddress } = await createLoginRealm(
    {},
    { client: { consentRequired: true, name: 'Our shop' } },
  )
  const browser = testBrowser(app)
  const page = await browser.send(await browser.open(logInAddress().address), logIn)
  expect(page.text).toContain('Your email address')
  expect(page.text).toContain('Our shop')
  expect((await browser.send(page, { cancel: 'true' })).response?.get('error')).toBe('access_denied')
  const again = await browser.send(await browser.open(logInAddress().address), logIn)
  expect(hasCode(await browser.send(again, { accept: 'true' }))).toBe(true)
  const [consent] = (await call('GET', `${path}/users/${user}/consents`)).body
  expect(consent).toMatchObject({ clientId: 'web', grantedClientScopes: expect.arrayContaining(['email', 'profile']) })
  expect(hasCode(await browser.open(logInAddress({ prompt: 'none' }).address))).toBe(true)
})

/** Logs Ann in at a client, which has her consent or requires none, and returns its tokens. */
async function logInAtClient({ logInAddress, redeem }: Awaited<ReturnType<typeof createLoginRealm>>) {
  const { address, verifier } = logInAddress()
  const browser = testBrowser(app)
  const page = await browser.send(await browser.open(address), logIn)
  const { response } = page.response ? page : await browser.send(page, { accept: 'true' })
  return (await redeem(response!.get('code')!, verifier)).body
}

const refresh = (name: string, { refresh_token }: { refresh_token: string }) =>
  call('POST', `/realms/${name}/protocol/openid-connect/token`, {
    token: null,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({ grant_type: 'refresh_token', client_id: 'web', refresh_token }).toString(),
  })

test('the tokens of a client are invalid once the consent to it is revoked', async () => {
  const realm = await createLoginRealm({}, { client: { consentRequired: true } })
  const tokens = await logInAtClient(realm)
  const getUserInfo = () =>
    call('GET', `/realms/${realm.name}/protocol/openid-connect/userinfo`, { token: tokens.access_token })
  expect((await getUserInfo()).status).toBe(200)
  expect((await call('DELETE', `${realm.path}/users/${realm.user}/consents/web`)).status).toBe(204)
  expect((await getUserInfo()).status).toBe(401)
  expect((await refresh(realm.name, tokens)).body.error).toBe('invalid_grant')
})

test('a refresh token and a code are refused if their client requires consent since then', async () => {
  const realm = await createLoginRealm()
  const tokens = await logInAtClient(realm)
  const { address, verifier } = realm.logInAddress()
  const browser = testBrowser(app)
  const { response } = await browser.send(await browser.open(address), logIn)
  const [client] = (await call('GET', `${realm.path}/clients?clientId=web`)).body
  await call('PUT', `${realm.path}/clients/${client.id}`, { body: { ...client, consentRequired: true } })
  const description = 'Client no longer has requested consent from user'
  const refused = { error: 'invalid_scope', error_description: description }
  expect((await refresh(realm.name, tokens)).body).toEqual(refused)
  expect((await realm.redeem(response!.get('code')!, verifier)).body).toEqual(refused)
})

test('a client requests consent for an organization that the scope names', async () => {
  const realm = await createLoginRealm({ organizationsEnabled: true }, { client: { consentRequired: true } })
  await create(`${realm.path}/organizations`, { name: 'acme', alias: 'acme', domains: [{ name: 'acme.example' }] })
  const [acme] = (await call('GET', `${realm.path}/organizations`)).body
  await call('POST', `${realm.path}/organizations/${acme.id}/members`, { body: realm.user })
  const browser = testBrowser(app)
  const requestScope = (scope: string) => browser.open(realm.logInAddress({ scope }).address)
  const page = await browser.send(await browser.send(await requestScope('openid'), { username: 'ann' }), logIn)
  expect(page.text).not.toContain('Your organizations')
  expect(hasCode(await browser.send(page, { accept: 'true' }))).toBe(true)
  expect((await requestScope('openid organization:acme')).text).toContain('Your organizations')
})

test('the email with the verification link is sent again after emailResendCooldownSeconds', async () => {
  const ann = { email: 'resent@example.org' }
  const { path, logInAddress } = await createLoginRealm({ verifyEmail: true, smtpServer }, { ann })
  const browser = testBrowser(app)
  let page = await browser.send(await browser.open(logInAddress().address), logIn)
  const resend = async () => {
    page = await browser.send(page, { resend: 'true' })
    await service.outboxWorker!.whenIdle()
    return mailbox.emails.filter(({ to }) => to.includes(ann.email)).length
  }
  expect([await resend(), page.text]).toEqual([1, expect.stringMatching(/again in \d+ seconds/)])
  const config = { emailResendCooldownSeconds: '0' }
  await call('PUT', `${path}/authentication/required-actions/VERIFY_EMAIL/config`, { body: { config } })
  expect([await resend(), page.text]).toEqual([2, expect.not.stringContaining('seconds')])
})

test('a new user registers and is logged in', async () => {
  const { path, logInAddress } = await createLoginRealm({ registrationAllowed: true, passwordPolicy: 'length(8)' })
  const browser = testBrowser(app)
  const page = await browser.follow(await browser.open(logInAddress().address), '/registration')
  expect(page.text).toContain('<h1>Register</h1>')
  expect(page.text).toContain('<li>at least 8 characters</li>')
  const bob = { username: 'bob', email: 'bob@example.org', firstName: 'Bob', lastName: 'New' }
  const password = { password: 'long enough', 'password-confirm': 'long enough' }
  const refused = await browser.send(page, { ...bob, username: 'ann', ...password })
  expect(refused.text).toContain('This username is already taken.')
  expect(refused.text).not.toContain('long enough')
  const weak = await browser.send(refused, { ...bob, password: 'short', 'password-confirm': 'short' })
  expect(weak.text).toContain('The password must have at least 8 characters.')
  expect(hasCode(await browser.send(weak, { ...bob, ...password }))).toBe(true)
  const [created] = (await call('GET', `${path}/users?username=bob&exact=true`)).body
  expect(created).toMatchObject({ ...bob, enabled: true, emailVerified: false })
})

test('registration is refused unless the realm allows it', async () => {
  const { logInAddress } = await createLoginRealm()
  const page = await testBrowser(app).open(logInAddress({ prompt: 'create' }).address)
  expect([page.status, page.text]).toEqual([400, expect.stringContaining('Registration is not allowed.')])
})

test('an email address is verified by the link in an email, after confirmation in another browser', async () => {
  const { path, user, logInAddress } = await createLoginRealm(
    { verifyEmail: true, smtpServer },
    { ann: { email: 'ann@here.example' } },
  )
  const browser = testBrowser(app)
  const page = await browser.send(await browser.open(logInAddress().address), logIn)
  expect(page.text).toContain('ann@here.example')
  const link = await latestLink('ann@here.example')
  const otherBrowser = testBrowser(app)
  const question = await otherBrowser.open(link)
  expect((await call('GET', `${path}/users/${user}`)).body.emailVerified).toBe(false)
  expect((await otherBrowser.send(question, {})).text).toContain('Your email address is verified.')
  expect((await call('GET', `${path}/users/${user}`)).body.emailVerified).toBe(true)
  expect((await browser.open(link)).status).toBe(400)
  expect(hasCode(await browser.open(page.url))).toBe(true)
})

test('a link resets a forgotten password, and the page is the same for unknown users', async () => {
  const { logInAddress } = await createLoginRealm(
    { resetPasswordAllowed: true, smtpServer },
    { ann: { email: 'ann@there.example' } },
  )
  const browser = testBrowser(app)
  const ask = async (username: string) =>
    browser.send(await browser.follow(await browser.open(logInAddress().address), '/reset-credentials'), { username })
  const [knownUser, unknownUser] = [await ask('ann@there.example'), await ask('nobody')]
  for (const page of [knownUser, unknownUser]) expect(page.text).toContain('If the account exists')
  const choose = await browser.open(await latestLink('ann@there.example'))
  expect(choose.text).toContain('Choose a new password')
  const password = { 'password-new': 'another', 'password-confirm': 'another' }
  expect(hasCode(await browser.send(choose, password))).toBe(true)
  const other = testBrowser(app)
  const again = await other.send(await other.open(logInAddress().address), { ...logIn, password: 'another' })
  expect(hasCode(again)).toBe(true)
})

test('the link of an administrator runs its actions once, and does not log the user in', async () => {
  const { path, user, logInAddress } = await createLoginRealm({ smtpServer }, { ann: { email: 'ann@errand.example' } })
  await call('PUT', `${path}/users/${user}/execute-actions-email`, { body: ['UPDATE_PASSWORD'] })
  const link = await latestLink('ann@errand.example')
  const browser = testBrowser(app)
  const question = await browser.open(link)
  expect(question.text).toContain('update the password')
  const choose = await browser.send(question, {})
  const done = await browser.send(choose, { 'password-new': 'another', 'password-confirm': 'another' })
  expect(done.text).toContain('Your account has been updated.')
  expect((await browser.open(logInAddress({ prompt: 'none' }).address)).response?.get('error')).toBe('login_required')
  expect((await browser.open(link)).status).toBe(400)
})

const OTP_SECRET = 'ABCDEFGHIJKLMNOPQRST'

const otp = {
  type: 'otp',
  secretData: JSON.stringify({ value: OTP_SECRET }),
  credentialData: JSON.stringify({ subType: 'totp', digits: 6, counter: 0, period: 30, algorithm: 'HmacSHA1' }),
}

/** Creates a user with a credential for one-time codes. `codeIn` returns their code a number of steps from now. */
async function createOtpUser(settings: object = {}, credential: object = otp) {
  const { path, name } = await createLoginRealm(settings, { client: { directAccessGrantsEnabled: true } })
  const user = { username: 'otto', enabled: true, email: 'otto@example.org', firstName: 'O', lastName: 'T' }
  const credentials = [{ type: 'password', value: 'pw' }, credential]
  await call('POST', `${path}/users`, { body: { ...user, credentials } })
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
      new TOTP({ secret: Secret.fromUTF8(OTP_SECRET) }).generate({ timestamp: Date.now() + steps * 30_000 }),
  }
}

test('a password grant requires the one-time code of a user who has an OTP credential', async () => {
  const { ask, codeIn } = await createOtpUser()
  const code = codeIn(0)
  expect((await ask({})).body.error).toBe('invalid_grant')
  expect((await ask({ otp: '000000' })).body.error).toBe('invalid_grant')
  expect((await ask({ otp: code, password: 'wrong' })).body.error).toBe('invalid_grant')
  expect((await ask({ totp: code })).status).toBe(200)
  expect((await ask({ totp: code })).body.error).toBe('invalid_grant')
  expect((await ask({ username: 'ann' })).status).toBe(200)
})

test('credentials for one-time codes of early versions of Keycloak are used with their parameters', async () => {
  const parameters = { secret: Secret.fromUTF8(OTP_SECRET), digits: 8, algorithm: 'SHA256' }
  const credential = { hashedSaltedValue: OTP_SECRET, digits: 8, algorithm: 'HmacSHA256' }
  const counted = await createOtpUser({}, { ...credential, type: 'hotp', counter: 7 })
  const codeAt = (counter: number) => new HOTP(parameters).generate({ counter })
  expect((await counted.ask({ totp: codeAt(6) })).body.error).toBe('invalid_grant')
  expect((await counted.ask({ totp: codeAt(7) })).status).toBe(200)
  const timed = await createOtpUser({}, { ...credential, type: 'totp', period: 600 })
  expect((await timed.ask({ totp: new TOTP({ ...parameters, period: 30 }).generate() })).body.error).toBe(
    'invalid_grant',
  )
  expect((await timed.ask({ totp: new TOTP({ ...parameters, period: 600 }).generate() })).status).toBe(200)
})

test('a realm accepts codes that deviate by at most 100 steps, whatever its window is', async () => {
  const { ask, codeIn } = await createOtpUser({ otpPolicyLookAheadWindow: 2_000_000 })
  for (const steps of [-200, 200, 50_000]) expect((await ask({ totp: codeIn(steps) })).body.error).toBe('invalid_grant')
  for (const steps of [-90, 90]) expect((await ask({ totp: codeIn(steps) })).status).toBe(200)
})

test('a second factor that Regent does not support makes the login fail', async () => {
  const webauthn = { type: 'webauthn', secretData: '{}', credentialData: '{}' }
  const { path, user, logInAddress } = await createLoginRealm()
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
  expect(hasCode(await enter())).toBe(true)
  const live = (await call('GET', `${path}/users/${user}`)).body
  await call('PUT', `${path}/users/${user}`, { body: { ...live, credentials: [webauthn] } })
  expect((await enter()).text).toContain('webauthn-authenticator')
})

test('in a realm with organizations the username page comes first', async () => {
  const { path, logInAddress } = await createLoginRealm({ organizationsEnabled: true })
  await call('POST', `${path}/organizations`, { body: { name: 'acme', domains: [{ name: 'acme.example' }] } })
  const browser = testBrowser(app)
  const page = await browser.open(logInAddress().address)
  expect(page.text).not.toContain('type="password"')
  const next = await browser.send(page, { username: 'ann' })
  expect(next.text).toContain('You are signing in as ann.')
  expect(hasCode(await browser.send(next, { password: 'pw' }))).toBe(true)
})

test('a user may cancel an action that a client requests, unless it is a required action', async () => {
  const { path, user, logInAddress } = await createLoginRealm()
  const browser = testBrowser(app)
  const ask = (action: string) => browser.open(logInAddress({ kc_action: action }).address)
  const requested = await browser.send(await ask('CONFIGURE_TOTP'), logIn)
  expect(requested.text).toContain('Set up one-time codes')
  const declined = await browser.send(requested, { 'cancel-aia': 'true' })
  expect([declined.response?.get('kc_action_status'), hasCode(declined)]).toEqual(['cancelled', true])
  expect((await ask('webauthn-register')).response?.get('kc_action_status')).toBe('error')
  const live = (await call('GET', `${path}/users/${user}`)).body
  await call('PUT', `${path}/users/${user}`, { body: { ...live, requiredActions: ['CONFIGURE_TOTP'] } })
  const required = await browser.send(await ask('CONFIGURE_TOTP'), { 'cancel-aia': 'true' })
  expect([required.response, required.text]).toEqual([undefined, expect.stringContaining('Set up one-time codes')])
})

test('changing the password requires a login that is not older than the policy allows', async () => {
  const { path, logInAddress } = await createLoginRealm()
  const browser = testBrowser(app)
  await browser.send(await browser.open(logInAddress().address), logIn)
  const ask = async () => (await browser.open(logInAddress({ kc_action: 'UPDATE_PASSWORD' }).address)).text
  expect(await ask()).toContain('name="password-new"')
  await call('PUT', path, { body: { passwordPolicy: 'maxAuthAge(0)' } })
  expect(await ask()).toContain('You are signing in as ann.')
})

test('a requested action requires a login that is not older than its config allows, whatever max_age is', async () => {
  const { path, logInAddress } = await createLoginRealm()
  const browser = testBrowser(app)
  await browser.send(await browser.open(logInAddress().address), logIn)
  const ask = async (parameters = {}) =>
    (await browser.open(logInAddress({ kc_action: 'CONFIGURE_TOTP', ...parameters }).address)).text
  expect(await ask()).toContain('Set up one-time codes')
  const config = { max_auth_age: '0' }
  await call('PUT', `${path}/authentication/required-actions/CONFIGURE_TOTP/config`, { body: { config } })
  expect(await ask()).toContain('You are signing in as ann.')
  expect(await ask({ max_age: '3600' })).toContain('You are signing in as ann.')
})

test('required actions of a user come in the order of their priorities', async () => {
  const requiredActions = ['UPDATE_PASSWORD', 'UPDATE_PROFILE']
  const { path, logInAddress } = await createLoginRealm({}, { ann: { requiredActions } })
  const address = `${path}/authentication/required-actions/UPDATE_PROFILE`
  const enter = async (priority: number) => {
    const { body } = await call('GET', address)
    await call('PUT', address, { body: { ...body, priority } })
    const browser = testBrowser(app)
    return (await browser.send(await browser.open(logInAddress().address), logIn)).text
  }
  expect(await enter(1)).toContain('Your profile')
  expect(await enter(1000)).toContain('Choose a new password')
})

test('a user who changes their password may end their other sessions', async () => {
  const { path, user, logInAddress } = await createLoginRealm()
  const [browser, otherBrowser] = [testBrowser(app), testBrowser(app)]
  for (const next of [browser, otherBrowser]) await next.send(await next.open(logInAddress().address), logIn)
  const page = await browser.open(logInAddress({ kc_action: 'UPDATE_PASSWORD' }).address)
  const fields = { 'password-new': 'another', 'password-confirm': 'another', 'logout-sessions': 'on' }
  const done = await browser.send(page, fields)
  expect([done.response?.get('kc_action_status'), hasCode(done)]).toEqual(['success', true])
  expect((await otherBrowser.open(logInAddress({ prompt: 'none' }).address)).response?.get('error')).toBe(
    'login_required',
  )
  expect((await call('GET', `${path}/users/${user}/sessions`)).body).toHaveLength(1)
})
