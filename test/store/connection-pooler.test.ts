// Regent works through a connection pooler in transaction mode that does not support prepared statements.
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { type Service, SYSTEM } from '../../src/service/context/service.ts'
import type { WakeUp } from '../../src/service/context/store-types.ts'
import { writers } from '../../src/service/kinds/index.ts'
import { startLeaseElection } from '../../src/service/operations/leases.ts'
import { openService } from '../../src/service/operations/open-service.ts'
import { hasPgBouncer, type Pooler, startPgBouncer } from '../support/pgbouncer.ts'
import { newDatabase } from '../support/service.ts'

const USERS = 100

describe.runIf(hasPgBouncer && inject('databaseUrl'))('through PgBouncer in transaction mode', () => {
  let pooler: Pooler
  let services: readonly [Service, Service]

  beforeAll(async () => {
    const { url: directUrl = '' } = await newDatabase()
    pooler = await startPgBouncer(directUrl)
    const open = () =>
      openService({
        location: { url: pooler.url, connections: { directUrl, preparesStatements: false } },
        key: new Uint8Array(32),
      })
    services = [await open(), await open()]
    await services[0].createRealm(SYSTEM, { representation: { realm: 'master' } }, async () => {})
  })
  afterAll(async () => {
    for (const service of services) await service.close()
    await pooler.stop()
  })

  test('two servers read and write concurrently', async () => {
    const create = (service: Service, index: number) =>
      service.write(SYSTEM, 'master', (context) =>
        writers.user.create(context, [{ representation: { username: `user-${index}`, enabled: true } }]),
      )
    const findRealms = (service: Service) => service.findRealms(['master'])
    const work = Array.from({ length: USERS }, (_, index) => {
      const service = services[index % 2]!
      return Promise.all([create(service, index), findRealms(service)])
    })
    const results = await Promise.all(work)
    expect(new Set(results.map(([[user]]) => user!.id)).size).toBe(USERS)
  })

  test('a server is notified of what another server changes', async () => {
    const [service, other] = services
    const received = Promise.withResolvers<WakeUp>()
    const isListening = Promise.withResolvers<void>()
    const unsubscribe = other.subscribe((wakeUp) =>
      wakeUp.topic === 'everything' ? isListening.resolve() : received.resolve(wakeUp),
    )
    await isListening.promise
    await service.write(SYSTEM, 'master', (context) => service.notify(context, { topic: 'source', name: 'acme' }))
    expect(await received.promise).toEqual({ topic: 'source', name: 'acme' })
    unsubscribe()
  })

  test('a server without a direct connection caches nothing, since it is not notified of changes', async () => {
    let statements = 0
    const location = { url: pooler.url, connections: { preparesStatements: false } }
    const onStatement = () => {
      statements++
    }
    const service = await openService({ location, key: new Uint8Array(32), onStatement })
    service.cache.start()
    for (let time = 1; time <= 20; time++) {
      statements = 0
      await service.cache.findRealms(['master'])
      expect(statements).toBe(1)
      await sleep(20)
    }
    await service.close()
  })

  test('a server takes over the lease of another server that stops', async () => {
    const [service, other] = services
    const terms: string[] = []
    const compete = (name: string, of: Service) => {
      const started = Promise.withResolvers<void>()
      const candidate = {
        start() {
          terms.push(name)
          started.resolve()
          return { end: async () => {} }
        },
        onNewHolder: () => {},
        onError: started.reject,
      }
      const election = startLeaseElection(of, candidate, { name: 'test', seconds: 30 })
      return { election, started: started.promise }
    }
    const first = compete('first', service)
    await first.started
    const second = compete('second', other)
    await first.election.close()
    await second.started
    expect(terms).toEqual(['first', 'second'])
    await second.election.close()
  })
})
