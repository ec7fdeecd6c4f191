import { expect, test } from 'vitest'
import { createAdminToken } from '../support/administrators.ts'
import { testServer } from '../support/server.ts'
import { newName, testService } from '../support/service.ts'

const { call, make, realm } = await testServer()

test('a realm is made, read, renamed and deleted', async () => {
  const path = await realm({ displayName: 'One' })
  expect((await call('GET', path)).body).toMatchObject({ displayName: 'One', enabled: true, accessTokenLifespan: 300 })
  const name = newName()
  expect((await call('PUT', path, { body: { realm: name } })).status).toBe(204)
  expect((await call('GET', path)).status).toBe(404)
  const admin = await call('GET', `/admin/realms/master/clients?clientId=${name}-realm`)
  expect(admin.body).toHaveLength(1)
  expect((await call('DELETE', `/admin/realms/${name}`)).status).toBe(204)
  expect((await call('GET', `/admin/realms/master/clients?clientId=${name}-realm`)).body).toEqual([])
})

test('who may only make realms administers those that they make, but does not take the place of people', async () => {
  const token = await createAdminToken('master', { realmRoles: ['create-realm'] })
  const [mine, other] = [newName(), await realm()]
  const users = [{ username: 'ann', clientRoles: { 'realm-management': ['view-users'] } }]
  expect((await call('POST', '/admin/realms', { token, body: { realm: mine, users } })).status).toBe(201)
  const [ann] = (await call('GET', `/admin/realms/${mine}/users`, { token })).body
  expect(
    (await call('PUT', `/admin/realms/${mine}/users/${ann.id}`, { token, body: { email: 'a@b.org' } })).status,
  ).toBe(204)
  expect((await call('POST', `/admin/realms/${mine}/users/${ann.id}/impersonation`, { token })).status).toBe(403)
  expect((await call('GET', other, { token })).status).toBe(403)
  expect((await call('GET', '/admin/realms', { token })).body).toMatchObject([{ realm: mine }])
  expect((await call('DELETE', `/admin/realms/${mine}`, { token })).status).toBe(204)
})

test('the password of the mail server is never shown, and its mask keeps it for the same server only', async () => {
  const path = await realm()
  const smtpServer = { host: 'mail.example.org', from: 'sso@example.org', user: 'sso', password: 'mail-secret' }
  await call('PUT', path, { body: { smtpServer } })
  expect((await call('GET', path)).body.smtpServer).toEqual({ ...smtpServer, password: '**********' })
  const { service } = await testService()
  const { listObjects } = await import('../../src/service/objects/live-objects.ts')
  const { SYSTEM } = await import('../../src/service/context/service.ts')
  const secret = () =>
    service.read(SYSTEM, path.split('/').at(-1)!, async (context) => {
      const [live] = await listObjects(context, 'realm', {})
      return context.vault.open((live!.representation.smtpServer as { password: string }).password)
    })
  const masked = { ...smtpServer, from: 'other@example.org', password: '**********' }
  await call('PUT', path, { body: { smtpServer: masked } })
  expect((await call('GET', path)).body.smtpServer).toEqual(masked)
  expect(await secret()).toBe('mail-secret')
  await call('PUT', path, { body: { smtpServer: { ...masked, host: 'two.example.org' } } })
  expect((await call('GET', path)).body.smtpServer.password).toBeUndefined()
})

test.each([
  [{ from: 'sso@example.org' }],
  [{ from: 'sso@localhost', replyTo: '' }],
  [{ from: '"the sso"@[192.0.2.1]' }],
  [{ from: 'sso@exämple.org' }],
  [{ from: 'größe@example.org', allowutf8: 'true' }],
])('mail can be sent with %j', async (smtpServer) => {
  expect((await call('PUT', await realm(), { body: { smtpServer } })).status).toBe(204)
  await realm({ smtpServer })
})

test.each([
  [{ host: 'mail.example.org' }, "sender address 'null'"],
  [{ host: 'mail.example.org', from: '' }, "sender address 'null'"],
  [{ from: 'sso' }, "sender address 'sso'"],
  [{ from: 'Sso <sso@example.org>' }, "sender address 'Sso <sso@example.org>'"],
  [{ from: 'sso..@example.org' }, "sender address 'sso..@example.org'"],
  [{ from: 'sso@-example.org' }, "sender address 'sso@-example.org'"],
  [{ from: 'sso@example_1.org' }, "sender address 'sso@example_1.org'"],
  [{ from: 'größe@example.org' }, "sender address 'größe@example.org'"],
  [{ from: 'sso@example.org', replyTo: 'nobody' }, "reply-to address 'nobody'"],
])('mail cannot be sent with %j', async (smtpServer, wrong) => {
  const refused = { status: 400, body: { errorMessage: expect.stringContaining(`Invalid ${wrong}`) } }
  expect(await call('PUT', await realm(), { body: { smtpServer } })).toMatchObject(refused)
  expect(await call('POST', '/admin/realms', { body: { realm: newName(), smtpServer } })).toMatchObject(refused)
})

