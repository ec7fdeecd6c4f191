// Usernames and email addresses are stored in lower case, and identify one user across both.
import { decodeJwt } from 'jose'
import { expect, test } from 'vitest'
import { SYSTEM } from '../../src/service/context/service.ts'
import { updateOwnAccount } from '../../src/service/login/own-account.ts'
import { testBrowser, type Visited } from '../support/browser.ts'
import { createLoginRealm } from '../support/login-realm.ts'
import { toSourceBody } from '../support/plan-client.ts'
import { testServer } from '../support/server.ts'
import { testService } from '../support/service.ts'

const { app, call } = await testServer()

const open = { registrationAllowed: true, editUsernameAllowed: true }
const TAKEN = /This (username|email address) is already taken/
const hasCode = ({ response }: Visited) => response?.has('code') === true

type Realm = Awaited<ReturnType<typeof createLoginRealm>>

/** Submits a registration form. */
async function signUp({ logInAddress }: Realm, username: string, email: string): Promise<Visited> {
  const browser = testBrowser(app)
  const page = await browser.open(logInAddress({ prompt: 'create' }).address)
  const fields = { username, email, firstName: 'Eve', lastName: 'Vil' }
  return browser.send(page, { ...fields, password: 'evil', 'password-confirm': 'evil' })
}

const create = ({ path }: Realm, user: object) =>
  call('POST', `${path}/users`, { body: { enabled: true, firstName: 'F', lastName: 'L', ...user } })

async function find({ path }: Realm, username: string) {
  return (await call('GET', `${path}/users?exact=true&username=${encodeURIComponent(username)}`)).body[0]
}

/** Returns the username of the user who can log in with this name and password; undefined if none can. */
async function findLoggedInUser({ name }: Realm, username: string, password: string): Promise<string | undefined> {
  const { body } = await call('POST', `/realms/${name}/protocol/openid-connect/token`, {
    token: null,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({ grant_type: 'password', client_id: 'web', username, password }).toString(),
  })
  return body.access_token && String(decodeJwt(body.access_token).preferred_username)
}

const client = { directAccessGrantsEnabled: true }

test('a registration is refused if its username or email address differs from an existing one only in case', async () => {
  const realm = await createLoginRealm(open)
  for (const [username, email] of [
    ['ärger', 'a1@example.org'],
    ['straße', 'a2@example.org'],
  ])
    await create(realm, { username, email })
  for (const [username, email] of [
    ['Ann', 'e1@example.org'],
    ['ANN', 'e2@example.org'],
    ['ÄRGER', 'e3@example.org'],
    ['STRAẞE', 'e4@example.org'],
    ['other', 'Ann@Example.ORG'],
  ] as const) {
    const page = await signUp(realm, username, email)
    expect([username, hasCode(page), page.text]).toEqual([username, false, expect.stringMatching(TAKEN)])
  }
})

test('a username and email address in capitals are stored in lower case', async () => {
  const realm = await createLoginRealm(open)
  expect(hasCode(await signUp(realm, 'EVE', 'Eve@Example.org'))).toBe(true)
  const eve = await find(realm, 'eve')
  expect(eve).toMatchObject({ username: 'eve', email: 'eve@example.org' })
  const { status } = await call('PUT', `${realm.path}/users/${eve.id}`, { body: { ...eve, enabled: false } })
  expect(status).toBe(204)
})

test('a user cannot change to the username or email address of another user, in any case', async () => {
  const realm = await createLoginRealm(open)
  await create(realm, { username: 'bob', email: 'bob@example.org' })
  const browser = testBrowser(app)
  const start = await browser.open(realm.logInAddress({ kc_action: 'UPDATE_PROFILE' }).address)
  let page = await browser.send(start, { username: 'ann', password: 'pw' })
  for (const set of [{ username: 'BOB' }, { email: 'Bob@Example.org' }, { username: 'bob@example.org' }]) {
    const fields = { username: 'ann', email: 'ann@example.org', firstName: 'A', lastName: 'E', ...set }
    page = await browser.send(page, fields)
    expect([hasCode(page), page.text]).toEqual([false, expect.stringMatching(TAKEN)])
  }
  expect(await find(realm, 'ann')).toMatchObject({ email: 'ann@example.org' })
})

test('an email address that a user changes is unverified, unless only its case changes', async () => {
  const realm = await createLoginRealm(open)
  await call('PUT', `${realm.path}/users/${realm.user}`, { body: { email: 'ann@example.org', emailVerified: true } })
  const browser = testBrowser(app)
  const change = async (email: string) => {
    let page = await browser.open(realm.logInAddress({ kc_action: 'UPDATE_PROFILE' }).address)
    if (page.text.includes('name="password"')) page = await browser.send(page, { username: 'ann', password: 'pw' })
    expect(hasCode(await browser.send(page, { username: 'ann', email, firstName: 'A', lastName: 'E' }))).toBe(true)
    const { email: now, emailVerified } = await find(realm, 'ann')
    return [now, emailVerified]
  }
  expect(await change('Ann@Example.ORG')).toEqual(['ann@example.org', true])
  const { service } = await testService()
  await service.write(SYSTEM, realm.name, (context) =>
    updateOwnAccount(context, realm.user, { set: { email: 'ANN@example.org' } }),
  )
  expect(await find(realm, 'ann')).toMatchObject({ email: 'ann@example.org', emailVerified: true })
  expect(await change('ceo@example.org')).toEqual(['ceo@example.org', false])
})

