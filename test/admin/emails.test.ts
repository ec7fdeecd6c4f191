// Emails that administrators send: their texts, recipients and links.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, expect, test } from 'vitest'
import { readActionToken } from '../../src/oidc/action-tokens.ts'
import { openMailbox } from '../support/mailbox.ts'
import { testServer } from '../support/server.ts'
import { testService } from '../support/service.ts'

const { call, create, createRealm } = await testServer()
const { service } = await testService()
const mailbox = await openMailbox()
const authenticatingMailbox = await openMailbox({
  authOptional: false,
  onAuth: ({ username, password }, _session, done) =>
    username === 'sso' && password === 'right' ? done(null, { user: username }) : done(new Error('no')),
})
afterAll(async () => {
  await mailbox.close()
  await authenticatingMailbox.close()
})

const smtpServer = { host: '127.0.0.1', port: mailbox.port, from: 'sso@example.org', fromDisplayName: 'Sign-in here' }
const getEmailTo = (address: string) => mailbox.emails.findLast(({ to }) => to.includes(address))!
const getKey = (text: string) => new URL(/http\S+key=\S+/.exec(text)![0]).searchParams.get('key')!
const getLastSegment = (path: string) => path.split('/').at(-1)!

test('an email has a link to the required actions, in text and HTML', async () => {
  const path = await createRealm({ smtpServer, displayName: 'Fish & Chips' })
  const user = await create(`${path}/users`, { username: 'ann', enabled: true, email: 'ann1@example.org' })
  await create(`${path}/clients`, { clientId: 'shop', redirectUris: ['https://shop.example.org/*'] })
  const query = 'client_id=shop&redirect_uri=https://shop.example.org/home&lifespan=7200'
  const actions = ['UPDATE_PASSWORD', 'CONFIGURE_TOTP']
  expect((await call('PUT', `${user}/execute-actions-email?${query}`, { body: actions })).status).toBe(204)
  const { text: plain, html, from } = getEmailTo('ann1@example.org')
  expect(plain).toContain('Fish & Chips asks you to update your account: update the password, set up one-time codes')
  expect(plain).toContain('is valid for 2 hours.')
  expect(html).toContain('Fish &#38; Chips asks')
  expect(from).toBe('Sign-in here <sso@example.org>')
  const key = getKey(plain)
  expect(html).toContain(key)
  expect(await readActionToken(service, getLastSegment(path), key)).toMatchObject({
    typ: 'execute-actions',
    sub: getLastSegment(user),
    azp: 'shop',
    rqac: actions,
    reduri: 'https://shop.example.org/home',
  })
  expect(await readActionToken(service, 'master', key)).toBe('invalid')
})

test('a link continues to a redirect URI that is relative to the address of the server', async () => {
  const path = await createRealm({ smtpServer })
  const user = await create(`${path}/users`, { username: 'ann', enabled: true, email: 'ann9@example.org' })
  const [account] = (await call('GET', `${path}/clients?clientId=account`)).body
  const send = (host: string) => {
    const uri = `http://${host}${account.baseUrl}`
    return call('PUT', `${user}/execute-actions-email?client_id=account&redirect_uri=${uri}`, {
      body: ['VERIFY_EMAIL'],
    })
  }
  expect((await send('localhost:80')).status).toBe(204)
  expect((await send('example.org')).status).toBe(400)
})

test('an email is in the locale of the user or else of the realm, with the localization texts of the realm', async () => {
  const path = await createRealm({
    smtpServer,
    internationalizationEnabled: true,
    supportedLocales: ['en', 'de', 'fr'],
    defaultLocale: 'fr',
  })
  const texts = {
    emailVerificationSubject: 'Adresse bestätigen',
    emailVerificationBody: "Für {2}, l''autre: {0}",
    'linkExpirationFormatter.timePeriodUnit.hours': 'Std.',
  }
  await call('POST', `${path}/localization/de`, { body: texts })
  await call('POST', `${path}/localization/fr`, { body: { emailVerificationSubject: 'Vérifier' } })
  const attributes = { locale: ['de'] }
  await call('PUT', `${path}/users/profile`, {
    body: { unmanagedAttributePolicy: 'ENABLED', attributes: [{ name: 'username' }, { name: 'email' }] },
  })
  const germanUser = await create(`${path}/users`, {
    username: 'ann',
    enabled: true,
    email: 'ann3@example.org',
    attributes,
  })
  const frenchUser = await create(`${path}/users`, { username: 'bob', enabled: true, email: 'bob3@example.org' })
  await call('PUT', `${germanUser}/send-verify-email`)
  await call('PUT', `${frenchUser}/send-verify-email`)
  expect(getEmailTo('ann3@example.org')).toMatchObject({
    subject: 'Adresse bestätigen',
    text: expect.stringContaining(`Für ${getLastSegment(path)}, l'autre: http`),
    html: expect.stringMatching(/lang="de".*12 Std\./s),
  })
  expect(getEmailTo('bob3@example.org')).toMatchObject({
    subject: 'Vérifier',
    text: expect.stringContaining('12 hours'),
  })
})

