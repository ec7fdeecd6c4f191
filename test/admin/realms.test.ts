// Realms over REST: settings, lists and default roles.
import { expect, test } from 'vitest'
import { deleteRealm } from '../../src/service/admin-api/realms/realms.ts'
import { SYSTEM } from '../../src/service/context/service.ts'
import { listRealmRevisions } from '../../src/service/journal/history.ts'
import { listObjects } from '../../src/service/objects/live-objects.ts'
import { createAdminToken } from '../support/admin-tokens.ts'
import { dumpRows } from '../support/database-rows.ts'
import { createFilledRealm } from '../support/filled-realm.ts'
import { testServer } from '../support/server.ts'
import { newName, newRealm, openNewService, testService } from '../support/service.ts'

const { call, create, createRealm } = await testServer()

test('a realm is created, read, renamed and deleted, and so is its client of master', async () => {
  const path = await createRealm({ displayName: 'One' })
  expect((await call('GET', path)).body).toMatchObject({ displayName: 'One', enabled: true, accessTokenLifespan: 300 })
  const name = newName()
  expect((await call('PUT', path, { body: { realm: name } })).status).toBe(204)
  expect((await call('GET', path)).status).toBe(404)
  const clients = await call('GET', `/admin/realms/master/clients?clientId=${name}-realm`)
  expect(clients.body).toHaveLength(1)
  expect((await call('DELETE', `/admin/realms/${name}`)).status).toBe(204)
  expect((await call('GET', `/admin/realms/master/clients?clientId=${name}-realm`)).body).toEqual([])
})

test('a deleted realm leaves no row but its journal, whatever it contained', async () => {
  const { service } = await testService()
  const { name } = await createFilledRealm('thing')
  const { number } = await service.cache.getRealm(name)
  const listTables = async () =>
    Object.entries(await dumpRows(service, number)).flatMap(([table, rows]) => (rows.length ? [table] : []))
  expect((await listTables()).length).toBeGreaterThan(30)
  expect((await call('DELETE', `/admin/realms/${name}`)).status).toBe(204)
  expect(await listTables()).toEqual(['journal', 'user_journal'])
})

test('realms that are created and deleted at the same moment are revisions of master with times of their own', async () => {
  const now = new Date()
  const service = await openNewService({ clock: () => now })
  await newRealm(service, { realm: 'master' })
  const names = [newName(), newName(), newName()]
  await Promise.all(names.map((realm) => newRealm(service, { realm })))
  for (const realm of names) await service.write(SYSTEM, { realm, withMaster: true }, deleteRealm)
  const revisions = await service.read(SYSTEM, 'master', (context) => listRealmRevisions(context, 1_000, 1_000))
  await service.close()
  expect(revisions.length).toBeGreaterThanOrEqual(6)
  expect(new Set(revisions.map(({ at }) => at.getTime())).size).toBe(revisions.length)
})

test('a caller with create-realm administers the realms that they create, but cannot impersonate users', async () => {
  const token = await createAdminToken('master', { realmRoles: ['create-realm'] })
  const [name, otherPath] = [newName(), await createRealm()]
  const users = [{ username: 'ann', clientRoles: { 'realm-management': ['view-users'] } }]
  expect((await call('POST', '/admin/realms', { token, body: { realm: name, users } })).status).toBe(201)
  const [ann] = (await call('GET', `/admin/realms/${name}/users`, { token })).body
  expect(
    (await call('PUT', `/admin/realms/${name}/users/${ann.id}`, { token, body: { email: 'a@b.org' } })).status,
  ).toBe(204)
  expect((await call('POST', `/admin/realms/${name}/users/${ann.id}/impersonation`, { token })).status).toBe(403)
  expect((await call('GET', otherPath, { token })).status).toBe(403)
  expect((await call('GET', '/admin/realms', { token })).body).toMatchObject([{ realm: name }])
  expect((await call('DELETE', `/admin/realms/${name}`, { token })).status).toBe(204)
})

