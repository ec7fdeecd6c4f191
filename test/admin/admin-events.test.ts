import { expect, test } from 'vitest'
import { kinds } from '../../src/kinds/index.ts'
import { applySources } from '../../src/reconcile/run/run.ts'
import { SYSTEM } from '../../src/service/context/service.ts'
import { sweepExpiredRows } from '../../src/service/operations/sweeper.ts'
import { ANN, createSource } from '../support/reconcile.ts'
import { testServer } from '../support/server.ts'
import { newName, testService } from '../support/service.ts'

const { call, make, realm } = await testServer()
const { service, statements } = await testService()

const KEPT = { adminEventsEnabled: true, adminEventsDetailsEnabled: true }
const CANARY = 'canary-7f3a'

interface Event {
  readonly operationType: string
  readonly resourceType: string
  readonly resourcePath?: string
  readonly representation?: string
  readonly authDetails: Record<string, string>
  readonly details?: Record<string, string>
}

/** The events of a realm, the oldest first. */
const events = async (path: string, query = ''): Promise<Event[]> =>
  (await call('GET', `${path}/admin-events?direction=asc${query}`)).body
const brief = (found: readonly Event[]) =>
  found.map(({ operationType, resourceType, resourcePath }) => `${operationType} ${resourceType} ${resourcePath}`)
const below = (path: string, address: string) => address.replace(`${path}/`, '')

test('each change leaves an event that says what was done, to what, by whom', async () => {
  const path = await realm(KEPT)
  const scope = await make(`${path}/client-scopes`, { name: 'orders', protocol: 'openid-connect', description: null })
  await call('PUT', scope, { body: { name: 'orders', description: 'Orders' } })
  const client = await make(`${path}/clients`, { clientId: 'shop' })
  await call('PUT', `${client}/default-client-scopes/${scope.split('/').at(-1)}`)
  const role = await make(`${client}/roles`, { name: 'buyer' })
  await call('DELETE', role)
  await call('DELETE', client)
  const found = await events(path)
  const [at, of] = [below(path, scope), below(path, client)]
  expect(brief(found)).toEqual([
    `CREATE CLIENT_SCOPE ${at}`,
    `UPDATE CLIENT_SCOPE ${at}`,
    `CREATE CLIENT ${of}`,
    `CREATE CLIENT_SCOPE_CLIENT_MAPPING ${of}/default-${at}`,
    `CREATE CLIENT_ROLE ${of}/roles/buyer`,
    `DELETE CLIENT_ROLE ${of}/roles/buyer`,
    `DELETE CLIENT ${of}`,
  ])
  expect(found[0]).toEqual({
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
    resourcePath: at,
    representation: '{"name":"orders","protocol":"openid-connect"}',
  })
  const id = client.split('/').at(-1)
  expect(found.at(2)!.representation).toBe(`{"id":"${id}","clientId":"shop"}`)
  expect(found.at(-1)!.representation).toBe(`{"id":"${id}","clientId":"shop"}`)
})

test('what is refused leaves none, and so does a realm that keeps none', async () => {
  const kept = await realm(KEPT)
  await make(`${kept}/roles`, { name: 'reader' })
  expect((await call('POST', `${kept}/roles`, { body: { name: 'reader' } })).status).toBe(409)
  expect(await events(kept)).toHaveLength(1)
  const quiet = await realm()
  await make(`${quiet}/roles`, { name: 'reader' })
  expect(await events(quiet)).toEqual([])
})

test('turning events on is told, and turning them off too', async () => {
  const path = await realm()
  await call('PUT', `${path}/events/config`, { body: { adminEventsEnabled: true } })
  await call('PUT', path, { body: { adminEventsEnabled: false } })
  await make(`${path}/roles`, { name: 'reader' })
  expect(brief(await events(path))).toEqual(['UPDATE REALM events/config', 'UPDATE REALM undefined'])
})

test('the beginning and the end of a realm are told in the realm of the administrator', async () => {
  const master = '/admin/realms/master'
  await call('PUT', `${master}/events/config`, { body: KEPT })
  const name = (await realm({ smtpServer: { from: 'sso@example.org', password: CANARY } })).split('/').at(-1)!
  await call('DELETE', `/admin/realms/${name}`)
  const found = await events(master, `&resourcePath=${name}`)
  await call('PUT', `${master}/events/config`, {
    body: { adminEventsEnabled: false, adminEventsDetailsEnabled: false },
  })
  expect(brief(found)).toEqual([`CREATE REALM ${name}`, `DELETE REALM ${name}`])
  expect(found[0]!.representation).toContain('"password":"**********"')
})

