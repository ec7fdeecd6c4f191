import { expect, test } from 'vitest'
import { createAdminToken } from '../support/admin-tokens.ts'
import { testServer } from '../support/server.ts'
import { newName, testService } from '../support/service.ts'

const { call, make, realm } = await testServer()

test('a realm is created, read, renamed and deleted', async () => {
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

test('a caller with create-realm administers the realms that they create, but cannot impersonate users', async () => {
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

test('the password of the mail server is masked, and the mask retains it for the same server only', async () => {
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
])('the mail server settings %j are accepted', async (smtpServer) => {
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
])('the mail server settings %j are refused', async (smtpServer, problem) => {
  const refused = { status: 400, body: { errorMessage: expect.stringContaining(`Invalid ${problem}`) } }
  expect(await call('PUT', await realm(), { body: { smtpServer } })).toMatchObject(refused)
  expect(await call('POST', '/admin/realms', { body: { realm: newName(), smtpServer } })).toMatchObject(refused)
})

test('settings that are stored as attributes too are kept in sync', async () => {
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

test('a realm with content of an unsupported kind is refused', async () => {
  const body = { realm: newName(), oauthClients: [{ name: 'shop' }] }
  const response = await call('POST', '/admin/realms', { body })
  expect(response.status).toBe(400)
  expect(response.body.errorMessage).toContain('oauthClients')
  expect((await call('GET', `/admin/realms/${body.realm}`)).status).toBe(404)
})

test('the representation of a realm can be sent back, and creates another realm', async () => {
  const path = await realm()
  // The first time, settings that are attributes too become attributes.
  await call('PUT', path, { body: (await call('GET', path)).body })
  const representation = (await call('GET', path)).body
  expect((await call('PUT', path, { body: representation })).status).toBe(204)
  expect((await call('GET', path)).body).toEqual(representation)
  const { id: _, ...rest } = representation
  await make('/admin/realms', { ...rest, realm: newName() })
})

test('the list has every realm, with few fields if brief', async () => {
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

test('a realm contains its default role, in the list too', async () => {
  const path = await realm()
  const { id, realm: name } = (await call('GET', path)).body
  const { attributes: _, ...role } = (await call('GET', `${path}/roles/default-roles-${name}`)).body
  expect(role).toMatchObject({ composite: true, clientRole: false, containerId: id })
  const listed = (await call('GET', '/admin/realms')).body.find(
    (candidate: { realm: string }) => candidate.realm === name,
  )
  expect(listed.defaultRole).toEqual(role)
})

test('the list takes the same number of statements for any number of realms', async () => {
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

test('the default role has the name of the realm in lower case', async () => {
  const name = `Capital-${newName()}`
  await make('/admin/realms', { realm: name })
  const { body } = await call('GET', `/admin/realms/${name}`)
  expect(body.defaultRole.name).toBe(`default-roles-${name.toLowerCase()}`)
})

test('the attribute wins if a new realm declares a setting and its attribute', async () => {
  const attributes = { oauth2DeviceCodeLifespan: '1' }
  const path = await realm({ oauth2DeviceCodeLifespan: 333, oauth2DevicePollingInterval: 7, attributes })
  expect((await call('GET', path)).body).toMatchObject({
    oauth2DeviceCodeLifespan: 1,
    oauth2DevicePollingInterval: 7,
    attributes: { oauth2DeviceCodeLifespan: '1', oauth2DevicePollingInterval: '7' },
  })
})
