// The outbox: emails, notifications of applications and webhooks. A transaction adds messages, which are delivered after its commit,
// at least once.
import type { Json } from '../../kinds/json.ts'
import { getScope, parseTraceparent, renderTraceparent } from '../../lib/request-scope.ts'
import { Lanes } from '../../lib/timing/lanes.ts'
import { trace } from '../../lib/tracing.ts'
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

/** A form that is posted to an application, such as a back-channel logout. */
export interface ApplicationNotification {
  readonly kind: 'notice'
  readonly url: string
  readonly form: Readonly<Record<string, string>>
  /** A token in the form, which is signed when the form is sent. */
  readonly token?: {
    /** Its name in the form. */
    readonly name: string
    /** The `typ` of its header. */
    readonly type: string
    /** The signature algorithm that the application expects. Absent: the default of the realm. */
    readonly algorithm?: string
    /** The base URL of the server, as the application knows it. */
    readonly base: string
    readonly claims: Readonly<Record<string, Json>>
  }
  /** The time after which it is not sent any more, in seconds since 1970. */
  readonly until?: number
}

/** A notification that is posted to the admin URL of a client, as a signed token. */
export interface AdminNotification {
  readonly kind: 'admin'
  readonly url: string
  readonly claims: Readonly<Record<string, Json>>
  /** The time after which it is not sent any more, in seconds since 1970. */
  readonly until?: number
}

/** A JSON document that is posted to a webhook of the settings. */
export interface WebhookMessage {
  readonly kind: 'webhook'
  readonly url: string
  readonly event: string
  readonly body: string
  /** The signature of the body, in GitHub's format. */
  readonly signature?: string
}

/** A message in the outbox. */
export type Message = Email | ApplicationNotification | AdminNotification | WebhookMessage

/** The functions that deliver messages, by kind. Their errors are reported, and the message is retried unless it is an UndeliverableError. */
export type Deliverers = {
  readonly [K in Message['kind']]: (delivery: Delivery<Extract<Message, { kind: K }>>) => Promise<void>
}

/** An attempt to deliver a message. */
export interface Delivery<M extends Message = Message> {
  readonly service: Service
  readonly realm: string
  readonly message: M
  /** The same for each attempt, so that recipients can detect duplicates. */
  readonly id: string
}

/** Thrown by deliverers if another attempt would fail as well. */
export class UndeliverableError extends Error {}

/** Maximum number of concurrent deliveries, so that slow recipients do not delay others. */
const MAX_LANES = 8
/** The time in which no other process claims a message, in milliseconds: longer than any attempt, since all its steps have timeouts. */
const CLAIM_MS = 5 * 60_000
/** Delays before further attempts, in milliseconds. After the last one the message is dropped. */
const DELAYS = [10, 60, 5 * 60, 30 * 60, 2 * 3600, 6 * 3600, 12 * 3600].map((seconds) => seconds * 1000)

/** The kinds of messages, as the log names them. */
const labels: Readonly<Record<string, string>> = {
  mail: 'An email',
  notice: 'A notification',
  admin: 'A notification',
  webhook: 'A webhook',
}

/** Adds messages to the outbox. They are delivered after the commit of the transaction. One statement per chunk. */
export async function enqueueMessages(context: Context, ...messages: readonly Message[]): Promise<void> {
  const { tx, realm, vault, now, afterCommit } = context
  const { trace: cause } = getScope()
  const traced = cause && { traceparent: renderTraceparent(cause) }
  const sealed = messages.map((message) => ({
    kind: message.kind,
    body: vault.seal(JSON.stringify({ ...message, ...traced })),
  }))
  await insertMessages(tx, realm.number, { due: now, messages: sealed })
  afterCommit.hasMessages = true
}

/** Starts to deliver the messages of the outbox in this process. */
export function startOutbox(service: Service, deliverers: Deliverers, report: (error: Error) => void): OutboxWorker {
  const worker = new ConcurrentOutboxWorker(service, deliverers, report)
  service.outboxWorker = worker
  worker.wake()
  return worker
}

