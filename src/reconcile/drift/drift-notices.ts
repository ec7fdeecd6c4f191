// Notices of drift to an address: put into the outbox as soon as drift is seen, by whichever process is the first.
import { signatureOf } from '../../lib/signature.ts'
import { WorkQueue } from '../../lib/timing/work-queue.ts'
import { type Service, SYSTEM } from '../../service/context/service.ts'
import type { RealmRow } from '../../service/context/store-types.ts'
import { send, type Webhook } from '../../service/messages/outbox.ts'
import { keep, realmsTold, toldOf } from '../../service/sources/drift-told.ts'
import { realmsNumbered } from '../../service/sources/sources.ts'
import { type Drift, driftOf } from './drift.ts'
import { type DriftEvent, driftEvents } from './drift-events.ts'
import { driftWatch } from './drift-watch.ts'

/** Whom to tell, and the secret by which they know that it is true. */
export interface DriftWebhook {
  readonly url: string
  readonly secret?: string | undefined
}

/** Who tells of drift. */
export interface DriftNotices {
  /** Lets what was seen reach the outbox, and looks no more. */
  close(): Promise<void>
}

/** How much is told at once, in characters: an answer to GET /regent/v1/drift has all of it. */
const LARGEST = 256 * 1024
/** Milliseconds until the notices of a realm are retried after the store failed. */
const RETRY_AFTER = 5_000

/** Begins to tell: also of what happened while nobody did. Throws when the store does not answer. */
export async function startDriftNotices(
  service: Service,
  webhook: DriftWebhook,
  report: (error: Error) => void,
): Promise<DriftNotices> {
  const queue = new WorkQueue<number>((realm) => tellOf(service, webhook, realm), {
    concurrency: 1,
    backOff: () => RETRY_AFTER,
    failed: (error) => report(new Error('drift is not told yet, and will be tried again', { cause: error })),
  })
  // A failure is reported and retried; who acts on drift does not wait for that.
  const { now, stop } = await driftWatch(service).subscribe(({ realm }) => queue.run(realm).catch(() => undefined))
  for (const realm of new Set([...now.keys(), ...(await realmsTold(service))])) queue.add(realm)
  return {
    async close() {
      stop()
      await queue.drain()
      await queue.close()
    },
  }
}

/** Tells what is different from what was told last. At most four statements and those of the look at the realm. */
async function tellOf(service: Service, webhook: DriftWebhook, number: number): Promise<void> {
  const [realm] = await realmsNumbered(service, [number])
  if (!realm) return
  await service.runtime(SYSTEM, realm, async (context) => {
    const told = await toldOf(context)
    const drift = await driftOf(context)
    const events = driftEvents(told.drift as readonly Drift[], drift)
    if (!events.length) return
    await send(context, messageOf(webhook, realm, told.number + 1, context.now, events))
    await keep(context, { number: told.number + 1, drift })
  })
}

function messageOf(
  { url, secret }: DriftWebhook,
  realm: RealmRow,
  number: number,
  at: Date,
  events: readonly DriftEvent[],
): Webhook {
  const fitting: object[] = []
  let length = 0
  for (const { event, drift } of events) {
    const one = { event, ...drift }
    length += JSON.stringify(one).length
    if (length > LARGEST) break
    fitting.push(one)
  }
  const leftOut = events.length - fitting.length
  const body = JSON.stringify({ realm: realm.name, number, at, events: fitting, ...(leftOut && { leftOut }) })
  const signature = secret && signatureOf(body, secret)
  return { kind: 'webhook', url, event: 'drift', body, ...(signature && { signature }) }
}
