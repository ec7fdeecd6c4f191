// What a source says is to heal is put back at once, by the server that follows it; who fights with it is named.
import { setTimeout as after } from 'node:timers/promises'
import { afterAll, expect, test } from 'vitest'
import type { DriftEvent } from '../../src/reconcile/drift/drift-events.ts'
import { driftWatch } from '../../src/reconcile/drift/drift-watch.ts'
import { SourceController } from '../../src/reconcile/following/source-controller.ts'
import { SYSTEM } from '../../src/service/context/service.ts'
import type { Lease } from '../../src/service/context/store-types.ts'
import type { SourceSettings } from '../../src/service/journal/source-settings.ts'
import { RECONCILE, seekLease } from '../../src/service/operations/leases.ts'
import { openService } from '../../src/service/operations/open-service.ts'
import { change, liveObject } from '../support/changes.ts'
import { ANN, source } from '../support/reconcile.ts'
import { newDatabase, newRealm } from '../support/service.ts'
import { inbox } from '../support/wakes.ts'

const location = await newDatabase()
const open = () => openService({ location, key: new Uint8Array(32) })
const service = await open()
/** The server that follows sources; with PGlite there is one. */
const following = location.url ? await open() : service
await service.create(SYSTEM, { representation: { realm: 'master' } }, async () => {})
const lease = Promise.withResolvers<Lease>()
const begin = (own: Lease) => {
  lease.resolve(own)
  return { end: async () => {} }
}
const seeker = seekLease(following, RECONCILE, 60, { begin, waits: () => {}, failed: lease.reject })
const ends: (() => void)[] = []

afterAll(async () => {
  for (const end of ends) end()
  await seeker.close()
  for (const one of new Set([service, following])) await one.close()
})

/** A realm that follows a source which is read once, and then cannot be. */
async function followed(settings: SourceSettings) {
  const realm = await newRealm(service)
  const shop = { clientId: 'shop', name: 'Web shop', description: 'Sells' }
  const state = { ...source([{ realm, clients: [shop] }], realm), settings }
  let reads = 0
  const read = async () => {
    if (reads++) throw new Error('it is read anew')
    return state
  }
  const one = { name: realm, called: realm, attempted: undefined, retryInterval: 60, read }
  const lines = inbox<string>()
  const events = inbox<DriftEvent>()
  const controller = new SourceController(following, await lease.promise, {
    ...{ words: String, say: lines.put, failed: lease.reject },
  })
  await controller.add([one])
  // Another server may look when it is put back already.
  const watching = await driftWatch(following).subscribe((news) => news.events.forEach(events.put))
  ends.push(() => controller.close(), watching.stop)
  const set = (fields: Record<string, string>) => change(service, ANN, realm, 'client', ['shop'], fields)
  const live = async () => (await liveObject(service, SYSTEM, realm, 'client', 'shop')).representation
  return { realm, set, live, lines, events }
}

test('what is to heal is put back at once, as it was read last, and what is only reported stays', async () => {
  const { set, live, lines, events } = await followed({
    drift: [{ policy: 'report' }, { kind: 'client', path: 'name', policy: 'selfHeal' }],
  })
  await set({ description: 'Changed' })
  await events.until(({ drift }) => drift.path === 'description')
  await set({ name: 'Changed' })
  const { drift } = await events.until(({ event, drift }) => event === 'settled' && drift.path === 'name')
  expect(drift).toMatchObject({ live: 'Changed', by: { name: 'ann' } })
  expect(await live()).toMatchObject({ name: 'Web shop', description: 'Changed' })
  expect(events.all.filter(({ event }) => event === 'settled')).toHaveLength(1)
  expect(lines.all).toEqual([])
})

test('nothing is put back before those who listen have heard of it', async () => {
  const { realm, set, live, events } = await followed({ drift: [{ policy: 'selfHeal' }] })
  const ofRealm = (wanted: DriftEvent['event']) => (one: DriftEvent) =>
    one.event === wanted && one.drift.realm === realm
  let heard: unknown
  const hearing = await driftWatch(following).subscribe(async (news) => {
    if (!news.events.some(ofRealm('drift'))) return
    await after(300)
    heard = (await live()).name
  })
  ends.push(hearing.stop)
  await set({ name: 'Changed' })
  await events.until(ofRealm('settled'))
  expect(heard).toBe('Changed')
})

test('who changes it again and again is named with the source, and it is put back ever more slowly', async () => {
  const { realm, set, live, lines, events } = await followed({ drift: [{ policy: 'selfHeal' }] })
  const settled = (times: number) =>
    events.whole(
      (all) => all.filter(({ event, drift }) => event === 'settled' && drift.realm === realm).length >= times,
    )
  for (const times of [1, 2]) {
    await set({ name: `Changed ${times}` })
    await settled(times)
  }
  expect(lines.all).toEqual([])
  await set({ name: 'Changed 3' })
  expect(await lines.until(() => true)).toMatch(
    new RegExp(
      `^${realm} client shop: name was put back 2 times by ${realm}, and changed again by ann by admin-cli .*; it is put back in 1 s$`,
    ),
  )
  await settled(3)
  expect(await live()).toMatchObject({ name: 'Web shop' })
})
