// Emails that administrators send: their texts, recipients and links.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, expect, test } from 'vitest'
import { readActionToken } from '../../src/oidc/action-tokens.ts'
import { openMailbox } from '../support/mailbox.ts'
import { testServer } from '../support/server.ts'
import { testService } from '../support/service.ts'

const { call, make, realm } = await testServer()
const { service } = await testService()
const mailbox = await openMailbox()
const locked = await openMailbox({
  authOptional: false,
  onAuth: ({ username, password }, _session, done) =>
    username === 'sso' && password === 'right' ? done(null, { user: username }) : done(new Error('no')),
})
afterAll(async () => {
  await mailbox.close()
  await locked.close()
})

const smtpServer = { host: '127.0.0.1', port: mailbox.port, from: 'sso@example.org', fromDisplayName: 'Sign-in here' }
const mailTo = (address: string) => mailbox.emails.findLast(({ to }) => to.includes(address))!
const keyIn = (text: string) => new URL(/http\S+key=\S+/.exec(text)![0]).searchParams.get('key')!
const nameOf = (path: string) => path.split('/').at(-1)!

test('an email has a link to the required actions, in text and HTML', async () => {
  const path = await realm({ smtpServer, displayName: 'Fish & Chips' })
  const user = await make(`${path}/users`, { username: 'ann', enabled: true, email: 'ann1@example.org' })
  await make(`${path}/clients`, { clientId: 'shop', redirectUris: ['https://shop.example.org/*'] })
  const query = 'client_id=shop&redirect_uri=https://shop.example.org/home&lifespan=7200'
  const actions = ['UPDATE_PASSWORD', 'CONFIGURE_TOTP']
  expect((await call('PUT', `${user}/execute-actions-email?${query}`, { body: actions })).status).toBe(204)
  const { text: plain, html, from } = mailTo('ann1@example.org')
  expect(plain).toContain('Fish & Chips asks you to update your account: update the password, set up one-time codes')
  expect(plain).toContain('is valid for 2 hours.')
  expect(html).toContain('Fish &#38; Chips asks')
  expect(from).toBe('Sign-in here <sso@example.org>')
  const key = keyIn(plain)
  expect(html).toContain(key)
  expect(await readActionToken(service, nameOf(path), key)).toMatchObject({
    typ: 'execute-actions',
    sub: nameOf(user),
    azp: 'shop',
    rqac: actions,
    reduri: 'https://shop.example.org/home',
  })
  expect(await readActionToken(service, 'master', key)).toBe('invalid')
})

test('an email is in the language of the user, with the texts of the realm', async () => {
  const path = await realm({
    smtpServer,
    internationalizationEnabled: true,
    supportedLocales: ['en', 'de', 'fr'],
    defaultLocale: 'fr',
  })
  const words = {
    emailVerificationSubject: 'Adresse bestätigen',
    emailVerificationBody: "Für {2}, l''autre: {0}",
    'linkExpirationFormatter.timePeriodUnit.hours': 'Std.',
  }
  await call('POST', `${path}/localization/de`, { body: words })
  await call('POST', `${path}/localization/fr`, { body: { emailVerificationSubject: 'Vérifier' } })
  const attributes = { locale: ['de'] }
  await call('PUT', `${path}/users/profile`, {
    body: { unmanagedAttributePolicy: 'ENABLED', attributes: [{ name: 'username' }, { name: 'email' }] },
  })
  const german = await make(`${path}/users`, { username: 'ann', enabled: true, email: 'ann3@example.org', attributes })
  const other = await make(`${path}/users`, { username: 'bob', enabled: true, email: 'bob3@example.org' })
  await call('PUT', `${german}/send-verify-email`)
  await call('PUT', `${other}/send-verify-email`)
  expect(mailTo('ann3@example.org')).toMatchObject({
    subject: 'Adresse bestätigen',
    text: expect.stringContaining(`Für ${nameOf(path)}, l'autre: http`),
    html: expect.stringMatching(/lang="de".*12 Std\./s),
  })
  expect(mailTo('bob3@example.org')).toMatchObject({ subject: 'Vérifier', text: expect.stringContaining('12 hours') })
})

test('an email without a mail server returns 400, and a sent one creates an admin event', async () => {
  const path = await realm({ adminEventsEnabled: true })
  const user = await make(`${path}/users`, { username: 'ann', enabled: true, email: 'ann4@example.org' })
  for (const operation of ['execute-actions-email', 'send-verify-email', 'reset-password-email']) {
    const { status, body } = await call('PUT', `${user}/${operation}`)
    expect([status, body.errorMessage]).toEqual([400, expect.stringContaining('the realm has no mail server')])
  }
  await call('PUT', path, {
    body: { smtpServer: { ...smtpServer, replyTo: 're@example.org', envelopeFrom: 'bounce@example.org' } },
  })
  await call('PUT', `${user}/reset-password-email`)
  const [event] = (await call('GET', `${path}/admin-events?operationTypes=ACTION`)).body
  expect(event).toMatchObject({ resourceType: 'USER', resourcePath: `users/${nameOf(user)}/reset-password-email` })
  expect(mailTo('ann4@example.org')).toMatchObject({
    sender: 'bounce@example.org',
    replyTo: 're@example.org',
  })
})

