// Admin events: the changes that create them, their filters and their expiry.
import { expect, test } from 'vitest'
import { kinds } from '../../src/kinds/index.ts'
import { applySources } from '../../src/reconcile/run/run.ts'
import { SYSTEM } from '../../src/service/context/service.ts'
import { sweepExpiredRows } from '../../src/service/operations/sweeper.ts'
import { testServer } from '../support/server.ts'
import { newName, testService } from '../support/service.ts'
import { ANN, createSource } from '../support/sources.ts'

const { call, create, createRealm } = await testServer()
const { service, statements } = await testService()

const EVENTS_ENABLED = { adminEventsEnabled: true, adminEventsDetailsEnabled: true }
const SECRET = 'secret-7f3a'

interface AdminEvent {
  readonly operationType: string
  readonly resourceType: string
  readonly resourcePath?: string
  readonly representation?: string
  readonly authDetails: Record<string, string>
  readonly details?: Record<string, string>
}

/** Returns the admin events of a realm, the oldest first. */
const listEvents = async (path: string, query = ''): Promise<AdminEvent[]> =>
  (await call('GET', `${path}/admin-events?direction=asc${query}`)).body
const summarizeEvents = (events: readonly AdminEvent[]) =>
  events.map(({ operationType, resourceType, resourcePath }) => `${operationType} ${resourceType} ${resourcePath}`)
const toResourcePath = (path: string, address: string) => address.replace(`${path}/`, '')

test('each change creates an admin event with the operation, the resource and the caller', async () => {
  const path = await createRealm(EVENTS_ENABLED)
  const scope = await create(`${path}/client-scopes`, { name: 'orders', protocol: 'openid-connect', description: null })
  await call('PUT', scope, { body: { name: 'orders', description: 'Orders' } })
  const client = await create(`${path}/clients`, { clientId: 'shop' })
  await call('PUT', `${client}/default-client-scopes/${scope.split('/').at(-1)}`)
  const role = await create(`${client}/roles`, { name: 'buyer' })
  await call('DELETE', role)
  await call('DELETE', client)
  const events = await listEvents(path)
  const [scopePath, clientPath] = [toResourcePath(path, scope), toResourcePath(path, client)]
  expect(summarizeEvents(events)).toEqual([
    `CREATE CLIENT_SCOPE ${scopePath}`,
    `UPDATE CLIENT_SCOPE ${scopePath}`,
    `CREATE CLIENT ${clientPath}`,
    `CREATE CLIENT_SCOPE_CLIENT_MAPPING ${clientPath}/default-${scopePath}`,
    `CREATE CLIENT_ROLE ${clientPath}/roles/buyer`,
    `DELETE CLIENT_ROLE ${clientPath}/roles/buyer`,
    `DELETE CLIENT ${clientPath}`,
  ])
  expect(events[0]).toEqual({
    id: expect.any(String),
    time: expect.any(Number),
    realmId: expect.any(String),
    authDetails: {
      realmId: expect.any(String),
      clientId: expect.any(String),
      userId: expect.any(String),
      ipAddress: '127.0.0.1',
    },
    operationType: 'CREATE',
    resourceType: 'CLIENT_SCOPE',
    resourcePath: scopePath,
    representation: '{"name":"orders","protocol":"openid-connect"}',
  })
  const id = client.split('/').at(-1)
  expect(events.at(2)!.representation).toBe(`{"id":"${id}","clientId":"shop"}`)
  expect(events.at(-1)!.representation).toBe(`{"id":"${id}","clientId":"shop"}`)
})

test('a refused change creates no admin event, nor does a realm with admin events disabled', async () => {
  const enabled = await createRealm(EVENTS_ENABLED)
  await create(`${enabled}/roles`, { name: 'reader' })
  expect((await call('POST', `${enabled}/roles`, { body: { name: 'reader' } })).status).toBe(409)
  expect(await listEvents(enabled)).toHaveLength(1)
  const disabled = await createRealm()
  await create(`${disabled}/roles`, { name: 'reader' })
  expect(await listEvents(disabled)).toEqual([])
})

test('enabling and disabling admin events both create an admin event', async () => {
  const path = await createRealm()
  await call('PUT', `${path}/events/config`, { body: { adminEventsEnabled: true } })
  await call('PUT', path, { body: { adminEventsEnabled: false } })
  await create(`${path}/roles`, { name: 'reader' })
  expect(summarizeEvents(await listEvents(path))).toEqual(['UPDATE REALM events/config', 'UPDATE REALM undefined'])
})

test('creating and deleting a realm creates admin events in the realm of the administrator', async () => {
  const master = '/admin/realms/master'
  await call('PUT', `${master}/events/config`, { body: EVENTS_ENABLED })
  const name = (await createRealm({ smtpServer: { from: 'sso@example.org', password: SECRET } })).split('/').at(-1)!
  await call('DELETE', `/admin/realms/${name}`)
  const events = await listEvents(master, `&resourcePath=${name}`)
  await call('PUT', `${master}/events/config`, {
    body: { adminEventsEnabled: false, adminEventsDetailsEnabled: false },
  })
  expect(summarizeEvents(events)).toEqual([`CREATE REALM ${name}`, `DELETE REALM ${name}`])
  expect(events[0]!.representation).toContain('"password":"**********"')
})

