// Drift notifications: each is posted once to the URL in the settings, by one of the servers, with retries.
import { createHmac } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, expect, test } from 'vitest'
import { deliverers } from '../../src/oidc/mail/deliver.ts'
import { type DriftNotifier, startDriftNotifier } from '../../src/reconcile/drift/drift-notifications.ts'
import type { Service } from '../../src/service/context/service.ts'
import { countOutboxMessages, startOutbox } from '../../src/service/messages/outbox.ts'
import { createInbox } from '../support/inbox.ts'
import { updateObject } from '../support/live-objects.ts'
import { newRealm } from '../support/service.ts'
import { openServiceReplicas } from '../support/service-replicas.ts'
import { ANN, applySource, createSource } from '../support/sources.ts'

const HOUR = 3_600_000
const SECRET = 'shared'
/** Milliseconds by which the clock of the servers is ahead. */
let clockOffset = 0
/** The status of the receiver’s responses. */
let responseStatus = 200
const posts = createInbox<{ body: string; headers: Record<string, unknown>; status: number }>()
const receiver = createServer(async (request, response) => {
  const body = await text(request)
  response.writeHead(responseStatus, { location: '/other' }).end()
  posts.put({ body, headers: request.headers, status: responseStatus })
})
await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/drift?token=canary`

const { service, other: otherService } = await openServiceReplicas(() => new Date(Date.now() + clockOffset))
const services = new Set([service, otherService])
const reports: string[] = []
const start = async (service: Service) => {
  startOutbox(service, deliverers, (error) => reports.push(`${error.message}: ${error.cause}`))
  service.notificationReceivers = [{ url, secret: SECRET, format: 'json', events: ['drift'], templates: {} }]
  return (await startDriftNotifier(service, (error) => reports.push(error.message)))!
}
let notifiers: DriftNotifier[] = []

afterAll(async () => {
  for (const notifier of notifiers) await notifier.close()
  receiver.close()
})

const listNotifications = (realm: string) =>
  posts.all.map(({ body }) => JSON.parse(body)).filter((notification) => notification.realm === realm)

test('drift and its resolution are each posted once by all servers together, signed, and again if the receiver refuses them', async () => {
  const realm = await newRealm(service)
  const declared = createSource([{ realm, clients: [{ clientId: 'shop', name: 'Web shop', secret: 'sesame' }] }], realm)
  await applySource(service, declared)
  notifiers = await Promise.all([...services].map(start))
  responseStatus = 302
  await updateObject(service, ANN, realm, 'client', ['shop'], { name: 'Changed', secret: 'canary' })
  await posts.untilAll((all) => all.length === 1)
  for (const { outboxWorker } of services) await outboxWorker?.whenIdle()
  responseStatus = 200
  clockOffset += HOUR
  for (const { outboxWorker } of services) outboxWorker?.wake()
  await posts.untilAll((all) => all.length === 2)
  const { body, headers } = posts.all[1]!
  expect(headers).toMatchObject({
    'content-type': 'application/json',
    'x-regent-event': 'drift',
    'x-hub-signature-256': `sha256=${createHmac('sha256', SECRET).update(body).digest('hex')}`,
    'x-regent-delivery': posts.all[0]!.headers['x-regent-delivery'],
  })
  expect(body).not.toContain('canary')
  const [first] = listNotifications(realm)
  expect(first).toMatchObject({ realm, number: 1, at: expect.any(String) })
  const common = {
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
      ...common,
      path: 'name',
      by: expect.objectContaining({ name: 'ann', address: '127.0.0.1' }),
      applied: 'Web shop',
      live: 'Changed',
    }),
  )
  await updateObject(service, ANN, realm, 'client', ['shop'], { name: 'Web shop' })
  await posts.untilAll((all) => all.length === 3)
  expect(listNotifications(realm).at(-1)).toMatchObject({ number: 2, events: [{ event: 'resolved', path: 'name' }] })
  // Failed deliveries are logged, without secrets in the URL.
  for (const { outboxWorker } of services) await outboxWorker?.whenIdle()
  expect(reports.join()).toMatch(
    /A webhook of the realm \S+ was not delivered \(attempt 1; next attempt in 10 s\): Error: http:\/\/127\.0\.0\.1:\d+ responded with status 302/,
  )
  expect(reports.join()).not.toContain('canary')
  expect(await countOutboxMessages(service)).toBe(0)
})

test('drift and resolutions while no server runs are posted when a server starts', async () => {
  for (const notifier of notifiers) await notifier.close()
  const [realm, other] = [await newRealm(service), await newRealm(service)]
  for (const name of [realm, other]) {
    await applySource(service, createSource([{ realm: name, clients: [{ clientId: 'shop', name: 'Web shop' }] }], name))
    await updateObject(service, ANN, name, 'client', ['shop'], { name: 'Changed' })
  }
  notifiers = await Promise.all([...services].map(start))
  await posts.untilAll(() => listNotifications(realm).length === 1 && listNotifications(other).length === 1)
  for (const notifier of notifiers) await notifier.close()
  await updateObject(service, ANN, realm, 'client', ['shop'], { name: 'Web shop' })
  notifiers = await Promise.all([...services].map(start))
  await posts.untilAll(() => listNotifications(realm).length === 2)
  expect(listNotifications(realm)[1].events).toMatchObject([{ event: 'resolved', path: 'name' }])
  expect(listNotifications(other)).toHaveLength(1)
})
