// Notifies receivers of drift. Of several processes, the first one that finds the drift adds the notification to the outbox.

import { describeObject } from '../../kinds/tree.ts'
import { WorkQueue } from '../../lib/timing/work-queue.ts'
import { type Service, SYSTEM } from '../../service/context/service.ts'
import { enqueueNotification, type Notification } from '../../service/messages/notifications.ts'
import {
  listRealmsWithNotifiedDrift,
  lockNotifiedDrift,
  saveNotifiedDrift,
} from '../../service/sources/drift-notifications.ts'
import { listRealmsByNumber } from '../../service/sources/source-records.ts'
import { limit, shorten } from '../report/notifications.ts'
import { type Drift, listRealmDrift } from './drift.ts'
import { type DriftEvent, listDriftEvents } from './drift-events.ts'
import { getDriftWatch } from './drift-watch.ts'

/** A running process that sends notifications about drift. */
export interface DriftNotifier {
  /** Stops the notifier after all drift that it knows is in the outbox. */
  close(): Promise<void>
}

/** Milliseconds until the notification of a realm is retried after a database error. */
const RETRY_AFTER = 5_000

/**
 * Starts to notify the receivers of the service of drift; also of drift that appeared while no process did. Returns undefined if no
 * receiver is notified of drift. Throws where the database cannot be reached.
 */
export async function startDriftNotifier(
  service: Service,
  reportError: (error: Error) => void,
): Promise<DriftNotifier | undefined> {
  if (!service.notificationReceivers.some(({ events }) => events.includes('drift'))) return undefined
  const queue = new WorkQueue<number>((realm) => notify(service, realm), {
    concurrency: 1,
    backOff: () => RETRY_AFTER,
    failed: (error) =>
      reportError(new Error('receivers could not be notified of drift and will be later', { cause: error })),
  })
  // Failures are retried by the queue, and must not delay the correction of drift.
  const { initialDrift, unsubscribe } = await getDriftWatch(service).subscribe(({ realm }) =>
    queue.run(realm).catch(() => undefined),
  )
  for (const realm of new Set([...initialDrift.keys(), ...(await listRealmsWithNotifiedDrift(service))]))
    queue.add(realm)
  return {
    async close() {
      unsubscribe()
      await queue.drain()
      await queue.close()
    },
  }
}

/** Sends the differences from the last notification. At most four statements and those that list the drift. */
async function notify(service: Service, number: number): Promise<void> {
  const [realm] = await listRealmsByNumber(service, [number])
  if (!realm) return
  await service.writeRuntime(SYSTEM, realm, async (context) => {
    const last = await lockNotifiedDrift(context)
    const drift = await listRealmDrift(context)
    const events = listDriftEvents(last.drift as readonly Drift[], drift)
    if (!events.length) return
    const number = last.number + 1
    await enqueueNotification(service, context, notifyDrift(realm.name, number, events))
    await saveNotifiedDrift(context, { number, drift })
  })
}

/** Returns the notification of drift. `number`: counts the notifications of drift in the realm. */
function notifyDrift(realm: string, number: number, events: readonly DriftEvent[]): Notification {
  const changes = events.map(({ event, drift: { kind, key, path, by } }) => {
    const object = describeObject(kind, key)
    const field = path === undefined ? object : `${object}: ${path}`
    if (event === 'resolved') return `resolved: ${field}`
    return `${field} was ${path === undefined ? 'deleted' : 'changed'}${by ? ` by ${by.name}` : ''}`
  })
  const sources = [...new Set(events.map(({ drift }) => drift.source))]
  const isResolved = events.every(({ event }) => event === 'resolved')
  const summary = `${isResolved ? 'drift was resolved' : 'drift was found'} in ${events.length} ${events.length === 1 ? 'place' : 'places'}`
  return {
    event: 'drift',
    realms: [realm],
    sources,
    lines: [`Realm ${realm}: ${summary}.`, ...shorten(changes)],
    texts: { summary },
    page: ['realms', realm],
    content: {
      realm,
      number,
      ...limit(
        'events',
        events.map(({ event, drift }) => ({ event, ...drift })),
      ),
    },
  }
}
