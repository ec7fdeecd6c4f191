// Names and addresses of users: in one form, whoever writes them, and nobody's twice.
import { decodeJwt } from 'jose'
import { expect, test } from 'vitest'
import { SYSTEM } from '../../src/service/context/service.ts'
import { changeOwnAccount } from '../../src/service/login/own-account.ts'
import { testBrowser, type Visited } from '../support/browser.ts'
import { realmWithPeople } from '../support/people.ts'
import { sourceText } from '../support/plans.ts'
import { testServer } from '../support/server.ts'
import { testService } from '../support/service.ts'

const { app, call } = await testServer()

const open = { registrationAllowed: true, editUsernameAllowed: true }
const TAKEN = /This (username|email address) is taken/
const reached = ({ answer }: Visited) => answer?.has('code') === true

type Realm = Awaited<ReturnType<typeof realmWithPeople>>

/** Signs somebody up, and says whether that was possible. */
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

/** Who logs in by that name with that password. */
async function whoLogsIn({ name }: Realm, username: string, password: string): Promise<string | undefined> {
  const { body } = await call('POST', `/realms/${name}/protocol/openid-connect/token`, {
    token: null,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({ grant_type: 'password', client_id: 'web', username, password }).toString(),
  })
  return body.access_token && String(decodeJwt(body.access_token).preferred_username)
}

const client = { directAccessGrantsEnabled: true }

test('a sign-up with a name or an address that differs from another only in its case is refused', async () => {
  const realm = await realmWithPeople(open)
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
    expect([username, reached(page), page.text]).toEqual([username, false, expect.stringMatching(TAKEN)])
  }
})

test('what is typed with capitals is kept in lower case, and an administrator can change the account', async () => {
  const realm = await realmWithPeople(open)
  expect(reached(await signUp(realm, 'EVE', 'Eve@Example.org'))).toBe(true)
  const eve = await find(realm, 'eve')
  expect(eve).toMatchObject({ username: 'eve', email: 'eve@example.org' })
  const { status } = await call('PUT', `${realm.path}/users/${eve.id}`, { body: { ...eve, enabled: false } })
  expect(status).toBe(204)
})

test('the own profile takes no name and no address of another, in any case', async () => {
  const realm = await realmWithPeople(open)
  await create(realm, { username: 'bob', email: 'bob@example.org' })
  const browser = testBrowser(app)
  const begun = await browser.open(realm.logInAddress({ kc_action: 'UPDATE_PROFILE' }).address)
  let page = await browser.send(begun, { username: 'ann', password: 'pw' })
  for (const set of [{ username: 'BOB' }, { email: 'Bob@Example.org' }, { username: 'bob@example.org' }]) {
    const fields = { username: 'ann', email: 'ann@example.org', firstName: 'A', lastName: 'E', ...set }
    page = await browser.send(page, fields)
    expect([reached(page), page.text]).toEqual([false, expect.stringMatching(TAKEN)])
  }
  expect(await find(realm, 'ann')).toMatchObject({ email: 'ann@example.org' })
})

test('an address that a user gives themselves is not verified, unless it is their own in capitals', async () => {
  const realm = await realmWithPeople(open)
  await call('PUT', `${realm.path}/users/${realm.user}`, { body: { email: 'ann@example.org', emailVerified: true } })
  const browser = testBrowser(app)
  const change = async (email: string) => {
    let page = await browser.open(realm.logInAddress({ kc_action: 'UPDATE_PROFILE' }).address)
    if (page.text.includes('name="password"')) page = await browser.send(page, { username: 'ann', password: 'pw' })
    expect(reached(await browser.send(page, { username: 'ann', email, firstName: 'A', lastName: 'E' }))).toBe(true)
    const { email: now, emailVerified } = await find(realm, 'ann')
    return [now, emailVerified]
  }
  expect(await change('Ann@Example.ORG')).toEqual(['ann@example.org', true])
  const { service } = await testService()
  await service.write(SYSTEM, realm.name, (context) =>
    changeOwnAccount(context, realm.user, { email: 'ANN@example.org' }),
  )
  expect(await find(realm, 'ann')).toMatchObject({ email: 'ann@example.org', emailVerified: true })
  expect(await change('ceo@example.org')).toEqual(['ceo@example.org', false])
})

test('a name that is the address of another, and an address that is the name of another, returns 409', async () => {
  const realm = await realmWithPeople(open)
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
  expect([reached(page), reached(other)]).toEqual([false, false])
  const imported = await call('POST', `${realm.path}/partialImport`, {
    body: { ifResourceExists: 'FAIL', users: [{ username: 'xx5', email: 'BOB@example.org' }] },
  })
  expect(imported.status).toBe(409)
  const document = { realm: realm.name, users: [{ username: 'xx6', email: 'bob@example.org' }] }
  const applied = await call('POST', '/regent/v1/apply', { body: sourceText([document], 'people') })
  expect(JSON.stringify(applied.body)).toContain(email)
  expect(await find(realm, 'xx6')).toBeUndefined()
})

test('both are free where nobody logs in by address, or where addresses are shared', async () => {
  for (const settings of [
    { loginWithEmailAllowed: false },
    { duplicateEmailsAllowed: true, loginWithEmailAllowed: false },
  ]) {
    const realm = await realmWithPeople(settings)
    expect((await create(realm, { username: 'ann@example.org', email: 'x@example.org' })).status).toBe(201)
    const shared = await create(realm, { username: 'yyy', email: 'ann@example.org' })
    expect(shared.status).toBe('duplicateEmailsAllowed' in settings ? 201 : 409)
  }
})

test('an address that is typed at log-in means its user, and not one who is called so', async () => {
  const realm = await realmWithPeople({ loginWithEmailAllowed: false }, { client })
  const credentials = [{ type: 'password', value: 'evil' }]
  await create(realm, { username: 'ann@example.org', email: 'evil@example.org', credentials })
  expect(await whoLogsIn(realm, 'ann@example.org', 'evil')).toBe('ann@example.org')
  await call('PUT', realm.path, { body: { loginWithEmailAllowed: true } })
  expect(await whoLogsIn(realm, 'ann@example.org', 'evil')).toBeUndefined()
  expect(await whoLogsIn(realm, 'Ann@Example.org', 'pw')).toBe('ann')
})

test('of those who shared an address the oldest keeps it, and nobody else takes it', async () => {
  const realm = await realmWithPeople({ loginWithEmailAllowed: false, duplicateEmailsAllowed: true }, { client })
  const credentials = [{ type: 'password', value: 'other' }]
  await create(realm, { username: 'bob', email: 'ann@example.org', credentials })
  await call('PUT', realm.path, { body: { loginWithEmailAllowed: true, duplicateEmailsAllowed: false } })
  expect(await whoLogsIn(realm, 'ann@example.org', 'pw')).toBe('ann')
  expect(await whoLogsIn(realm, 'ann@example.org', 'other')).toBeUndefined()
  const bob = await find(realm, 'bob')
  expect((await call('PUT', `${realm.path}/users/${bob.id}`, { body: { ...bob, lastName: 'New' } })).status).toBe(204)
  expect((await create(realm, { username: 'eve', email: 'ann@example.org' })).status).toBe(409)
})

test('of several who sign up with one address at the same time one does', async () => {
  const realm = await realmWithPeople(open)
  const pages = await Promise.all(
    ['a@example.org', 'A@example.org', 'a@EXAMPLE.org'].map((email, at) => signUp(realm, `eve${at}`, email)),
  )
  expect(pages.filter(reached)).toHaveLength(1)
})