test('a username that is the email address of another user returns 409, and the reverse', async () => {
  const realm = await createLoginRealm(open)
  await create(realm, { username: 'bob@example.org', email: 'bob@else.example' })
  const email = 'User exists with same email'
  const username = 'User exists with same username'
  for (const [user, errorMessage] of [
    [{ username: 'ann@example.org', email: 'x1@example.org' }, username],
    [{ username: 'ANN@example.org' }, username],
    [{ username: 'xx2', email: 'Bob@Example.org' }, email],
  ] as const)
    expect(await create(realm, user)).toMatchObject({ status: 409, body: { errorMessage } })
  const put = (body: object) => call('PUT', `${realm.path}/users/${realm.user}`, { body })
  expect(await put({ email: 'bob@example.org' })).toMatchObject({ status: 409, body: { errorMessage: email } })
  expect(await put({ username: 'BOB@else.example' })).toMatchObject({ status: 409, body: { errorMessage: username } })
  const [page, other] = [
    await signUp(realm, 'ann@example.org', 'x3@example.org'),
    await signUp(realm, 'xx4', 'bob@example.org'),
  ]
  expect([hasCode(page), hasCode(other)]).toEqual([false, false])
  const imported = await call('POST', `${realm.path}/partialImport`, {
    body: { ifResourceExists: 'FAIL', users: [{ username: 'xx5', email: 'BOB@example.org' }] },
  })
  expect(imported.status).toBe(409)
  const document = { realm: realm.name, users: [{ username: 'xx6', email: 'bob@example.org' }] }
  const applied = await call('POST', '/regent/v1/apply', { body: toSourceBody([document], 'users') })
  expect(JSON.stringify(applied.body)).toContain(email)
  expect(await find(realm, 'xx6')).toBeUndefined()
})

test('both are accepted if login with email is disabled or duplicate emails are allowed', async () => {
  for (const settings of [
    { loginWithEmailAllowed: false },
    { duplicateEmailsAllowed: true, loginWithEmailAllowed: false },
  ]) {
    const realm = await createLoginRealm(settings)
    expect((await create(realm, { username: 'ann@example.org', email: 'x@example.org' })).status).toBe(201)
    const shared = await create(realm, { username: 'yyy', email: 'ann@example.org' })
    expect(shared.status).toBe('duplicateEmailsAllowed' in settings ? 201 : 409)
  }
})

test('an email address at login selects its user, not one with that username', async () => {
  const realm = await createLoginRealm({ loginWithEmailAllowed: false }, { client })
  const credentials = [{ type: 'password', value: 'evil' }]
  await create(realm, { username: 'ann@example.org', email: 'evil@example.org', credentials })
  expect(await findLoggedInUser(realm, 'ann@example.org', 'evil')).toBe('ann@example.org')
  await call('PUT', realm.path, { body: { loginWithEmailAllowed: true } })
  expect(await findLoggedInUser(realm, 'ann@example.org', 'evil')).toBeUndefined()
  expect(await findLoggedInUser(realm, 'Ann@Example.org', 'pw')).toBe('ann')
})

test('once duplicate emails are disallowed, a shared email address belongs to its oldest user', async () => {
  const realm = await createLoginRealm({ loginWithEmailAllowed: false, duplicateEmailsAllowed: true }, { client })
  const credentials = [{ type: 'password', value: 'other' }]
  await create(realm, { username: 'bob', email: 'ann@example.org', credentials })
  await call('PUT', realm.path, { body: { loginWithEmailAllowed: true, duplicateEmailsAllowed: false } })
  expect(await findLoggedInUser(realm, 'ann@example.org', 'pw')).toBe('ann')
  expect(await findLoggedInUser(realm, 'ann@example.org', 'other')).toBeUndefined()
  const bob = await find(realm, 'bob')
  expect((await call('PUT', `${realm.path}/users/${bob.id}`, { body: { ...bob, lastName: 'New' } })).status).toBe(204)
  expect((await create(realm, { username: 'eve', email: 'ann@example.org' })).status).toBe(409)
})

test('of several concurrent registrations with one email address, one succeeds', async () => {
  const realm = await createLoginRealm(open)
  const pages = await Promise.all(
    ['a@example.org', 'A@example.org', 'a@EXAMPLE.org'].map((email, at) => signUp(realm, `eve${at}`, email)),
  )
  expect(pages.filter(hasCode)).toHaveLength(1)
})