/** Returns the number of messages of all realms in the outbox. One statement. */
export function countOutboxMessages(service: Service): Promise<number> {
  return service.query(countPendingMessages)
}

class ConcurrentOutboxWorker implements OutboxWorker {
  readonly #service: Service
  readonly #deliverers: Deliverers
  readonly #report: (error: Error) => void
  /** Each lane delivers one message after the other, until none is due. */
  readonly #lanes: Lanes

  constructor(service: Service, deliverers: Deliverers, report: (error: Error) => void) {
    this.#service = service
    this.#deliverers = deliverers
    this.#report = report
    this.#lanes = new Lanes({
      most: MAX_LANES,
      next: () => this.#deliverNext(),
      failed: (error) => report(new Error('the outbox cannot be read', { cause: error })),
    })
  }

  wake(): void {
    this.#lanes.wake()
  }

  whenIdle(): Promise<void> {
    return this.#lanes.whenIdle()
  }

  async close(): Promise<void> {
    if (this.#service.outboxWorker === this) this.#service.outboxWorker = undefined
    await this.#lanes.close()
  }

  async #deliverNext(): Promise<boolean> {
    const now = this.#service.clock()
    const claimed = await this.#service.query((tx) => claimMessage(tx, now, new Date(now.getTime() + CLAIM_MS)))
    if (!claimed) return false
    // Another lane looks for the next message meanwhile.
    this.wake()
    await this.#attempt(claimed)
    return true
  }

  async #attempt(claimed: ClaimedMessage): Promise<void> {
    const { query, clock, deliveryCounts } = this.#service
    const now = clock()
    try {
      await this.#deliver(claimed, now)
      deliveryCounts.delivered++
    } catch (error) {
      const delay = error instanceof UndeliverableError ? undefined : DELAYS[claimed.attempts - 1]
      deliveryCounts[delay === undefined ? 'dropped' : 'postponed']++
      this.#report(toFailedAttempt(claimed, delay, error))
      if (delay !== undefined) {
        await query((tx) => postponeMessage(tx, claimed, new Date(now.getTime() + delay)))
        return
      }
    }
    await query((tx) => deleteMessage(tx, claimed))
  }

  /** Delivers a message, in the trace of the request that has added it. */
  #deliver(claimed: ClaimedMessage, now: Date): Promise<void> {
    const message: Message & { readonly traceparent?: string } = JSON.parse(this.#service.vault.open(claimed.body))
    const { kind, realmName, attempts } = claimed
    return trace(
      () => ({
        name: `deliver ${kind}`,
        parent: parseTraceparent(message.traceparent),
        attributes: { 'regent.message.kind': kind, 'regent.realm': realmName, 'regent.message.attempt': attempts },
      }),
      () => this.#deliverMessage(message, claimed, now),
    )
  }

  async #deliverMessage(message: Message, { id, realmName: realm }: ClaimedMessage, now: Date): Promise<void> {
    const service = this.#service
    const until = message.kind === 'webhook' ? undefined : message.until
    if (until !== undefined && until * 1000 < now.getTime()) throw new UndeliverableError('it has expired')
    switch (message.kind) {
      case 'mail':
        return this.#deliverers.mail({ service, realm, id, message })
      case 'notice':
        return this.#deliverers.notice({ service, realm, id, message })
      case 'admin':
        return this.#deliverers.admin({ service, realm, id, message })
      case 'webhook':
        return this.#deliverers.webhook({ service, realm, id, message })
    }
  }
}

/** `delay`: before the next attempt, in milliseconds; undefined: there is none. */
function toFailedAttempt(
  { kind, realmName, attempts }: ClaimedMessage,
  delay: number | undefined,
  cause: unknown,
): Error {
  const label = labels[kind] ?? `A ${kind}`
  const next = delay === undefined ? 'no further attempt' : `next attempt in ${delay / 1000} s`
  const message = `${label} of the realm ${realmName} was not delivered (attempt ${attempts}; ${next})`
  return new Error(message, { cause })
}