test('the password of the mail server is masked, and the mask retains it if the host does not change', async () => {
  const path = await createRealm()
  const smtpServer = { host: 'mail.example.org', from: 'sso@example.org', user: 'sso', password: 'mail-secret' }
  await call('PUT', path, { body: { smtpServer } })
  expect((await call('GET', path)).body.smtpServer).toEqual({ ...smtpServer, password: '**********' })
  const { service } = await testService()
  const readPassword = () =>
    service.read(SYSTEM, path.split('/').at(-1)!, async (context) => {
      const [live] = await listObjects(context, 'realm', {})
      return context.vault.open((live!.representation.smtpServer as { password: string }).password)
    })
  const maskedServer = { ...smtpServer, from: 'other@example.org', password: '**********' }
  await call('PUT', path, { body: { smtpServer: maskedServer } })
  expect((await call('GET', path)).body.smtpServer).toEqual(maskedServer)
  expect(await readPassword()).toBe('mail-secret')
  await call('PUT', path, { body: { smtpServer: { ...maskedServer, host: 'other.example.org' } } })
  expect((await call('GET', path)).body.smtpServer.password).toBeUndefined()
})

test('a vault reference as the password of the mail server is not masked, and is kept by the PUT of what was read', async () => {
  const path = await createRealm()
  const smtpServer = { host: 'mail.example.org', from: 'sso@example.org', user: 'sso', password: '${vault.smtp}' }
  await call('PUT', path, { body: { smtpServer } })
  const { body } = await call('GET', path)
  expect(body.smtpServer).toEqual(smtpServer)
  await call('PUT', path, { body })
  expect((await call('GET', path)).body.smtpServer).toEqual(smtpServer)
  await call('PUT', path, { body: { smtpServer: { ...smtpServer, password: '${vault.smtp} x' } } })
  expect((await call('GET', path)).body.smtpServer.password).toBe('**********')
})

test.each([
  [{ from: 'sso@example.org' }],
  [{ from: 'sso@localhost', replyTo: '' }],
  [{ from: '"the sso"@[192.0.2.1]' }],
  [{ from: 'sso@exämple.org' }],
  [{ from: 'größe@example.org', allowutf8: 'true' }],
])('the mail server settings %j are accepted', async (smtpServer) => {
  expect((await call('PUT', await createRealm(), { body: { smtpServer } })).status).toBe(204)
  await createRealm({ smtpServer })
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
  [{ from: 'sso@example.org', replyTo: 'reply' }, "reply-to address 'reply'"],
])('the mail server settings %j return 400 in an existing and a new realm', async (smtpServer, problem) => {
  const error = { status: 400, body: { errorMessage: expect.stringContaining(`Invalid ${problem}`) } }
  expect(await call('PUT', await createRealm(), { body: { smtpServer } })).toMatchObject(error)
  expect(await call('POST', '/admin/realms', { body: { realm: newName(), smtpServer } })).toMatchObject(error)
})

