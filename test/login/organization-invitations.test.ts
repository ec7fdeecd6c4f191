// Links of invitations to organizations: registration of new users, confirmation by existing users, and refused links.
import { expect, test } from 'vitest'
import { testBrowser, type Visited } from '../support/browser.ts'
import { createInvitingRealm, LANDING, SHORT_LIFESPAN } from '../support/inviting-realm.ts'
import { testServer } from '../support/server.ts'

const { app, call, create } = await testServer()

const EVE = { username: 'eve', email: 'eve@acme.example', firstName: 'Eve', lastName: 'Example' }
const PASSWORD = { password: 'secret-1', 'password-confirm': 'secret-1' }
const STALE = 'This invitation is no longer valid.'

/** Opens a link in a new browser. */
const open = (link: string) => {
  const { pathname, search } = new URL(link)
  return testBrowser(app).open(pathname + search)
}

/** Opens the link of an invitation in a new browser. Returns a function that submits the form of its page. */
async function openForm(link: string): Promise<(fields?: Record<string, string>) => Promise<Visited>> {
  const browser = testBrowser(app)
  const { pathname, search } = new URL(link)
  const page = await browser.open(pathname + search)
  return (fields = {}) => browser.send(page, fields)
}

/** Opens the link of an invitation and submits the form of its page. */
const accept = async (link: string, fields: Record<string, string> = {}): Promise<Visited> =>
  (await openForm(link))(fields)

const register = (link: string, fields: object = {}) => accept(link, { ...EVE, ...PASSWORD, ...fields })

test('a new user registers in a realm without registration, and becomes a managed member', async () => {
  const realm = await createInvitingRealm({ registrationAllowed: false })
  const link = await realm.invite('eve@acme.example', { firstName: 'Eve', lastName: 'Example' })
  const email = realm.mailbox.emails.at(-1)!
  expect(email.subject).toBe('Invitation to join the acme organization')
  expect(email.text).toContain('Hello Eve Example,')
  expect(email.text).toContain('is valid for 12 hours.')
  const page = await open(link)
  expect(page.text).toContain('Register as a member of acme')
  expect(page.text).toMatch(/name="email" type="email" value="eve@acme.example"[^>]* readonly/)
  expect(page.text).toMatch(/name="firstName" type="text" value="Eve"/)
  const registered = await register(link)
  expect([registered.status, registered.headers.location]).toEqual([302, LANDING])
  expect(await realm.listMembers()).toEqual(['eve MANAGED'])
  expect(await realm.listInvitations()).toEqual([])
  const [user] = (await call('GET', `${realm.path}/users?username=eve`)).body
  expect(user).toMatchObject({ email: 'eve@acme.example', emailVerified: false })
  const types = (await realm.listEvents()).map(({ type }) => type)
  expect(types).toEqual(expect.arrayContaining(['REGISTER', 'INVITE_ORG', 'LOGIN']))
  const roles = (await call('GET', `${realm.path}/users/${user.id}/role-mappings`)).body
  expect(JSON.stringify(roles)).not.toContain('realm-management')
})

test('the redirect URL of the organization gets no authorization code, and a page confirms the membership without one', async () => {
  const realm = await createInvitingRealm({}, {})
  const registered = await register(await realm.invite('eve@acme.example'))
  expect(registered.text).toContain('You are now a member of the organization acme.')
  const confirmed = await accept(await realm.inviteBob())
  expect(confirmed.text).toContain('You are now a member of the organization acme.')
  expect(await realm.listMembers()).toEqual(['bob UNMANAGED', 'eve MANAGED'])
})

test('a registration with another email address is refused', async () => {
  const realm = await createInvitingRealm()
  const refused = await register(await realm.invite('eve@acme.example'), { email: 'mallory@example.org' })
  expect(refused.text).toContain('The invitation was sent to another email address.')
  expect(await realm.listMembers()).toEqual([])
  expect((await realm.listEvents())[0]).toMatchObject({ type: 'REGISTER_ERROR', error: 'invalid_token' })
})

