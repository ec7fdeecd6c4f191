// `selfHeal`: the server that follows a source corrects drift at once, and reports who causes it repeatedly.
import { setTimeout as after } from 'node:timers/promises'
import { afterAll, expect, test } from 'vitest'
import type { SourceSettings } from '../../src/kinds/source-settings.ts'
import type { DriftEvent } from '../../src/reconcile/drift/drift-events.ts'
import { getDriftWatch } from '../../src/reconcile/drift/drift-watch.ts'
import { SourceController } from '../../src/reconcile/following/source-controller.ts'
import { SYSTEM } from '../../src/service/context/service.ts'
import type { Lease } from '../../src/service/context/store-types.ts'
import { RECONCILE_LEASE, startLeaseElection } from '../../src/service/operations/leases.ts'
import { createInbox } from '../support/inbox.ts'
import { getLiveObject, updateObject } from '../support/live-objects.ts'
import { newRealm } from '../support/service.ts'
import { openServiceReplicas } from '../support/service-replicas.ts'
import { ANN, createSource } from '../support/sources.ts'

/** The other service follows sources. */
const { service, other: following } = await openServiceReplicas()
const lease = Promise.withResolvers<Lease>()
const start = (acquired: Lease) => {
  lease.resolve(acquired)
  return { end: async () => {} }
}
const election = startLeaseElection(
  following,
  { start, onNewHolder: () => {}, onError: lease.reject },
  { name: RECONCILE_LEASE, seconds: 60 },
)
const ends: (() => void)[] = []

afterAll(async () => {
  for (const end of ends) end()
  await election.close()
})

/** Creates a realm, and follows its source, which can be read only once. */
async function followNewSource(settings: SourceSettings) {
  const realm = await newRealm(service)
  const shop = { clientId: 'shop', name: 'Web shop', description: 'Sells' }
  const state = { ...createSource([{ realm, clients: [shop] }], realm), settings }
  let reads = 0
  const read = async () => {
    if (reads++) throw new Error('the source is read again')
    return state
  }
  const source = { name: realm, displayName: realm, attemptedRevision: undefined, retryInterval: 60, read }
  const lines = createInbox<string>()
  const events = createInbox<DriftEvent>()
  const controller = new SourceController(following, await lease.promise, {
    ...{ renderError: String, warn: lines.put, reportFailure: lease.reject },
  })
  await controller.add([source])
  // Another server may list drift after it was corrected.
  const subscription = await getDriftWatch(following).subscribe((news) => news.events.forEach(events.put))
  ends.push(() => controller.close(), subscription.unsubscribe)
  const set = (fields: Record<string, string>) => updateObject(service, ANN, realm, 'client', ['shop'], fields)
  const readClient = async () => (await getLiveObject(service, SYSTEM, realm, 'client', 'shop')).representation
  return { realm, set, readClient, lines, events }
}

test('drift with the policy selfHeal is corrected at once from the last content; drift with the policy report stays', async () => {
  const { set, readClient, lines, events } = await followNewSource({
    drift: [{ policy: 'report' }, { kind: 'client', path: 'name', policy: 'selfHeal' }],
  })
  await set({ description: 'Changed' })
  await events.until(({ drift }) => drift.path === 'description')
  await set({ name: 'Changed' })
  const { drift } = await events.until(({ event, drift }) => event === 'resolved' && drift.path === 'name')
  expect(drift).toMatchObject({ live: 'Changed', by: { name: 'ann' } })
  expect(await readClient()).toMatchObject({ name: 'Web shop', description: 'Changed' })
  expect(events.all.filter(({ event }) => event === 'resolved')).toHaveLength(1)
  expect(lines.all).toEqual([])
})

test('drift is reported to listeners before it is corrected', async () => {
  const { realm, set, readClient, events } = await followNewSource({ drift: [{ policy: 'selfHeal' }] })
  const isOfRealm = (event: DriftEvent['event']) => (candidate: DriftEvent) =>
    candidate.event === event && candidate.drift.realm === realm
  let nameWhenReported: unknown
  const subscription = await getDriftWatch(following).subscribe(async (news) => {
    if (!news.events.some(isOfRealm('drift'))) return
    await after(300)
    nameWhenReported = (await readClient()).name
  })
  ends.push(subscription.unsubscribe)
  await set({ name: 'Changed' })
  await events.until(isOfRealm('resolved'))
  expect(nameWhenReported).toBe('Changed')
})

test('repeated drift is reported with its author, and is corrected with growing delays', async () => {
  const { realm, set, readClient, lines, events } = await followNewSource({ drift: [{ policy: 'selfHeal' }] })
  const waitForResolved = (times: number) =>
    events.untilAll(
      (all) => all.filter(({ event, drift }) => event === 'resolved' && drift.realm === realm).length >= times,
    )
  for (const times of [1, 2]) {
    await set({ name: `Changed ${times}` })
    await waitForResolved(times)
  }
  expect(lines.all).toEqual([])
  await set({ name: 'Changed 3' })
  expect(await lines.until(() => true)).toMatch(
    new RegExp(
      `^${realm} client shop: name: ${realm} corrected drift 2 times, and it was changed again by ann via admin-cli .*; the next correction is in 1 s$`,
    ),
  )
  await waitForResolved(3)
  expect(await readClient()).toMatchObject({ name: 'Web shop' })
})
