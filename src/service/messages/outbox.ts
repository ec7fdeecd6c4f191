// The outbox: mails, notices and webhooks are kept by the transaction that causes them, and leave after its commit, at least once.
import type { Json } from '../../kinds/json.ts'
import {
  type ClaimedMessage,
  claimMessage,
  countPendingMessages,
  deleteMessage,
  insertMessages,
  postponeMessage,
} from '../../store/journal/outbox.ts'
import type { Context } from '../context/context.ts'
import type { OutboxWorker, Service } from '../context/service.ts'
import type { Email } from './email-templates.ts'

/** What is posted as a form to an application, such as that a session is over. */
export interface ApplicationNotification {
  readonly kind: 'notice'
  readonly url: string
  readonly form: Readonly<Record<string, string>>
  /** A token that goes with it, signed when the notice leaves. */
  readonly token?: {
    /** Its name in the form. */
    readonly name: string
    /** The `typ` of its header. */
    readonly type: string
    /** What the application wants it signed with. Absent: what the realm signs with. */
    readonly algorithm?: string
    /** The server's own address, as the application knows it. */
    readonly base: string
    readonly claims: Readonly<Record<string, Json>>
  }
  /** Seconds since 1970: nobody needs it later. */
  readonly until?: number
}

/** What is posted as JSON to an address of the settings. */
export interface WebhookMessage {
  readonly kind: 'webhook'
  readonly url: string
  /** What it tells of. */
  readonly event: 'drift'
  readonly body: string
  /** Of the body, as GitHub signs. */
  readonly signature?: string
}

/** What leaves the server. */
export type Message = Email | ApplicationNotification | WebhookMessage

/** How messages of each kind are delivered. What these throw is reported, and tried again unless it is Undeliverable. */
export type Deliverers = {
  readonly [K in Message['kind']]: (delivery: Delivery<Extract<Message, { kind: K }>>) => Promise<void>
}

/** One attempt to deliver a message. */
export interface Delivery<M extends Message = Message> {
  readonly service: Service
  readonly realm: string
  readonly message: M
  /** The same for each attempt: who gets a message twice can know it. */
  readonly id: string
}

/** Thrown by who delivers: another attempt would end as this one did. */
export class UndeliverableError extends Error {}

/** How many messages leave at a time: a server that answers slowly does not hold back the others. */
const LANES = 8
/** For how long nobody else tries what one has taken: longer than any attempt, whose steps all have limits. */
const LEASE = 5 * 60_000
/** After how long to try again; then not any more. */
const DELAYS = [10, 60, 5 * 60, 30 * 60, 2 * 3600, 6 * 3600, 12 * 3600].map((seconds) => seconds * 1000)

/** Puts messages into the outbox: they leave when the context's transaction is committed. One statement per chunk. */
export async function enqueueMessages(context: Context, ...messages: readonly Message[]): Promise<void> {
  const { tx, realm, vault, now, outbox } = context
  const sealed = messages.map((message) => ({ kind: message.kind, body: vault.seal(JSON.stringify(message)) }))
  await insertMessages(tx, realm.number, { due: now, messages: sealed })
  outbox.hasMessages = true
}

/** Begins to deliver the outbox of the service, which it belongs to from then on. */
export function startOutbox(service: Service, deliver: Deliverers, report: (error: Error) => void): OutboxWorker {
  const lanes = new Set<Promise<void>>()
  let missed = false
  let closed = false

  const lane = async () => {
    while (!closed) {
      const now = service.clock()
      const claimed = await service.query((tx) => claimMessage(tx, now, new Date(now.getTime() + LEASE)))
      if (!claimed) return
      // Another lane looks for the next one meanwhile.
      wake()
      await attempt(service, deliver, claimed, report)
    }
  }
  const wake = () => {
    if (closed) return
    if (lanes.size === LANES) {
      missed = true
      return
    }
    const running = lane()
      .catch((error: unknown) => report(new Error('the outbox cannot be read', { cause: error })))
      .finally(() => {
        lanes.delete(running)
        if (missed) {
          missed = false
          wake()
        }
      })
    lanes.add(running)
  }
  const settled = async () => {
    while (lanes.size) await Promise.all(lanes)
  }

  const outbox: OutboxWorker = {
    wake,
    whenIdle: settled,
    async close() {
      closed = true
      if (service.outboxWorker === outbox) service.outboxWorker = undefined
      await settled()
    },
  }
  service.outboxWorker = outbox
  wake()
  return outbox
}

/** How many messages of all realms wait. One statement. */
export function countOutboxMessages(service: Service): Promise<number> {
  return service.query(countPendingMessages)
}

async function attempt(
  service: Service,
  deliver: Deliverers,
  claimed: ClaimedMessage,
  report: (error: Error) => void,
): Promise<void> {
  const now = service.clock()
  try {
    const message = JSON.parse(service.vault.open(claimed.body)) as Message
    const until = message.kind === 'webhook' ? undefined : message.until
    if (until !== undefined && until * 1000 < now.getTime()) throw new UndeliverableError('it is too late')
    const delivery = { service, realm: claimed.realmName, message, id: claimed.id }
    await (deliver[message.kind] as (delivery: Delivery) => Promise<void>)(delivery)
    service.deliveryCounts.delivered++
  } catch (error) {
    const delay = error instanceof UndeliverableError ? undefined : DELAYS[claimed.attempts - 1]
    const next = delay === undefined ? 'it will not be' : `next attempt in ${delay / 1000} s`
    const what = `a ${claimed.kind} of the realm ${claimed.realmName} was not delivered`
    report(new Error(`${what} (attempt ${claimed.attempts}; ${next})`, { cause: error }))
    service.deliveryCounts[delay === undefined ? 'dropped' : 'postponed']++
    if (delay !== undefined) {
      await service.query((tx) => postponeMessage(tx, claimed, new Date(now.getTime() + delay)))
      return
    }
  }
  await service.query((tx) => deleteMessage(tx, claimed))
}