test('settings that are attributes too follow each other', async () => {
  const path = await realm({ clientSessionIdleTimeout: 300 })
  expect((await call('GET', path)).body.attributes.clientSessionIdleTimeout).toBe('300')
  await call('PUT', path, { body: { attributes: { clientSessionIdleTimeout: '600' } } })
  expect((await call('GET', path)).body.clientSessionIdleTimeout).toBe(600)
  await call('PUT', path, { body: { attributes: { colour: 'blue' } } })
  const { clientSessionIdleTimeout, attributes } = (await call('GET', path)).body
  expect([clientSessionIdleTimeout, attributes.clientSessionIdleTimeout, attributes.colour]).toEqual([
    0,
    undefined,
    'blue',
  ])
})

test('a realm with content of a kind that is not there yet is refused rather than made without it', async () => {
  const body = { realm: newName(), oauthClients: [{ name: 'shop' }] }
  const answer = await call('POST', '/admin/realms', { body })
  expect(answer.status).toBe(400)
  expect(answer.body.errorMessage).toContain('oauthClients')
  expect((await call('GET', `/admin/realms/${body.realm}`)).status).toBe(404)
})

test('what a realm shows can be sent back, and to make another realm', async () => {
  const path = await realm()
  // The first time, settings that are attributes too become attributes.
  await call('PUT', path, { body: (await call('GET', path)).body })
  const shown = (await call('GET', path)).body
  expect((await call('PUT', path, { body: shown })).status).toBe(204)
  expect((await call('GET', path)).body).toEqual(shown)
  const { id: _, ...rest } = shown
  await make('/admin/realms', { ...rest, realm: newName() })
})

test('the list shows every realm, and little of each where little is asked for', async () => {
  const path = await realm({ displayName: 'One', displayNameHtml: '<b>One</b>' })
  const name = path.split('/').at(-1)
  const find = (realms: { realm: string }[]) => realms.find(({ realm }) => realm === name)
  expect(find((await call('GET', '/admin/realms')).body)).toEqual((await call('GET', path)).body)
  const brief = find((await call('GET', '/admin/realms?briefRepresentation=true')).body)
  expect(brief).toEqual({
    id: expect.any(String),
    realm: name,
    displayName: 'One',
    displayNameHtml: '<b>One</b>',
    enabled: true,
  })
})

test('a realm shows the role that everybody new gets, in the list too', async () => {
  const path = await realm()
  const { id, realm: name } = (await call('GET', path)).body
  const { attributes: _, ...role } = (await call('GET', `${path}/roles/default-roles-${name}`)).body
  expect(role).toMatchObject({ composite: true, clientRole: false, containerId: id })
  const listed = (await call('GET', '/admin/realms')).body.find((one: { realm: string }) => one.realm === name)
  expect(listed.defaultRole).toEqual(role)
})

test('the list costs the same statements however many realms there are', async () => {
  const { statements } = await testService()
  // The keys of master are read again after a realm was made.
  const list = () => call('GET', '/admin/realms')
  await list()
  const before = await statements(list)
  await realm()
  await list()
  const after = await statements(list)
  expect(after.length).toBe(before.length)
})

test('the master realm cannot be deleted', async () => {
  expect(await call('DELETE', '/admin/realms/master')).toMatchObject({
    status: 400,
    body: { errorMessage: "Can't remove master realm" },
  })
})

test('the role that everybody has is called after the realm, in lower case', async () => {
  const name = `Capital-${newName()}`
  await make('/admin/realms', { realm: name })
  const { body } = await call('GET', `/admin/realms/${name}`)
  expect(body.defaultRole.name).toBe(`default-roles-${name.toLowerCase()}`)
})

test('where a new realm states a setting and its attribute, the attribute counts', async () => {
  const attributes = { oauth2DeviceCodeLifespan: '1' }
  const path = await realm({ oauth2DeviceCodeLifespan: 333, oauth2DevicePollingInterval: 7, attributes })
  expect((await call('GET', path)).body).toMatchObject({
    oauth2DeviceCodeLifespan: 1,
    oauth2DevicePollingInterval: 7,
    attributes: { oauth2DeviceCodeLifespan: '1', oauth2DevicePollingInterval: '7' },
  })
})
