// `selfHeal`: the server that follows a source corrects drift at once, and names who causes it again and again.
import { setTimeout as after } from 'node:timers/promises'
import { afterAll, expect, test } from 'vitest'
import type { SourceSettings } from '../../src/kinds/source-settings.ts'
import type { DriftEvent } from '../../src/reconcile/drift/drift-events.ts'
import { getDriftWatch } from '../../src/reconcile/drift/drift-watch.ts'
import { SourceController } from '../../src/reconcile/following/source-controller.ts'
import { SYSTEM } from '../../src/service/context/service.ts'
import type { Lease } from '../../src/service/context/store-types.ts'
import { RECONCILE_LEASE, startLeaseElection } from '../../src/service/operations/leases.ts'
import { openService } from '../../src/service/operations/open-service.ts'
import { createInbox } from '../support/inbox.ts'
import { getLiveObject, updateObject } from '../support/live-objects.ts'
import { newDatabase, newRealm } from '../support/service.ts'
import { ANN, createSource } from '../support/sources.ts'

const location = await newDatabase()
const open = () => openService({ location, key: new Uint8Array(32) })
const service = await open()
/** The server that follows sources; with PGlite, the only one. */
const following = location.url ? await open() : service
await service.createRealm(SYSTEM, { representation: { realm: 'master' } }, async () => {})
const lease = Promise.withResolvers<Lease>()
const begin = (separateService: Lease) => {
  lease.resolve(separateService)
  return { end: async () => {} }
}
const seeker = startLeaseElection(
  following,
  { start: begin, onNewHolder: () => {}, onError: lease.reject },
  { name: RECONCILE_LEASE, seconds: 60 },
)
const ends: (() => void)[] = []

afterAll(async () => {
  for (const end of ends) end()
  await seeker.close()
  for (const eventRealm of new Set([service, following])) await eventRealm.close()
})

/** A realm that follows a source which can be read only once. */
async function followed(settings: SourceSettings) {
  const realm = await newRealm(service)
  const shop = { clientId: 'shop', name: 'Web shop', description: 'Sells' }
  const state = { ...createSource([{ realm, clients: [shop] }], realm), settings }
  let reads = 0
  const read = async () => {
    if (reads++) throw new Error('it is read again')
    return state
  }
  const followed = { name: realm, displayName: realm, attemptedRevision: undefined, retryInterval: 60, read }
  const lines = createInbox<string>()
  const events = createInbox<DriftEvent>()
  const controller = new SourceController(following, await lease.promise, {
    ...{ renderError: String, warn: lines.put, reportFailure: lease.reject },
  })
  await controller.add([followed])
  // Another server may list drift after it was corrected.
  const watching = await getDriftWatch(following).subscribe((news) => news.events.forEach(events.put))
  ends.push(() => controller.close(), watching.unsubscribe)
  const set = (fields: Record<string, string>) => updateObject(service, ANN, realm, 'client', ['shop'], fields)
  const live = async () => (await getLiveObject(service, SYSTEM, realm, 'client', 'shop')).representation
  return { realm, set, live, lines, events }
}

test('drift with the policy selfHeal is corrected at once from the last content; drift with the policy report stays', async () => {
  const { set, live, lines, events } = await followed({
    drift: [{ policy: 'report' }, { kind: 'client', path: 'name', policy: 'selfHeal' }],
  })
  await set({ description: 'Changed' })
  await events.until(({ drift }) => drift.path === 'description')
  await set({ name: 'Changed' })
  const { drift } = await events.until(({ event, drift }) => event === 'resolved' && drift.path === 'name')
  expect(drift).toMatchObject({ live: 'Changed', by: { name: 'ann' } })
  expect(await live()).toMatchObject({ name: 'Web shop', description: 'Changed' })
  expect(events.all.filter(({ event }) => event === 'resolved')).toHaveLength(1)
  expect(lines.all).toEqual([])
})

test('drift is reported to listeners before it is corrected', async () => {
  const { realm, set, live, events } = await followed({ drift: [{ policy: 'selfHeal' }] })
  const ofRealm = (expectedEvent: DriftEvent['event']) => (one: DriftEvent) =>
    one.event === expectedEvent && one.drift.realm === realm
  let heard: unknown
  const hearing = await getDriftWatch(following).subscribe(async (news) => {
    if (!news.events.some(ofRealm('drift'))) return
    await after(300)
    heard = (await live()).name
  })
  ends.push(hearing.unsubscribe)
  await set({ name: 'Changed' })
  await events.until(ofRealm('resolved'))
  expect(heard).toBe('Changed')
})

test('repeated drift is reported with its author, and is corrected with growing delays', async () => {
  const { realm, set, live, lines, events } = await followed({ drift: [{ policy: 'selfHeal' }] })
  const resolved = (times: number) =>
    events.untilAll(
      (all) => all.filter(({ event, drift }) => event === 'resolved' && drift.realm === realm).length >= times,
    )
  for (const times of [1, 2]) {
    await set({ name: `Changed ${times}` })
    await resolved(times)
  }
  expect(lines.all).toEqual([])
  await set({ name: 'Changed 3' })
  expect(await lines.until(() => true)).toMatch(
    new RegExp(
      `^${realm} client shop: name: ${realm} corrected drift 2 times, and it was changed again by ann by admin-cli .*; the next correction is in 1 s$`,
    ),
  )
  await resolved(3)
  expect(await live()).toMatchObject({ name: 'Web shop' })
})