test('a setting and the attribute with its name always have the same value', async () => {
  const path = await createRealm({ clientSessionIdleTimeout: 300 })
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

test('a new realm with content of an unsupported kind returns 400, and is not created', async () => {
  const body = { realm: newName(), socialProviders: { github: 'secret' } }
  const response = await call('POST', '/admin/realms', { body })
  expect(response.status).toBe(400)
  expect(response.body.errorMessage).toContain('socialProviders')
  expect((await call('GET', `/admin/realms/${body.realm}`)).status).toBe(404)
})

test('PUT with the representation of a realm changes nothing, and POST with it creates another realm', async () => {
  const path = await createRealm()
  // The first PUT adds the attributes of settings that the realm had only as fields.
  await call('PUT', path, { body: (await call('GET', path)).body })
  const representation = (await call('GET', path)).body
  expect((await call('PUT', path, { body: representation })).status).toBe(204)
  expect((await call('GET', path)).body).toEqual(representation)
  const { id: _, ...remaining } = representation
  await create('/admin/realms', { ...remaining, realm: newName() })
})

test('the list has the representation of each realm, and with briefRepresentation only five fields', async () => {
  const path = await createRealm({ displayName: 'One', displayNameHtml: '<b>One</b>' })
  const name = path.split('/').at(-1)
  const findRealm = (realms: { realm: string }[]) => realms.find(({ realm }) => realm === name)
  expect(findRealm((await call('GET', '/admin/realms')).body)).toEqual((await call('GET', path)).body)
  const brief = findRealm((await call('GET', '/admin/realms?briefRepresentation=true')).body)
  expect(brief).toEqual({
    id: expect.any(String),
    realm: name,
    displayName: 'One',
    displayNameHtml: '<b>One</b>',
    enabled: true,
  })
})

test('the representation of a realm has its default role, and so does the list', async () => {
  const path = await createRealm()
  const { id, realm: name } = (await call('GET', path)).body
  const { attributes: _, ...role } = (await call('GET', `${path}/roles/default-roles-${name}`)).body
  expect(role).toMatchObject({ composite: true, clientRole: false, containerId: id })
  const listElement = (await call('GET', '/admin/realms')).body.find(
    (candidate: { realm: string }) => candidate.realm === name,
  )
  expect(listElement.defaultRole).toEqual(role)
})

test('the list takes the same number of statements for any number of realms', async () => {
  const { statements } = await testService()
  // The first call after the creation of a realm re-reads the keys of master.
  const listRealms = () => call('GET', '/admin/realms')
  await listRealms()
  const before = await statements(listRealms)
  await createRealm()
  await listRealms()
  const after = await statements(listRealms)
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
  await create('/admin/realms', { realm: name })
  const { body } = await call('GET', `/admin/realms/${name}`)
  expect(body.defaultRole.name).toBe(`default-roles-${name.toLowerCase()}`)
})

test('the attribute wins if a new realm declares a setting and its attribute', async () => {
  const attributes = { oauth2DeviceCodeLifespan: '1' }
  const path = await createRealm({ oauth2DeviceCodeLifespan: 333, oauth2DevicePollingInterval: 7, attributes })
  expect((await call('GET', path)).body).toMatchObject({
    oauth2DeviceCodeLifespan: 1,
    oauth2DevicePollingInterval: 7,
    attributes: { oauth2DeviceCodeLifespan: '1', oauth2DevicePollingInterval: '7' },
  })
})

test('a realm name may contain a space, but no other white space, and none at its ends', async () => {
  const name = `${newName()} one`
  const address = await create('/admin/realms', { realm: name })
  expect(new URL(address, 'http://localhost').pathname).toBe(`/admin/realms/${encodeURIComponent(name)}`)
  expect((await call('GET', address)).body.realm).toBe(name)
  const { body } = await call('GET', `/realms/${encodeURIComponent(name)}/.well-known/openid-configuration`)
  expect(body.issuer).toMatch(/\/realms\/\S+%20one$/)
  expect((await call('DELETE', address)).status).toBe(204)
  for (const realm of [` ${name}`, `${name} `, `${name}\tx`, `${name}\nx`])
    expect((await call('POST', '/admin/realms', { body: { realm } })).status).toBe(400)
})

test('the Location of a new object has the characters of its name that a path may contain', async () => {
  const path = await createRealm()
  for (const [name, segment] of [
    ["a:b@c+d;e=f,g&h$i!j'k(l)*", "a:b@c+d;e=f,g&h$i!j'k(l)*"],
    ['a b/c?d#e%f[g]ü', 'a%20b%2Fc%3Fd%23e%25f%5Bg%5D%C3%BC'],
  ]) {
    const { headers } = await call('POST', `${path}/roles`, { body: { name } })
    expect(String(headers.location).split('/roles/')[1]).toBe(segment)
    expect((await call('GET', new URL(String(headers.location)).pathname)).body.name).toBe(name)
  }
})

test('types of events may be separated by commas', async () => {
  const path = await createRealm({ adminEventsEnabled: true, adminEventsDetailsEnabled: true })
  await create(`${path}/roles`, { name: 'reader' })
  await create(`${path}/groups`, { name: 'staff' })
  const count = async (query: string) => (await call('GET', `${path}/admin-events?${query}`)).body.length
  expect(await count('resourceTypes=REALM_ROLE')).toBe(1)
  expect(await count('resourceTypes=REALM_ROLE,GROUP')).toBe(2)
  expect(await count('resourceTypes=REALM_ROLE,%20USER&resourceTypes=GROUP&operationTypes=CREATE,DELETE')).toBe(2)
  expect((await call('GET', `${path}/events?type=LOGIN,LOGIN_ERROR`)).body).toEqual([])
  const { status, body } = await call('GET', `${path}/events?type=LOGIN,NOPE`)
  expect([status, body]).toEqual([400, { error: "Invalid value for 'type': NOPE" }])
})

test('events/config stores each listener and type of events once', async () => {
  const path = `${await createRealm()}/events/config`
  const twice = { eventsListeners: ['email', 'email'], enabledEventTypes: ['LOGIN', 'LOGIN'] }
  expect((await call('PUT', path, { body: twice })).status).toBe(204)
  expect((await call('GET', path)).body).toMatchObject({ eventsListeners: ['email'], enabledEventTypes: ['LOGIN'] })
})

test('a localization text is removed by null, and other texts stay', async () => {
  const path = `${await createRealm()}/localization/de`
  await call('POST', path, { body: { hello: 'Hallo', bye: null } })
  await call('POST', path, { body: { hello: null, thanks: 'Danke' } })
  expect((await call('GET', path)).body).toEqual({ thanks: 'Danke' })
})

test('the types of user events that are stored by default are listed in the order of Keycloak', async () => {
  const { body } = await call('GET', `${await createRealm()}/events/config`)
  expect(body.enabledEventTypes.slice(0, 6)).toEqual([
    'LOGIN',
    'LOGIN_ERROR',
    'REGISTER',
    'REGISTER_ERROR',
    'LOGOUT',
    'LOGOUT_ERROR',
  ])
})

test('an update of a realm whose lifespans contradict each other returns 400, and changes nothing', async () => {
  const realm = await createRealm({ ssoSessionIdleTimeout: 100, ssoSessionMaxLifespan: 1000 })
  const refusals: [body: object, message: string][] = [
    [{ clientSessionIdleTimeout: 101 }, 'Client Session Idle Timeout cannot be greater than Realm SSO Idle Timeout.'],
    [{ clientSessionMaxLifespan: 1001 }, 'Client session max lifespan cannot exceed realm SSO session max lifespan.'],
    [
      { rememberMe: true, ssoSessionIdleTimeoutRememberMe: 50, clientSessionIdleTimeout: 101 },
      'Client session idle timeout cannot exceed realm SSO session idle timeout and RememberMe idle timeout.',
    ],
    [
      { rememberMe: true, clientSessionMaxLifespan: 1001 },
      'Client session max lifespan cannot exceed realm SSO session max lifespan and RememberMe Max span.',
    ],
    [
      { accessCodeLifespanLogin: 0, accessCodeLifespanUserAction: 60 },
      'AccessCodeLifespanLogin or AccessCodeLifespanUserAction cannot be 0',
    ],
  ]
  const { body: before } = await call('GET', realm)
  for (const [body, errorMessage] of refusals)
    expect(await call('PUT', realm, { body }), errorMessage).toMatchObject({ status: 400, body: { errorMessage } })
  expect((await call('GET', realm)).body).toEqual(before)
  for (const body of [
    { clientSessionIdleTimeout: 100, clientSessionMaxLifespan: 1000 },
    { accessCodeLifespanLogin: 0 },
    { rememberMe: true, ssoSessionIdleTimeoutRememberMe: 200, clientSessionIdleTimeout: 200 },
  ])
    expect((await call('PUT', realm, { body })).status).toBe(204)
})

test('an empty password policy and an empty list of required credentials are not shown', async () => {
  const realm = await createRealm({ passwordPolicy: 'length(8)' })
  await call('PUT', realm, { body: { passwordPolicy: '', requiredCredentials: [] } })
  const { body } = await call('GET', realm)
  for (const field of ['passwordPolicy', 'requiredCredentials']) expect(body).not.toHaveProperty(field)
  expect((await call('POST', `${realm}/partial-export`)).body).not.toHaveProperty('passwordPolicy')
})
