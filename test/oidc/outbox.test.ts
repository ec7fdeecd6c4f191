// Outgoing messages are delivered at least once, after the commit of their transaction.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { sql } from 'kysely'
import { afterAll, expect, test } from 'vitest'
import { deliverers } from '../../src/oidc/mail/deliver.ts'
import { type OutboxWorker, type Service, SYSTEM } from '../../src/service/context/service.ts'
import {
  type ApplicationNotification,
  countOutboxMessages,
  enqueueMessages,
  startOutbox,
} from '../../src/service/messages/outbox.ts'
import { openNewService } from '../support/service.ts'

const HOUR = 3_600_000
const start = new Date('2030-01-01T00:00:00Z').getTime()
let now = start
/** The status that the client returns, and the bodies that it has received. */
let responseStatus = 200
const received: string[] = []
let blocker: Promise<unknown> | undefined

const application = createServer(async (request, response) => {
  received.push(await text(request))
  await blocker
  response.writeHead(responseStatus).end()
})
await new Promise<void>((resolve) => application.listen(0, '127.0.0.1', resolve))
const url = `http://127.0.0.1:${(application.address() as AddressInfo).port}/logout`
const service = await openNewService({ clock: () => new Date(now) })
await service.createRealm(SYSTEM, { representation: { realm: 'master' } }, async () => {})

afterAll(async () => {
  await service.close()
  application.close()
})

const createNotification = (message: string, more: Partial<ApplicationNotification> = {}): ApplicationNotification => ({
  kind: 'notice',
  url,
  form: { message },
  ...more,
})
const enqueue = (...notifications: ApplicationNotification[]) =>
  service.writeRuntime(SYSTEM, 'master', (context) => enqueueMessages(context, ...notifications))

/** Runs something with a new outbox worker, and resets what the client has received. */
async function withOutbox(run: (outbox: OutboxWorker, reports: string[]) => Promise<void>) {
  received.length = 0
  responseStatus = 200
  const reports: string[] = []
  const outbox = startOutbox(service, deliverers, (error) => reports.push(`${error.message}: ${error.cause}`))
  try {
    await run(outbox, reports)
  } finally {
    await outbox.close()
  }
}

test('a message is delivered once after the commit, and not after a rollback', async () => {
  await withOutbox(async (outbox) => {
    await enqueue(createNotification('a'), createNotification('b'))
    await outbox.whenIdle()
    expect(received.toSorted()).toEqual(['message=a', 'message=b'])
    const failing = service.write(SYSTEM, 'master', async (context) => {
      await enqueueMessages(context, createNotification('c'))
      throw new Error('no')
    })
    await expect(failing).rejects.toThrow('no')
    outbox.wake()
    await outbox.whenIdle()
    expect(received).toHaveLength(2)
  })
})

test('a failed delivery is retried with growing delays, and dropped after eight attempts', async () => {
  await withOutbox(async (outbox, reports) => {
    responseStatus = 503
    await enqueue(createNotification('again'))
    await outbox.whenIdle()
    expect(await countOutboxMessages(service)).toBe(1)
    const attempts = []
    for (let hours = 0; hours < 48; now += HOUR, hours++) {
      outbox.wake()
      await outbox.whenIdle()
      attempts.push(received.length)
    }
    expect(attempts.at(0)).toBe(1)
    expect(attempts.at(-1)).toBe(8)
    expect(reports[0]).toContain('attempt 1; next attempt in 10 s): Error: http://127.0.0.1')
    expect(reports.at(-1)).toContain('attempt 8; no further attempt')
    expect(service.deliveryCounts).toEqual({ delivered: 2, postponed: 7, dropped: 1 })
    expect(await countOutboxMessages(service)).toBe(0)
  })
})

test('a delivery that is refused with 400 or has expired is not retried', async () => {
  await withOutbox(async (outbox, reports) => {
    responseStatus = 400
    await enqueue(createNotification('refused'))
    await outbox.whenIdle()
    responseStatus = 503
    await enqueue(createNotification('late', { until: now / 1000 + 60 }))
    await outbox.whenIdle()
    responseStatus = 200
    now += HOUR
    outbox.wake()
    await outbox.whenIdle()
    expect(received).toEqual(['message=refused', 'message=late'])
    expect(reports.map((report) => report.split(/[(;)]/)[2])).toEqual([
      ' no further attempt',
      ' next attempt in 10 s',
      ' no further attempt',
    ])
  })
})

test('one of two servers delivers a message, and the other one if the first dies', async () => {
  const other: Service = { ...service }
  const release = Promise.withResolvers<void>()
  blocker = release.promise
  await enqueue(...Array.from({ length: 20 }, (_, at) => createNotification(String(at))))
  await withOutbox(async (first) => {
    const second = startOutbox(other, deliverers, () => {})
    release.resolve()
    await Promise.all([first.whenIdle(), second.whenIdle()])
    expect(new Set(received).size).toBe(20)
    expect(received).toHaveLength(20)
    await second.close()
  })
  // A process that dies has claimed a message and never completes it.
  const claimed = Promise.withResolvers<void>()
  const hang = () => {
    claimed.resolve()
    return new Promise<never>(() => {})
  }
  await enqueue(createNotification('orphan'))
  const dying = startOutbox(other, { ...deliverers, notice: hang }, () => {})
  await claimed.promise
  void dying.close()
  await withOutbox(async (outbox) => {
    outbox.wake()
    await outbox.whenIdle()
    expect(received).toEqual([])
    now += HOUR
    outbox.wake()
    await outbox.whenIdle()
    expect(received).toEqual(['message=orphan'])
  })
})

test('messages are encrypted in the store', async () => {
  const { vault } = service
  await enqueue(createNotification('secret-token', { until: now / 1000 - 1 }))
  const { rows } = await service.query((tx) => sql<{ body: string }>`select body from outbox /* test */`.execute(tx))
  expect(JSON.stringify(rows)).not.toContain('secret-token')
  expect(vault.open(rows[0]!.body)).toContain('secret-token')
})
