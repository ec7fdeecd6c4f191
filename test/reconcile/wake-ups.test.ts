// Processes over one store wake each other, at the commit of what there is to look at.
import pg from 'pg'
import { afterAll, expect, inject, test } from 'vitest'
import { type Service, SYSTEM } from '../../src/service/context/service.ts'
import type { Wake } from '../../src/service/context/store-types.ts'
import { openService } from '../../src/service/operations/open-service.ts'
import { change } from '../support/changes.ts'
import { ANN, applyAs, source } from '../support/reconcile.ts'
import { newDatabase, newRealm } from '../support/service.ts'
import { inbox } from '../support/wakes.ts'

const location = await newDatabase()
const open = () => openService({ location, key: new Uint8Array(32) })
const service = await open()
/** PGlite has no other process. */
const other = location.url ? await open() : service
await service.create(SYSTEM, { representation: { realm: 'master' } }, async () => {})

afterAll(async () => {
  for (const one of new Set([service, other])) await one.close()
})

/** What another process is told from now on, less that it is to look at everything as it begins to listen. */
async function listening(from: Service) {
  const { all, put, until } = inbox<Wake>()
  const stop = from.subscribe(put)
  let asked = 0
  await said('plan', 'begun')
  return {
    stop,
    /** What came until now. */
    async heard() {
      await said('plan', `asked ${++asked}`)
      return all.filter(({ topic }) => topic !== 'plan' && topic !== 'everything')
    },
  }

  /** Says it until it is heard: not before the store listens. */
  async function said(topic: 'plan', name: string) {
    await until(() => true)
    await service.runtime(SYSTEM, 'master', (context) => service.notify(context, { topic, name }))
    await until((wake) => wake.name === name)
  }
}

test('who changes what a source owns, or puts it back, wakes other processes; other writes wake nobody', async () => {
  const realm = await newRealm(service)
  const [{ number } = { number: 0 }] = await service.find([realm])
  const stated = source([{ realm, clients: [{ clientId: 'shop', name: 'Stated' }] }], `wakes-${realm}`)
  const { heard, stop } = await listening(other)
  await applyAs(service, stated)
  await change(service, ANN, realm, 'client', ['admin-cli'], { name: 'Nobody states it' })
  expect(await heard()).toEqual([])
  await change(service, ANN, realm, 'client', ['shop'], { name: 'Changed' })
  expect(await heard()).toEqual([{ topic: 'drift', realm: number }])
  await change(service, ANN, realm, 'client', ['shop'], { name: 'Stated' })
  expect(await heard()).toHaveLength(2)
  await applyAs(service, stated)
  expect(await heard()).toHaveLength(3)
  await applyAs(service, stated)
  const undone = service.write(ANN, realm, async (context) => {
    await service.notify(context, { topic: 'drift', realm: number })
    throw new Error('no')
  })
  await expect(undone).rejects.toThrow('no')
  expect(await heard()).toHaveLength(3)
  stop()
})

test.runIf(inject('databaseUrl'))(
  'a connection that is ended is made anew, and says that something was missed',
  async () => {
    const { all, put, whole } = inbox<Wake>()
    const stop = other.subscribe(put)
    const everything = (times: number) =>
      whole((all) => all.filter(({ topic }) => topic === 'everything').length >= times)
    const client = new pg.Client(location.url)
    await client.connect()
    const end = () =>
      client.query(
        "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and application_name = 'regent wake-ups'",
      )
    for (const times of [1, 2]) {
      await end()
      await everything(times)
    }
    await service.runtime(SYSTEM, 'master', (context) => service.notify(context, { topic: 'lease', name: 'again' }))
    await whole(() => all.some(({ name }) => name === 'again'))
    await client.end()
    stop()
  },
)
