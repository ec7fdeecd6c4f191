// Sends drift to a webhook. Of several processes, the first one that finds the drift adds the notification to the outbox.

import { WorkQueue } from '../../lib/timing/work-queue.ts'
import { signWebhook } from '../../lib/webhook-signature.ts'
import { type Service, SYSTEM } from '../../service/context/service.ts'
import { enqueueMessages, type WebhookMessage } from '../../service/messages/outbox.ts'
import {
  listRealmsWithNotifiedDrift,
  lockNotifiedDrift,
  saveNotifiedDrift,
} from '../../service/sources/drift-notifications.ts'
import { listRealmsByNumber } from '../../service/sources/source-records.ts'
import { type Drift, listRealmDrift } from './drift.ts'
import { type DriftEvent, listDriftEvents } from './drift-events.ts'
import { getDriftWatch } from './drift-watch.ts'

/** The URL that drift is sent to, and the secret that signs the notifications. */
export interface DriftWebhook {
  readonly url: string
  readonly secret?: string | undefined
}

/** A running process that sends notifications about drift. */
export interface DriftNotifier {
  /** Stops the notifier after all drift that it knows is in the outbox. */
  close(): Promise<void>
}

/** The longest notification, in characters. `GET /regent/v1/drift` returns what is omitted. */
const MAX_LENGTH = 256 * 1024
/** Milliseconds until the notification of a realm is retried after a database error. */
const RETRY_AFTER = 5_000

/** Starts a notifier; drift that appeared while none was running is sent too. Throws where the database cannot be reached. */
export async function startDriftNotifier(
  service: Service,
  webhook: DriftWebhook,
  reportError: (error: Error) => void,
): Promise<DriftNotifier> {
  const queue = new WorkQueue<number>((realm) => notify(service, webhook, realm), {
    concurrency: 1,
    backOff: () => RETRY_AFTER,
    failed: (error) =>
      reportError(new Error('drift could not be sent to the webhook and will be retried', { cause: error })),
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
async function notify(service: Service, webhook: DriftWebhook, number: number): Promise<void> {
  const [realm] = await listRealmsByNumber(service, [number])
  if (!realm) return
  await service.writeRuntime(SYSTEM, realm, async (context) => {
    const last = await lockNotifiedDrift(context)
    const drift = await listRealmDrift(context)
    const events = listDriftEvents(last.drift as readonly Drift[], drift)
    if (!events.length) return
    const number = last.number + 1
    await enqueueMessages(context, createMessage(webhook, { realm: realm.name, number, at: context.now }, events))
    await saveNotifiedDrift(context, { number, drift })
  })
}

function createMessage(
  { url, secret }: DriftWebhook,
  header: { readonly realm: string; readonly number: number; readonly at: Date },
  events: readonly DriftEvent[],
): WebhookMessage {
  const included: object[] = []
  let length = 0
  for (const { event, drift } of events) {
    const entry = { event, ...drift }
    length += JSON.stringify(entry).length
    if (length > MAX_LENGTH) break
    included.push(entry)
  }
  const leftOut = events.length - included.length
  const body = JSON.stringify({ ...header, events: included, ...(leftOut && { leftOut }) })
  const signature = secret && signWebhook(body, secret)
  return { kind: 'webhook', url, event: 'drift', body, ...(signature && { signature }) }
}
