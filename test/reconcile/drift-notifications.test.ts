// Drift is told to an address of the settings: once, by whichever server is the first, and in the end.
import { createHmac } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, expect, test } from 'vitest'
import { deliverers } from '../../src/oidc/mail/deliver.ts'
import { type DriftNotifier, startDriftNotifier } from '../../src/reconcile/drift/drift-notifications.ts'
import { type Service, SYSTEM } from '../../src/service/context/service.ts'
import { countOutboxMessages, startOutbox } from '../../src/service/messages/outbox.ts'
import { openService } from '../../src/service/operations/open-service.ts'
import { createInbox } from '../support/inbox.ts'
import { updateObject } from '../support/live-objects.ts'
import { newDatabase, newRealm } from '../support/service.ts'
import { ANN, applySource, createSource } from '../support/sources.ts'

const HOUR = 3_600_000
const SECRET = 'shared'
let late = 0
/** What the receiver answers. */
let answer = 200
const posts = createInbox<{ body: string; headers: Record<string, unknown>; answered: number }>()
const receiver = createServer(async (request, response) => {
  const body = await text(request)
  response.writeHead(answer, { location: '/elsewhere' }).end()
  posts.put({ body, headers: request.headers, answered: answer })
})
await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/drift?token=canary`

const location = await newDatabase()
const open = () => openService({ location, key: new Uint8Array(32), clock: () => new Date(Date.now() + late) })
const service = await open()
await service.createRealm(SYSTEM, { representation: { realm: 'master' } }, async () => {})
/** Another server over the same store; PGlite has none. */
const servers = location.url ? [service, await open()] : [service]
const reports: string[] = []
const begin = (on: Service) => {
  startOutbox(on, deliverers, (error) => reports.push(`${error.message}: ${error.cause}`))
  return startDriftNotifier(on, { url, secret: SECRET }, (error) => reports.push(error.message))
}
let notices: DriftNotifier[] = []

afterAll(async () => {
  for (const one of notices) await one.close()
  for (const one of servers) await one.close()
  receiver.close()
})

const told = (realm: string) => posts.all.map(({ body }) => JSON.parse(body)).filter((one) => one.realm === realm)

test('drift, and that it is settled, is posted once, signed, however many servers there are, and until it is taken', async () => {
  const realm = await newRealm(service)
  const stated = createSource([{ realm, clients: [{ clientId: 'shop', name: 'Web shop', secret: 'sesame' }] }], realm)
  await applySource(service, stated)
  notices = await Promise.all(servers.map(begin))
  answer = 302
  await updateObject(service, ANN, realm, 'client', ['shop'], { name: 'Changed', secret: 'canary' })
  await posts.untilAll((all) => all.length === 1)
  for (const one of servers) await one.outboxWorker?.whenIdle()
  answer = 200
  late += HOUR
  for (const one of servers) one.outboxWorker?.wake()
  await posts.untilAll((all) => all.length === 2)
  const { body, headers } = posts.all[1]!
  expect(headers).toMatchObject({
    'content-type': 'application/json',
    'x-regent-event': 'drift',
    'x-hub-signature-256': `sha256=${createHmac('sha256', SECRET).update(body).digest('hex')}`,
    'x-regent-delivery': posts.all[0]!.headers['x-regent-delivery'],
  })
  expect(body).not.toContain('canary')
  const [first] = told(realm)
  expect(first).toMatchObject({ realm, number: 1, at: expect.any(String) })
  const about = {
    event: 'drift',
    kind: 'client',
    key: ['shop'],
    source: realm,
    file: `${realm}-1.yaml`,
    by: { name: 'ann' },
  }
  expect(first.events).toHaveLength(2)
  expect(first.events).toContainEqual(
    expect.objectContaining({
      ...about,
      path: 'name',
      by: expect.objectContaining({ name: 'ann', address: '127.0.0.1' }),
      applied: 'Web shop',
      live: 'Changed',
    }),
  )
  await updateObject(service, ANN, realm, 'client', ['shop'], { name: 'Web shop' })
  await posts.untilAll((all) => all.length === 3)
  expect(told(realm).at(-1)).toMatchObject({ number: 2, events: [{ event: 'resolved', path: 'name' }] })
  // What failed was told of in the log, without the address's own secrets.
  for (const one of servers) await one.outboxWorker?.whenIdle()
  expect(reports.join()).toMatch(
    /a webhook of the realm \S+ was not delivered \(attempt 1; next attempt in 10 s\): Error: http:\/\/127\.0\.0\.1:\d+ responded with status 302/,
  )
  expect(reports.join()).not.toContain('canary')
  expect(await countOutboxMessages(service)).toBe(0)
})

test('what happened while no server ran is told when one does', async () => {
  for (const one of notices) await one.close()
  const [realm, other] = [await newRealm(service), await newRealm(service)]
  for (const name of [realm, other]) {
    await applySource(service, createSource([{ realm: name, clients: [{ clientId: 'shop', name: 'Web shop' }] }], name))
    await updateObject(service, ANN, name, 'client', ['shop'], { name: 'Changed' })
  }
  notices = await Promise.all(servers.map(begin))
  await posts.untilAll(() => told(realm).length === 1 && told(other).length === 1)
  for (const one of notices) await one.close()
  await updateObject(service, ANN, realm, 'client', ['shop'], { name: 'Web shop' })
  notices = await Promise.all(servers.map(begin))
  await posts.untilAll(() => told(realm).length === 2)
  expect(told(realm)[1].events).toMatchObject([{ event: 'resolved', path: 'name' }])
  expect(told(other)).toHaveLength(1)
})