test('an existing user confirms to become a member, and the journal names the user as author', async () => {
  const realm = await createInvitingRealm()
  const link = await realm.inviteBob()
  const page = await open(link)
  expect(page.text).toContain('You were invited to the organization acme.')
  expect(await realm.listMembers()).toEqual([])
  const confirmed = await accept(link)
  expect([confirmed.status, confirmed.headers.location]).toEqual([302, LANDING])
  expect(await realm.listMembers()).toEqual(['bob UNMANAGED'])
  expect((await realm.listEvents())[0]).toMatchObject({ type: 'INVITE_ORG', userId: realm.bob })
  const { body } = await call('GET', `/regent/v1/why/${realm.name}?path=users/bob`)
  expect(body.fields).toMatchObject([{ path: 'organizations', by: { kind: 'user', name: 'bob' } }])
})

test('an invitation is accepted once, also of concurrent forms', async () => {
  const realm = await createInvitingRealm()
  const link = await realm.invite('eve@acme.example')
  const names = ['eve', 'eva', 'evi']
  const forms = await Promise.all(names.map(() => openForm(link)))
  const results = await Promise.all(forms.map((send, at) => send({ ...EVE, ...PASSWORD, username: names[at]! })))
  expect(results.filter(({ headers }) => headers.location === LANDING)).toHaveLength(1)
  expect(await realm.listMembers()).toHaveLength(1)
  const used = await open(link)
  expect([used.status, used.text.includes(STALE)]).toEqual([400, true])
  const bobLink = await realm.inviteBob()
  const confirmations = await Promise.all(names.map(() => openForm(bobLink)))
  const confirmed = await Promise.all(confirmations.map((send) => send()))
  expect(confirmed.filter(({ headers }) => headers.location === LANDING)).toHaveLength(1)
  expect((await open(bobLink)).text).toContain('You are already a member of the organization acme.')
})

test('expired, replaced, deleted and foreign links are refused, and change nothing', async () => {
  const realm = await createInvitingRealm()
  const other = await createInvitingRealm()
  const expectRefused = async (link: string, text: string) => {
    const page = await open(link)
    expect([page.status, page.text.includes(text)], page.text).toEqual([400, true])
  }
  for (const invite of [() => realm.invite('eve@acme.example'), realm.inviteBob]) {
    const first = await invite()
    const [{ id }] = await realm.listInvitations()
    expect((await call('POST', `${realm.acme}/invitations/${id}/resend`)).status).toBe(204)
    const address = first.includes('registrations') ? 'eve@acme.example' : 'bob@example.org'
    const second = realm.findLink(address)
    await expectRefused(first, STALE)
    await expectRefused(second.replace(realm.name, other.name), STALE)
    const changed = second.replace(/(token|key)=\w+/, '$1=eyJhbGciOiJub25lIn0')
    expect((await open(changed)).status).toBe(400)
    const [{ id: secondId }] = await realm.listInvitations()
    expect((await call('DELETE', `${realm.acme}/invitations/${secondId}`)).status).toBe(204)
    await expectRefused(second, STALE)
  }
  expect(
    (await call('PUT', realm.path, { body: { actionTokenGeneratedByAdminLifespan: SHORT_LIFESPAN } })).status,
  ).toBe(204)
  const links = [await realm.invite('eve@acme.example'), await realm.inviteBob()]
  await expect.poll(() => realm.listInvitations('?status=EXPIRED'), { timeout: 15_000 }).toHaveLength(2)
  for (const link of links) await expectRefused(link, 'This link has expired')
  expect(await realm.listInvitations('?status=PENDING')).toEqual([])
  expect((await realm.post('invite-user', { email: 'eve@acme.example' })).body).toMatchObject({ error: 'conflict' })
  expect(await realm.listMembers()).toEqual([])
})

