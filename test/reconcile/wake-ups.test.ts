// Processes with the same database notify each other of changes, at the commit.
import pg from 'pg'
import { expect, inject, test } from 'vitest'
import { type Service, SYSTEM } from '../../src/service/context/service.ts'
import type { WakeUp } from '../../src/service/context/store-types.ts'
import { createInbox } from '../support/inbox.ts'
import { updateObject } from '../support/live-objects.ts'
import { newRealm } from '../support/service.ts'
import { openServiceReplicas } from '../support/service-replicas.ts'
import { ANN, applySource, createSource } from '../support/sources.ts'

const { url, service, other } = await openServiceReplicas()

/** Collects the notifications of another process, except the first one, which it gets when it begins to listen. */
async function listen(from: Service) {
  const { all, put, until } = createInbox<WakeUp>()
  const stop = from.subscribe(put)
  let marks = 0
  await send('plan', 'begun')
  return {
    stop,
    /** Returns the notifications until now. */
    async received() {
      await send('plan', `mark ${++marks}`)
      return all.filter(({ topic }) => !['plan', 'access', 'everything'].includes(topic))
    },
  }

  /** Sends it again until it is received, since the store may not listen yet. */
  async function send(topic: 'plan', name: string) {
    await until(() => true)
    await service.writeRuntime(SYSTEM, 'master', (context) => service.notify(context, { topic, name }))
    await until((wake) => wake.name === name)
  }
}

test('a change of a managed object, and its correction, notify other processes; other writes do not', async () => {
  const realm = await newRealm(service)
  const [{ number } = { number: 0 }] = await service.findRealms([realm])
  const declared = createSource([{ realm, clients: [{ clientId: 'shop', name: 'Declared' }] }], `wakes-${realm}`)
  const { received, stop } = await listen(other)
  await applySource(service, declared)
  await updateObject(service, ANN, realm, 'client', ['admin-cli'], { name: 'Undeclared' })
  expect(await received()).toEqual([])
  await updateObject(service, ANN, realm, 'client', ['shop'], { name: 'Changed' })
  expect(await received()).toEqual([{ topic: 'drift', realm: number }])
  await updateObject(service, ANN, realm, 'client', ['shop'], { name: 'Declared' })
  expect(await received()).toHaveLength(2)
  await applySource(service, declared)
  expect(await received()).toHaveLength(3)
  await applySource(service, declared)
  const rolledBack = service.write(ANN, realm, async (context) => {
    await service.notify(context, { topic: 'drift', realm: number })
    throw new Error('no')
  })
  await expect(rolledBack).rejects.toThrow('no')
  expect(await received()).toHaveLength(3)
  stop()
})

test.runIf(inject('databaseUrl'))(
  'a closed connection is reopened, and reports that notifications may be lost',
  async () => {
    const { all, put, untilAll } = createInbox<WakeUp>()
    const stop = other.subscribe(put)
    const waitForEverything = (times: number) =>
      untilAll((all) => all.filter(({ topic }) => topic === 'everything').length >= times)
    const client = new pg.Client(url)
    await client.connect()
    const closeConnections = () =>
      client.query(
        "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and application_name = 'regent wake-ups'",
      )
    for (const times of [1, 2]) {
      await closeConnections()
      await waitForEverything(times)
    }
    await service.writeRuntime(SYSTEM, 'master', (context) =>
      service.notify(context, { topic: 'lease', name: 'again' }),
    )
    await untilAll(() => all.some(({ name }) => name === 'again'))
    await client.end()
    stop()
  },
)
