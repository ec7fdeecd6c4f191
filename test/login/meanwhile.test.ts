// What changes between two pages, or between a check and what follows from it: the later state decides.
import { afterAll, expect, test } from 'vitest'
import { testBrowser, type Visited } from '../support/browser.ts'
import { openMailbox } from '../support/mailbox.ts'
import { realmWithPeople } from '../support/people.ts'
import { testServer } from '../support/server.ts'
import { testService } from '../support/service.ts'

const { app, call, make } = await testServer()
const { service } = await testService()
const mailbox = await openMailbox()
afterAll(() => mailbox.close())

const smtpServer = { host: '127.0.0.1', port: mailbox.port, from: 'realm@example.org' }
const logIn = { username: 'ann', password: 'pw' }
const reached = ({ answer }: Visited) => answer?.has('code') === true

async function latestLink(): Promise<string> {
  await service.outbox!.settled()
  const url = new URL(/https?:\/\/\S+/.exec(mailbox.mails.at(-1)!.text)![0])
  return url.pathname + url.search
}

test('a link to a new password is void once the realm offers none, or its user has another address', async () => {
  const { path, user, logInAddress } = await realmWithPeople({ resetPasswordAllowed: true, smtpServer })
  const linkFor = async () => {
    const browser = testBrowser(app)
    const begun = await browser.open(logInAddress().address)
    await browser.send(await browser.follow(begun, 'reset-credentials'), { username: 'ann' })
    return { browser, link: await latestLink() }
  }
  for (const [change, back] of [
    [{ resetPasswordAllowed: false }, { resetPasswordAllowed: true }],
    [{ email: 'b@example.org' }, { email: 'ann@example.org' }],
    [{ enabled: false }, { enabled: true }],
  ]) {
    const where = 'resetPasswordAllowed' in change! ? path : `${path}/users/${user}`
    const { browser, link } = await linkFor()
    await call('PUT', where, { body: change! })
    const refused = await browser.open(link)
    expect([refused.status, refused.text]).toEqual([400, expect.not.stringContaining('password-new')])
    await call('PUT', where, { body: back! })
    expect((await browser.open(link)).text).toContain('name="password-new"')
  }
})

test('a form of a sign-up or of a forgotten password is refused once the realm offers neither', async () => {
  const offers = { registrationAllowed: true, resetPasswordAllowed: true, smtpServer }
  const { path, logInAddress } = await realmWithPeople(offers)
  const browser = testBrowser(app)
  const begun = await browser.open(logInAddress().address)
  for (const [name, off] of [
    ['registration', { registrationAllowed: false }],
    ['reset-credentials', { resetPasswordAllowed: false }],
  ] as const) {
    const page = await browser.follow(begun, name)
    await call('PUT', path, { body: off })
    const fields = { username: 'eve', email: 'eve@example.org', firstName: 'E', lastName: 'V' }
    const sent = await browser.send(page, { ...fields, password: 'pw', 'password-confirm': 'pw' })
    expect(sent.status).toBe(400)
    await call('PUT', path, { body: offers })
  }
  expect((await call('GET', `${path}/users?username=eve`)).body).toEqual([])
})

test('a client scope that was not on the page of consent is not granted, but asked for', async () => {
  const { path, user, logInAddress } = await realmWithPeople({}, { client: { consentRequired: true } })
  const browser = testBrowser(app)
  const page = await browser.send(await browser.open(logInAddress().address), logIn)
  expect(page.text).toContain('Your email address')
  const scope = { name: 'late', protocol: 'openid-connect', attributes: { 'consent.screen.text': 'Your letters' } }
  await make(`${path}/client-scopes`, scope)
  const [client] = (await call('GET', `${path}/clients?clientId=web`)).body
  const late = (await call('GET', `${path}/client-scopes`)).body.find(({ name }: { name: string }) => name === 'late')
  await call('PUT', `${path}/clients/${client.id}/default-client-scopes/${late.id}`)
  const asked = await browser.send(page, { accept: 'true' })
  expect(reached(asked)).toBe(false)
  expect(asked.text).toContain('Your letters')
  const scopes = async () => (await call('GET', `${path}/users/${user}/consents`)).body[0].grantedClientScopes
  expect(await scopes()).not.toContain('late')
  expect(reached(await browser.send(asked, { accept: 'true' }))).toBe(true)
  expect(await scopes()).toContain('late')
})