test('events are found by type, operation, path and time, and are forgotten on demand', async () => {
  const path = await realm(KEPT)
  for (const name of ['a_b', 'axb', 'a b']) await make(`${path}/roles`, { name })
  await call('PUT', `${path}/roles/axb`, { body: { name: 'axb' } })
  const paths = async (query: string) => (await events(path, query)).map(({ resourcePath }) => resourcePath)
  expect(await paths('&resourcePath=roles/a_b')).toEqual(['roles/a_b'])
  expect(await paths('&resourcePath=roles/*&operationTypes=UPDATE&operationTypes=DELETE')).toEqual(['roles/axb'])
  expect(await paths('&resourceTypes=CLIENT&resourceTypes=')).toEqual([])
  expect(await paths('&first=1&max=1')).toEqual(['roles/axb'])
  const today = new Date().toISOString().slice(0, 10)
  expect(await paths(`&dateFrom=${today}&dateTo=${today}`)).toHaveLength(4)
  expect(await paths('&dateFrom=9999-12-31')).toEqual([])
  for (const query of ['dateTo=2020-02-31', 'operationTypes=MAKE', 'resourceTypes=SHOP'])
    expect((await call('GET', `${path}/admin-events?${query}`)).status, query).toBe(400)
  expect((await call('DELETE', `${path}/admin-events`)).status).toBe(204)
  expect(await events(path)).toEqual([])
})

test('an apply leaves an event for each action, which names the source', async () => {
  const name = newName()
  const document = {
    realm: name,
    enabled: true,
    ...KEPT,
    clients: [{ clientId: 'shop', secret: CANARY, attributes: { colour: 'blue' } }],
    roles: { client: { shop: [{ name: 'buyer' }] } },
  }
  await applySources(service, ANN, [createSource([document], name)])
  await applySources(service, SYSTEM, [createSource([{ realm: name }], name)])
  const found = await events(`/admin/realms/${name}`, '&resourceTypes=CLIENT&resourceTypes=CLIENT_ROLE')
  expect(found.map(({ operationType, resourceType }) => `${operationType} ${resourceType}`)).toEqual([
    'CREATE CLIENT',
    'CREATE CLIENT_ROLE',
    'DELETE CLIENT',
    'DELETE CLIENT_ROLE',
  ])
  const [client, role] = found
  expect(client).toMatchObject({
    resourcePath: expect.stringMatching(/^clients\/[0-9a-f-]{36}$/),
    details: { source: name },
  })
  expect(JSON.parse(client!.representation!)).toMatchObject({ clientId: 'shop', secret: '**********' })
  expect(role!.resourcePath).toBe(`${client!.resourcePath}/roles/buyer`)
  expect(JSON.stringify(found)).not.toContain(CANARY)
})

test('the events of an apply tell of an object what shows of it over REST, and nothing of kinds that leave none', async () => {
  const path = await realm(KEPT)
  const name = path.split('/').at(-1)!
  await applySources(service, SYSTEM, [
    createSource([
      { realm: name, users: [{ username: 'ann' }], workflows: [{ name: 'bye', steps: [{ uses: 'delete-user' }] }] },
    ]),
  ])
  const found = await events(path)
  expect(brief(found)).toEqual([expect.stringMatching(/^CREATE USER users\//)])
  const told = Object.keys(JSON.parse(found[0]!.representation!))
  expect(told).toContain('username')
  expect(told.filter((field) => kinds.user.fields[field]?.isSeparate)).toEqual([])
})

test('the events of an apply cost one statement, however many there are', async () => {
  const count = async (size: number) => {
    const name = newName()
    const roles = { realm: Array.from({ length: size }, (_, at) => ({ name: `role-${at}` })) }
    await applySources(service, SYSTEM, [createSource([{ realm: name, ...KEPT }], name)])
    return (await statements(() => applySources(service, SYSTEM, [createSource([{ realm: name, ...KEPT, roles }], name)])))
      .length
  }
  expect(await count(200)).toBe(await count(2))
})

test('events go when their realm keeps them no longer', async () => {
  const kept = await realm(KEPT)
  const short = await realm({ ...KEPT, attributes: { adminEventsExpiration: '60' } })
  for (const path of [kept, short]) await make(`${path}/roles`, { name: 'reader' })
  await sweepExpiredRows(service, new Date(Date.now() + 30_000))
  expect(await events(short)).toHaveLength(1)
  await sweepExpiredRows(service, new Date(Date.now() + 90_000))
  expect(await events(short)).toEqual([])
  expect(await events(kept)).toHaveLength(1)
})