test('the mail server can be authenticated to with a token of an OAuth server', async () => {
  const requests: string[] = []
  const tokens = createServer(async (request, response) => {
    requests.push(await text(request))
    response.end(JSON.stringify({ access_token: 'for-mail' }))
  })
  await new Promise<void>((resolve) => tokens.listen(0, '127.0.0.1', resolve))
  const guarded = await openMailbox({
    authOptional: false,
    authMethods: ['XOAUTH2'],
    onAuth: ({ username, accessToken }, _session, done) =>
      accessToken === 'for-mail' ? done(null, { user: username }) : done(new Error('no')),
  })
  const authentication = {
    auth: 'true',
    authType: 'token',
    user: 'sso',
    authTokenUrl: `http://127.0.0.1:${(tokens.address() as AddressInfo).port}/token`,
    authTokenScope: 'mail',
    authTokenClientId: 'regent',
    authTokenClientSecret: 'shh',
  }
  const path = await realm({ smtpServer: { ...smtpServer, port: guarded.port, ...authentication } })
  const user = await make(`${path}/users`, { username: 'ann', enabled: true, email: 'ann5@example.org' })
  expect((await call('PUT', `${user}/send-verify-email`)).status).toBe(204)
  expect(guarded.emails.map(({ to }) => to)).toEqual([['ann5@example.org']])
  expect(requests).toEqual(['grant_type=client_credentials&client_id=regent&client_secret=shh&scope=mail'])
  await guarded.close()
  tokens.close()
})

test('the test of a mail server returns its error', async () => {
  const path = await realm({
    smtpServer: { ...smtpServer, port: locked.port, auth: 'true', user: 'sso', password: 'right' },
  })
  const admin = await make('/admin/realms/master/users', {
    username: nameOf(path),
    enabled: true,
    email: `${nameOf(path)}@example.org`,
    firstName: 'A',
    lastName: 'B',
    credentials: [{ type: 'password', value: 'x' }],
  })
  const [role] = (await call('GET', '/admin/realms/master/roles?search=admin')).body
  await call('POST', `${admin}/role-mappings/realm`, { body: [role] })
  const form = 'grant_type=password&client_id=admin-cli&password=x&username='
  const { app } = await testServer()
  const response = await app.inject({
    method: 'POST',
    url: '/realms/master/protocol/openid-connect/token',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    payload: form + nameOf(path),
  })
  const token = response.json<{ access_token: string }>().access_token
  const ask = async (settings: object) => {
    const { status, body } = await call('POST', `${path}/testSMTPConnection`, { token, body: settings })
    return status === 204 ? 'it works' : `${status} ${body.errorMessage}`
  }
  expect(await ask(smtpServer)).toBe('it works')
  expect(mailTo(`${nameOf(path)}@example.org`).subject).toBe('SMTP test message')
  const valid = { ...smtpServer, port: locked.port, auth: true, user: 'sso' }
  expect(await ask({ ...valid, password: 'right' })).toBe('it works')
  expect(await ask({ ...valid, password: '**********' })).toBe('it works')
  expect(await ask({ ...valid, password: 'wrong' })).toContain(
    '400 Failed to send email: the mail server does not accept the user',
  )
  expect(await ask({ ...valid, user: 'other', password: '**********' })).toContain('does not accept the user')
  expect(await ask({ ...smtpServer, starttls: 'true' })).toContain('no secure connection')
  expect(await ask({ ...smtpServer, ssl: 'true' })).toContain('no secure connection')
  expect(await ask({ ...smtpServer, port: 'x' })).toContain('the port of the mail server is not a number')
  expect(await ask({ ...smtpServer, port: '1' })).toContain('the mail server does not respond')
  expect(await ask({ ...valid, authType: 'token', authTokenUrl: 'http://127.0.0.1:1' })).toContain(
    'could not get an access token',
  )
  expect(await ask({ ...smtpServer, from: '' })).toContain('400 Invalid sender address')
  expect(await ask({})).toContain('the request has no SMTP settings')
  const config = JSON.stringify(smtpServer)
  const earlier = `/v1/${nameOf(path)}/testSMTPConnection/${encodeURIComponent(config)}`
  expect((await call('POST', earlier, { token })).status).toBe(204)
  const asForm = {
    token,
    body: String(new URLSearchParams({ config })),
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  }
  expect((await call('POST', `${path}/testSMTPConnection`, asForm)).status).toBe(204)
  expect((await call('POST', `${path}/testSMTPConnection`, { body: smtpServer })).body.errorMessage).toContain(
    'your account has no email address',
  )
})
