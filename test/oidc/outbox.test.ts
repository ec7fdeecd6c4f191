// What is to leave the server leaves once its transaction is committed, at least once, whatever happens meanwhile.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { sql } from 'kysely'
import { afterAll, expect, test } from 'vitest'
import { deliverers } from '../../src/oidc/mail/deliver.ts'
import { type Outbox, type Service, SYSTEM } from '../../src/service/context/service.ts'
import { countWaiting, type Notice, send, startOutbox } from '../../src/service/messages/outbox.ts'
import { freshService } from '../support/service.ts'

const HOUR = 3_600_000
const start = new Date('2030-01-01T00:00:00Z').getTime()
let now = start
/** What the application answers, and what it was told: tests use it one after the other. */
let answer = 200
const told: string[] = []
let held: Promise<unknown> | undefined

const application = createServer(async (request, response) => {
  told.push(await text(request))
  await held
  response.writeHead(answer).end()
})
await new Promise<void>((resolve) => application.listen(0, '127.0.0.1', resolve))
const url = `http://127.0.0.1:${(application.address() as AddressInfo).port}/logout`
const service = await freshService({ clock: () => new Date(now) })
await service.create(SYSTEM, { representation: { realm: 'master' } }, async () => {})

afterAll(async () => {
  await service.close()
  application.close()
})

const notice = (said: string, more: Partial<Notice> = {}): Notice => ({ kind: 'notice', url, form: { said }, ...more })
const sent = (...notices: Notice[]) => service.runtime(SYSTEM, 'master', (context) => send(context, ...notices))

/** Delivers, with a clean record. */
async function delivering(work: (outbox: Outbox, reports: string[]) => Promise<void>) {
  told.length = 0
  answer = 200
  const reports: string[] = []
  const outbox = startOutbox(service, deliverers, (error) => reports.push(`${error.message}: ${error.cause}`))
  try {
    await work(outbox, reports)
  } finally {
    await outbox.close()
  }
}

test('a message leaves after the commit, once, and not at all where there is none', async () => {
  await delivering(async (outbox) => {
    await sent(notice('a'), notice('b'))
    await outbox.settled()
    expect(told.toSorted()).toEqual(['said=a', 'said=b'])
    const failing = service.write(SYSTEM, 'master', async (context) => {
      await send(context, notice('c'))
      throw new Error('no')
    })
    await expect(failing).rejects.toThrow('no')
    outbox.wake()
    await outbox.settled()
    expect(told).toHaveLength(2)
  })
})

test('what cannot be delivered is tried again, later each time, and then not any more', async () => {
  await delivering(async (outbox, reports) => {
    answer = 503
    await sent(notice('again'))
    await outbox.settled()
    expect(await countWaiting(service)).toBe(1)
    const attempts = []
    for (let hours = 0; hours < 48; now += HOUR, hours++) {
      outbox.wake()
      await outbox.settled()
      attempts.push(told.length)
    }
    expect(attempts.at(0)).toBe(1)
    expect(attempts.at(-1)).toBe(8)
    expect(reports[0]).toContain('attempt 1; next attempt in 10 s): Error: http://127.0.0.1')
    expect(reports.at(-1)).toContain('attempt 8; it will not be')
    expect(service.attempts).toEqual({ delivered: 2, postponed: 7, dropped: 1 })
    expect(await countWaiting(service)).toBe(0)
  })
})

test('what is refused for good, or comes too late, is not tried again', async () => {
  await delivering(async (outbox, reports) => {
    answer = 400
    await sent(notice('refused'))
    await outbox.settled()
    answer = 503
    await sent(notice('late', { until: now / 1000 + 60 }))
    await outbox.settled()
    answer = 200
    now += HOUR
    outbox.wake()
    await outbox.settled()
    expect(told).toEqual(['said=refused', 'said=late'])
    expect(reports.map((report) => report.split(/[(;)]/)[2])).toEqual([
      ' it will not be',
      ' next attempt in 10 s',
      ' it will not be',
    ])
  })
})

test('of two servers one delivers a message, and when it dies meanwhile the other does so later', async () => {
  const other: Service = { ...service }
  const release = Promise.withResolvers<void>()
  held = release.promise
  await sent(...Array.from({ length: 20 }, (_, at) => notice(String(at))))
  await delivering(async (first) => {
    const second = startOutbox(other, deliverers, () => {})
    release.resolve()
    await Promise.all([first.settled(), second.settled()])
    expect(new Set(told).size).toBe(20)
    expect(told).toHaveLength(20)
    await second.close()
  })
  // A process that dies has taken a message, and says nothing more of it.
  const taken = Promise.withResolvers<void>()
  const hang = () => {
    taken.resolve()
    return new Promise<never>(() => {})
  }
  await sent(notice('orphan'))
  const dying = startOutbox(other, { ...deliverers, notice: hang }, () => {})
  await taken.promise
  void dying.close()
  await delivering(async (outbox) => {
    outbox.wake()
    await outbox.settled()
    expect(told).toEqual([])
    now += HOUR
    outbox.wake()
    await outbox.settled()
    expect(told).toEqual(['said=orphan'])
  })
})

test('nobody who reads the store reads what is to leave', async () => {
  const { vault } = service
  await sent(notice('secret-token', { until: now / 1000 - 1 }))
  const { rows } = await service.look((tx) => sql<{ body: string }>`select body from outbox /* test */`.execute(tx))
  expect(JSON.stringify(rows)).not.toContain('secret-token')
  expect(vault.open(rows[0]!.body)).toContain('secret-token')
})