test('sending an email returns 400 in a realm without a mail server, and creates an admin event in other realms', async () => {
  const path = await createRealm({ adminEventsEnabled: true })
  const user = await create(`${path}/users`, { username: 'ann', enabled: true, email: 'ann4@example.org' })
  for (const operation of ['execute-actions-email', 'send-verify-email', 'reset-password-email']) {
    const { status, body } = await call('PUT', `${user}/${operation}`)
    expect([status, body.errorMessage]).toEqual([400, expect.stringContaining('the realm has no mail server')])
  }
  await call('PUT', path, {
    body: { smtpServer: { ...smtpServer, replyTo: 're@example.org', envelopeFrom: 'bounce@example.org' } },
  })
  await call('PUT', `${user}/reset-password-email`)
  const [event] = (await call('GET', `${path}/admin-events?operationTypes=ACTION`)).body
  expect(event).toMatchObject({
    resourceType: 'USER',
    resourcePath: `users/${getLastSegment(user)}/reset-password-email`,
  })
  expect(getEmailTo('ann4@example.org')).toMatchObject({
    sender: 'bounce@example.org',
    replyTo: 're@example.org',
  })
})

test('an email is sent with an access token of the token endpoint in the SMTP settings', async () => {
  const requests: string[] = []
  const tokenServer = createServer(async (request, response) => {
    requests.push(await text(request))
    response.end(JSON.stringify({ access_token: 'for-mail' }))
  })
  await new Promise<void>((resolve) => tokenServer.listen(0, '127.0.0.1', resolve))
  const tokenMailbox = await openMailbox({
    authOptional: false,
    authMethods: ['XOAUTH2'],
    onAuth: ({ username, accessToken }, _session, done) =>
      accessToken === 'for-mail' ? done(null, { user: username }) : done(new Error('no')),
  })
  const authentication = {
    auth: 'true',
    authType: 'token',
    user: 'sso',
    authTokenUrl: `http://127.0.0.1:${(tokenServer.address() as AddressInfo).port}/token`,
    authTokenScope: 'mail',
    authTokenClientId: 'regent',
    authTokenClientSecret: 'shh',
  }
  const path = await createRealm({ smtpServer: { ...smtpServer, port: tokenMailbox.port, ...authentication } })
  const user = await create(`${path}/users`, { username: 'ann', enabled: true, email: 'ann5@example.org' })
  expect((await call('PUT', `${user}/send-verify-email`)).status).toBe(204)
  expect(tokenMailbox.emails.map(({ to }) => to)).toEqual([['ann5@example.org']])
  expect(requests).toEqual(['grant_type=client_credentials&client_id=regent&client_secret=shh&scope=mail'])
  await tokenMailbox.close()
  tokenServer.close()
})

test('testSMTPConnection sends an email to the caller, and returns the error of the mail server', async () => {
  const path = await createRealm({
    smtpServer: { ...smtpServer, port: authenticatingMailbox.port, auth: 'true', user: 'sso', password: 'right' },
  })
  const admin = await create('/admin/realms/master/users', {
    username: getLastSegment(path),
    enabled: true,
    email: `${getLastSegment(path)}@example.org`,
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
    payload: form + getLastSegment(path),
  })
  const token = response.json<{ access_token: string }>().access_token
  const testConnection = async (settings: object) => {
    const { status, body } = await call('POST', `${path}/testSMTPConnection`, { token, body: settings })
    return status === 204 ? 'success' : `${status} ${body.errorMessage}`
  }
  expect(await testConnection(smtpServer)).toBe('success')
  expect(getEmailTo(`${getLastSegment(path)}@example.org`).subject).toBe('SMTP test message')
  const valid = { ...smtpServer, port: authenticatingMailbox.port, auth: true, user: 'sso' }
  expect(await testConnection({ ...valid, password: 'right' })).toBe('success')
  expect(await testConnection({ ...valid, password: '**********' })).toBe('success')
  expect(await testConnection({ ...valid, password: 'wrong' })).toContain(
    '400 Failed to send email: the mail server does not accept the user',
  )
  expect(await testConnection({ ...valid, user: 'other', password: '**********' })).toContain(
    'does not accept the user',
  )
  expect(await testConnection({ ...smtpServer, starttls: 'true' })).toContain('no secure connection')
  expect(await testConnection({ ...smtpServer, ssl: 'true' })).toContain('no secure connection')
  expect(await testConnection({ ...smtpServer, port: 'x' })).toContain('the port of the mail server is not a number')
  expect(await testConnection({ ...smtpServer, port: '1' })).toContain('the mail server does not respond')
  expect(await testConnection({ ...valid, authType: 'token', authTokenUrl: 'http://127.0.0.1:1' })).toContain(
    'could not get an access token',
  )
  expect(await testConnection({ ...smtpServer, from: '' })).toContain('400 Invalid sender address')
  expect(await testConnection({})).toContain('the request has no SMTP settings')
  const config = JSON.stringify(smtpServer)
  const legacyUrl = `/v1/${getLastSegment(path)}/testSMTPConnection/${encodeURIComponent(config)}`
  expect((await call('POST', legacyUrl, { token })).status).toBe(204)
  const formRequest = {
    token,
    body: String(new URLSearchParams({ config })),
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  }
  expect((await call('POST', `${path}/testSMTPConnection`, formRequest)).status).toBe(204)
  expect((await call('POST', `${path}/testSMTPConnection`, { body: smtpServer })).body.errorMessage).toContain(
    'your account has no email address',
  )
})
