// Notices of drift to an address: put into the outbox as soon as drift is seen, by whichever process is the first.
import { signatureOf } from '../lib/signature.ts'
import { keep, realmsTold, toldOf } from '../service/drift-told.ts'
import { send, type Webhook } from '../service/outbox.ts'
import { type RealmRow, type Service, SYSTEM } from '../service/service.ts'
import { realmsNumbered } from '../service/sources.ts'
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
/** After how many milliseconds to try again where the store did not answer. */
const AGAIN = 5_000

/** Begins to tell: also of what happened while nobody did. Throws when the store does not answer. */
export async function startDriftNotices(
  service: Service,
  webhook: DriftWebhook,
  report: (error: Error) => void,
): Promise<DriftNotices> {
  let last: Promise<void> = Promise.resolve()
  const later = new Set<NodeJS.Timeout>()
  const tell = (realm: number): Promise<void> => {
    last = last.then(async () => {
      try {
        await tellOf(service, webhook, realm)
      } catch (error) {
        report(new Error('drift is not told yet, and will be tried again', { cause: error }))
        const timer = setTimeout(() => {
          later.delete(timer)
          void tell(realm)
        }, AGAIN)
        later.add(timer.unref())
      }
    })
    return last
  }
  const { now, stop } = await driftWatch(service).subscribe(({ realm }) => tell(realm))
  for (const realm of new Set([...now.keys(), ...(await realmsTold(service))])) void tell(realm)
  return {
    async close() {
      stop()
      await last
      for (const timer of later) clearTimeout(timer)
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
