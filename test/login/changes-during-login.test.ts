// Changes between two pages of a login: the later state decides.
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
const logIn = { username: 'ann', password: 'pw' }
const hasCode = ({ response }: Visited) => response?.has('code') === true

async function latestLink(): Promise<string> {
  await service.outboxWorker!.whenIdle()
  const url = new URL(/https?:\/\/\S+/.exec(mailbox.emails.at(-1)!.text)![0])
  return url.pathname + url.search
}

test('a password reset link is invalid while the realm does not allow it, or the user has another email address or is disabled', async () => {
  const { path, user, logInAddress } = await createLoginRealm({ resetPasswordAllowed: true, smtpServer })
  const linkFor = async () => {
    const browser = testBrowser(app)
    const start = await browser.open(logInAddress().address)
    await browser.send(await browser.follow(start, 'reset-credentials'), { username: 'ann' })
    return { browser, link: await latestLink() }
  }
  for (const [change, revert] of [
    [{ resetPasswordAllowed: false }, { resetPasswordAllowed: true }],
    [{ email: 'b@example.org' }, { email: 'ann@example.org' }],
    [{ enabled: false }, { enabled: true }],
  ]) {
    const where = 'resetPasswordAllowed' in change! ? path : `${path}/users/${user}`
    const { browser, link } = await linkFor()
    await call('PUT', where, { body: change! })
    const refused = await browser.open(link)
    expect([refused.status, refused.text]).toEqual([400, expect.not.stringContaining('password-new')])
    await call('PUT', where, { body: revert! })
    expect((await browser.open(link)).text).toContain('name="password-new"')
  }
})

test('a registration or password reset form is refused once the realm does not allow it', async () => {
  const offers = { registrationAllowed: true, resetPasswordAllowed: true, smtpServer }
  const { path, logInAddress } = await createLoginRealm(offers)
  const browser = testBrowser(app)
  const start = await browser.open(logInAddress().address)
  for (const [name, off] of [
    ['registration', { registrationAllowed: false }],
    ['reset-credentials', { resetPasswordAllowed: false }],
  ] as const) {
    const page = await browser.follow(start, name)
    await call('PUT', path, { body: off })
    const fields = { username: 'eve', email: 'eve@example.org', firstName: 'E', lastName: 'V' }
    const sent = await browser.send(page, { ...fields, password: 'pw', 'password-confirm': 'pw' })
    expect(sent.status).toBe(400)
    await call('PUT', path, { body: offers })
  }
  expect((await call('GET', `${path}/users?username=eve`)).body).toEqual([])
})

test('a client scope that was added after the consent page was shown needs another consent', async () => {
  const { path, user, logInAddress } = await createLoginRealm({}, { client: { consentRequired: true } })
  const browser = testBrowser(app)
  const page = await browser.send(await browser.open(logInAddress().address), logIn)
  expect(page.text).toContain('Your email address')
  const scope = { name: 'late', protocol: 'openid-connect', attributes: { 'consent.screen.text': 'Your letters' } }
  await create(`${path}/client-scopes`, scope)
  const [client] = (await call('GET', `${path}/clients?clientId=web`)).body
  const late = (await call('GET', `${path}/client-scopes`)).body.find(({ name }: { name: string }) => name === 'late')
  await call('PUT', `${path}/clients/${client.id}/default-client-scopes/${late.id}`)
  const consentPage = await browser.send(page, { accept: 'true' })
  expect(hasCode(consentPage)).toBe(false)
  expect(consentPage.text).toContain('Your letters')
  const scopes = async () => (await call('GET', `${path}/users/${user}/consents`)).body[0].grantedClientScopes
  expect(await scopes()).not.toContain('late')
  expect(hasCode(await browser.send(consentPage, { accept: 'true' }))).toBe(true)
  expect(await scopes()).toContain('late')
})
