// User events: which ones are stored, how they are searched, logged and expired. The recorded exchanges show which
// events each endpoint emits.
import { expect, test } from 'vitest'
import { createServer } from '../../src/http/server.ts'
import type { UserEvent } from '../../src/service/context/context.ts'
import { SYSTEM } from '../../src/service/context/service.ts'
import { recordUserEvent } from '../../src/service/messages/user-events.ts'
import { sweepExpiredRows } from '../../src/service/operations/sweeper.ts'
import { testServer } from '../support/server.ts'
import { testService } from '../support/service.ts'

const { app, call, createRealm } = await testServer()
const { service, statements } = await testService()

const nameOf = (path: string) => path.split('/').at(-1)!
const recordEvents = (path: string, ...events: UserEvent[]) =>
  service.writeRuntime(SYSTEM, nameOf(path), async (context) => {
    for (const event of events) recordUserEvent(context, event)
  })
const events = async (path: string, query = '') => (await call('GET', `${path}/events?direction=asc${query}`)).body
const types = async (path: string, query = '') => (await events(path, query)).map(({ type }: { type: string }) => type)
const sendRefused = (path: string) =>
  app.inject({
    method: 'POST',
    url: `/realms/${nameOf(path)}/protocol/openid-connect/token`,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    payload: 'grant_type=password&client_id=nobody&username=ann&password=canary-7f3a',
  })

test('a realm stores the default event types, the configured ones, or none', async () => {
  const several: UserEvent[] = [
    { type: 'LOGIN' },
    { type: 'LOGIN', error: 'user_not_found' },
    { type: 'REFRESH_TOKEN' },
    { type: 'PERMISSION_TOKEN' },
    { type: 'PERMISSION_TOKEN', error: 'not_allowed' },
  ]
  const expected: [object, string[]][] = [
    [{ eventsEnabled: true }, ['LOGIN', 'LOGIN_ERROR', 'PERMISSION_TOKEN']],
    [{ eventsEnabled: true, enabledEventTypes: ['REFRESH_TOKEN', 'LOGIN_ERROR'] }, ['LOGIN_ERROR', 'REFRESH_TOKEN']],
    [{ eventsEnabled: false }, []],
  ]
  for (const [settings, stored] of expected) {
    const path = await createRealm(settings)
    await recordEvents(path, ...several)
    expect(await types(path)).toEqual(stored)
  }
})

test('events are filtered by type, user, client, IP address and date', async () => {
  const path = await createRealm({ eventsEnabled: true })
  await recordEvents(path, { type: 'LOGIN', client: 'web', user: 'u1', session: 's1', address: '192.0.2.1' })
  await recordEvents(
    path,
    { type: 'LOGIN', client: 'app', user: 'u2', address: '192.0.2.2' },
    { type: 'LOGOUT', user: 'u1' },
  )
  expect(await events(path, '&user=u1&type=LOGIN')).toEqual([
    {
      id: expect.any(String),
      time: expect.any(Number),
      type: 'LOGIN',
      realmId: expect.any(String),
      clientId: 'web',
      userId: 'u1',
      sessionId: 's1',
      ipAddress: '192.0.2.1',
    },
  ])
  expect(await types(path, '&type=LOGOUT&type=LOGIN')).toEqual(['LOGIN', 'LOGIN', 'LOGOUT'])
  expect(await types(path, '&client=app')).toEqual(['LOGIN'])
  expect(await types(path, '&ipAddress=192.0.2.3')).toEqual([])
  expect(await types(path, '&first=2')).toEqual(['LOGOUT'])
  const today = new Date().toISOString().slice(0, 10)
  expect(await types(path, `&dateFrom=${today}&dateTo=${today}`)).toHaveLength(3)
  expect(await types(path, '&dateTo=2020-01-01')).toEqual([])
  for (const query of ['type=LOGIN&type=LEAVE', 'dateFrom=2020-02-31', 'direction=up']) {
    expect((await call('GET', `${path}/events?${query}`)).status, query).toBe(400)
  }
  expect((await call('DELETE', `${path}/events`)).status).toBe(204)
  expect(await events(path)).toEqual([])
})

test('event values that are too long or not storable are truncated and replaced', async () => {
  const path = await createRealm({ eventsEnabled: true })
  const long = 'x'.repeat(999)
  await recordEvents(path, {
    type: 'LOGIN',
    error: 'client_not_found',
    client: `${long}\u{1f600}`,
    details: { username: 'a\0b' },
  })
  expect(await events(path)).toMatchObject([{ clientId: `${long}\ufffd`, details: { username: 'a\ufffdb' } }])
})

test('a refused call records an event, and a failed transaction does not', async () => {
  const path = await createRealm({ eventsEnabled: true })
  await sendRefused(path)
  const failing = service.writeRuntime(SYSTEM, nameOf(path), async (context) => {
    recordUserEvent(context, { type: 'LOGIN' })
    throw new Error('something else')
  })
  await expect(failing).rejects.toThrow('something else')
  expect(await types(path)).toEqual(['LOGIN_ERROR'])
})

test('events are logged without secrets if the realm enables the listener', async () => {
  const lines: string[] = []
  const logging = await createServer(service, { logLevel: 'debug', logTo: { write: (line) => void lines.push(line) } })
  const [enabled, disabled] = [await createRealm(), await createRealm({ eventsListeners: [] })]
  for (const path of [enabled, disabled]) await sendRefused(path)
  await recordEvents(enabled, { type: 'LOGIN', user: 'u1' })
  await logging.close()
  await sendRefused(enabled)
  const logged = lines.map((line) => JSON.parse(line)).filter(({ realm: of }) => of)
  expect(logged).toMatchObject([
    { level: 40, msg: 'LOGIN_ERROR', realm: { name: nameOf(enabled) }, client: 'nobody', error: 'client_not_found' },
    { level: 20, msg: 'LOGIN', user: 'u1' },
  ])
  expect(lines.join('')).not.toContain('canary-7f3a')
})

test('many events take one statement, and none in a realm that stores none', async () => {
  const [stored, none] = [await createRealm({ eventsEnabled: true }), await createRealm()]
  const cost = async (path: string, count: number) =>
    (await statements(() => recordEvents(path, ...Array.from({ length: count }, () => ({ type: 'LOGIN' }) as const))))
      .length
  expect(await cost(stored, 200)).toBe(await cost(stored, 2))
  expect(await cost(none, 2)).toBe((await cost(stored, 2)) - 1)
})

test('events are deleted after their expiration', async () => {
  const [long, short] = [
    await createRealm({ eventsEnabled: true }),
    await createRealm({ eventsEnabled: true, eventsExpiration: 60 }),
  ]
  for (const path of [long, short]) await recordEvents(path, { type: 'LOGIN' })
  await sweepExpiredRows(service, new Date(Date.now() + 30_000))
  expect(await types(short)).toEqual(['LOGIN'])
  await sweepExpiredRows(service, new Date(Date.now() + 90_000))
  expect(await types(short)).toEqual([])
  expect(await types(long)).toEqual(['LOGIN'])
})