test('admin events are filtered by type, operation, path and time, and DELETE removes them', async () => {
  const path = await createRealm(EVENTS_ENABLED)
  for (const name of ['a_b', 'axb', 'a b']) await create(`${path}/roles`, { name })
  await call('PUT', `${path}/roles/axb`, { body: { name: 'axb' } })
  const listPaths = async (query: string) => (await listEvents(path, query)).map(({ resourcePath }) => resourcePath)
  expect(await listPaths('&resourcePath=roles/a_b')).toEqual(['roles/a_b'])
  expect(await listPaths('&resourcePath=roles/*&operationTypes=UPDATE&operationTypes=DELETE')).toEqual(['roles/axb'])
  expect(await listPaths('&resourceTypes=CLIENT&resourceTypes=')).toEqual([])
  expect(await listPaths('&first=1&max=1')).toEqual(['roles/axb'])
  const today = new Date().toISOString().slice(0, 10)
  expect(await listPaths(`&dateFrom=${today}&dateTo=${today}`)).toHaveLength(4)
  expect(await listPaths('&dateFrom=9999-12-31')).toEqual([])
  for (const query of ['dateTo=2020-02-31', 'operationTypes=MAKE', 'resourceTypes=SHOP'])
    expect((await call('GET', `${path}/admin-events?${query}`)).status, query).toBe(400)
  expect((await call('DELETE', `${path}/admin-events`)).status).toBe(204)
  expect(await listEvents(path)).toEqual([])
})

test('an apply creates an admin event for each action, with the source as a detail', async () => {
  const name = newName()
  const document = {
    realm: name,
    enabled: true,
    ...EVENTS_ENABLED,
    clients: [{ clientId: 'shop', secret: SECRET, attributes: { colour: 'blue' } }],
    roles: { client: { shop: [{ name: 'buyer' }] } },
  }
  await applySources(service, ANN, [createSource([document], name)])
  await applySources(service, SYSTEM, [createSource([{ realm: name }], name)])
  const events = await listEvents(`/admin/realms/${name}`, '&resourceTypes=CLIENT&resourceTypes=CLIENT_ROLE')
  expect(events.map(({ operationType, resourceType }) => `${operationType} ${resourceType}`)).toEqual([
    'CREATE CLIENT',
    'CREATE CLIENT_ROLE',
    'DELETE CLIENT',
    'DELETE CLIENT_ROLE',
  ])
  const [client, role] = events
  expect(client).toMatchObject({
    resourcePath: expect.stringMatching(/^clients\/[0-9a-f-]{36}$/),
    details: { source: name },
  })
  expect(JSON.parse(client!.representation!)).toMatchObject({ clientId: 'shop', secret: '**********' })
  expect(role!.resourcePath).toBe(`${client!.resourcePath}/roles/buyer`)
  expect(JSON.stringify(events)).not.toContain(SECRET)
})

test('the admin events of an apply contain the REST representation, and kinds without events create none', async () => {
  const path = await createRealm(EVENTS_ENABLED)
  const name = path.split('/').at(-1)!
  await applySources(service, SYSTEM, [
    createSource([
      { realm: name, users: [{ username: 'ann' }], workflows: [{ name: 'bye', steps: [{ uses: 'delete-user' }] }] },
    ]),
  ])
  const events = await listEvents(path)
  expect(summarizeEvents(events)).toEqual([expect.stringMatching(/^CREATE USER users\//)])
  const fields = Object.keys(JSON.parse(events[0]!.representation!))
  expect(fields).toContain('username')
  expect(fields.filter((field) => kinds.user.fields[field]?.isSeparate)).toEqual([])
})

test('the admin events of an apply take one statement for any number of events', async () => {
  const countStatements = async (size: number) => {
    const name = newName()
    const roles = { realm: Array.from({ length: size }, (_, at) => ({ name: `role-${at}` })) }
    await applySources(service, SYSTEM, [createSource([{ realm: name, ...EVENTS_ENABLED }], name)])
    return (
      await statements(() =>
        applySources(service, SYSTEM, [createSource([{ realm: name, ...EVENTS_ENABLED, roles }], name)]),
      )
    ).length
  }
  expect(await countStatements(200)).toBe(await countStatements(2))
})

test('expired admin events are deleted', async () => {
  const unexpired = await createRealm(EVENTS_ENABLED)
  const expiring = await createRealm({ ...EVENTS_ENABLED, attributes: { adminEventsExpiration: '60' } })
  for (const path of [unexpired, expiring]) await create(`${path}/roles`, { name: 'reader' })
  await sweepExpiredRows(service, new Date(Date.now() + 30_000))
  expect(await listEvents(expiring)).toHaveLength(1)
  await sweepExpiredRows(service, new Date(Date.now() + 90_000))
  expect(await listEvents(expiring)).toEqual([])
  expect(await listEvents(unexpired)).toHaveLength(1)
})