test('a link is refused for a disabled, changed or deleted user', async () => {
  const realm = await createInvitingRealm()
  const link = await realm.inviteBob()
  const put = (body: object) => call('PUT', realm.bobPath, { body })
  expect((await put({ enabled: false })).status).toBe(204)
  expect((await open(link)).text).toContain('disabled')
  expect((await put({ enabled: true, email: 'bob2@example.org' })).status).toBe(204)
  expect((await open(link)).text).toContain(STALE)
  expect((await call('DELETE', realm.bobPath)).status).toBe(204)
  expect((await open(link)).text).toContain(STALE)
  expect(await realm.listMembers()).toEqual([])
  const errors = (await realm.listEvents()).flatMap(({ error }) => error ?? [])
  expect(errors).toEqual(['user_not_found', 'invalid_email', 'user_disabled'])
})

test('a link is refused for a disabled or deleted organization, also between the page and its form', async () => {
  const realm = await createInvitingRealm()
  const links = [await realm.invite('eve@acme.example'), await realm.inviteBob()]
  const browsers = links.map(() => testBrowser(app))
  const pages = await Promise.all(
    links.map((link, at) => browsers[at]!.open(new URL(link).pathname + new URL(link).search)),
  )
  const { body } = await call('GET', realm.acme)
  expect((await call('PUT', realm.acme, { body: { ...body, enabled: false } })).status).toBe(204)
  expect((await realm.post('invite-user', { email: 'x@acme.example' })).body).toEqual({
    errorMessage: 'Organization is disabled',
  })
  for (const link of links) expect((await open(link)).text).toContain('does not accept new members')
  for (const [at, page] of pages.entries()) {
    const sent = await browsers[at]!.send(page, { ...EVE, ...PASSWORD })
    expect(sent.text).toContain('does not accept new members')
  }
  expect((await call('DELETE', realm.acme)).status).toBe(204)
  for (const link of links) expect((await open(link)).text).toContain(STALE)
  expect((await call('GET', `${realm.path}/users?username=eve`)).body).toEqual([])
})

test('the erasure of a user deletes their invitations', async () => {
  const realm = await createInvitingRealm()
  await realm.inviteBob()
  await realm.invite('eve@acme.example')
  expect((await call('POST', `/regent/v1/erase/${realm.name}`, { body: { user: 'bob' } })).status).toBe(200)
  const emails = (await realm.listInvitations()).map(({ email }: { email: string }) => email)
  expect(emails).toEqual(['eve@acme.example'])
})

test('lists filter invitations by name, address and status', async () => {
  const realm = await createInvitingRealm()
  await realm.invite('Eve@acme.example', { firstName: 'Ève', lastName: 'Example' })
  await realm.invite('max@acme.example', { firstName: 'Max' })
  const find = async (query: string) =>
    (await realm.listInvitations(query)).map(({ email }: { email: string }) => email.split('@')[0])
  expect(await find('')).toEqual(['max', 'eve'])
  expect(await find('?firstName=%C3%A8ve')).toEqual(['eve'])
  expect(await find('?firstName=ma')).toEqual([])
  expect(await find('?search=MA')).toEqual(['max'])
  expect(await find('?search=acme&first=1&max=1')).toEqual(['eve'])
  expect(await find('?email=EVE@acme.example&search=max')).toEqual([])
  expect((await call('GET', `${realm.acme}/invitations?status=pending`)).status).toBe(400)
  const zeta = await create(`${realm.path}/organizations`, { name: 'zeta', domains: [{ name: 'zeta.example' }] })
  const [{ id }] = await realm.listInvitations()
  expect((await call('GET', `${zeta}/invitations/${id}`)).status).toBe(404)
  expect((await call('DELETE', `${zeta}/invitations/${id}`)).status).toBe(404)
  expect((await call('POST', `${zeta}/invitations/${id}/resend`)).status).toBe(404)
})
