// Delivers the audit trail in the order of its entries, at least once, until the receiver accepts it.
import { getBackOff } from '../../lib/timing/back-off.ts'
import { Lanes } from '../../lib/timing/lanes.ts'
import {
  type AuditSink,
  type ClaimedAuditEntries,
  claimAuditEntries,
  countPendingAuditEntries,
  deleteAuditEntries,
  postponeAuditEntries,
} from '../../store/journal/audit-outbox.ts'
import type { OutboxWorker, Service } from '../context/service.ts'

/** Receives entries of the audit trail. Each has an `id`, which is the same if it is delivered again. @throws Error if it did not accept them. */
export type AuditReceiver = (entries: readonly object[]) => Promise<void>

/** The receivers of this process, by sink. */
export type AuditReceivers = Partial<Record<AuditSink, AuditReceiver>>

/** Rows of the outbox that are delivered together. */
const BATCH = 20
/** The time in which no other process claims a row, in milliseconds: longer than any delivery. */
const CLAIM_MS = 60_000
/** Milliseconds until the first retry, and at most. */
const [MIN_DELAY, MAX_DELAY] = [1_000, 5 * 60_000]

/** Starts to deliver the audit trail in this process. */
export function startAuditDeliveries(
  service: Service,
  receivers: AuditReceivers,
  report: (error: Error) => void,
): OutboxWorker {
  const { log, webhook } = receivers
  const deliveries = [
    ...(log ? [new AuditDelivery(service, { sink: 'log', receive: log }, report)] : []),
    ...(webhook ? [new AuditDelivery(service, { sink: 'webhook', receive: webhook }, report)] : []),
  ]
  const worker: OutboxWorker = {
    wake() {
      for (const delivery of deliveries) delivery.lanes.wake()
    },
    async whenIdle() {
      for (const delivery of deliveries) await delivery.lanes.whenIdle()
    },
    async close() {
      if (service.auditWorker === worker) service.auditWorker = undefined
      for (const delivery of deliveries) await delivery.lanes.close()
    },
  }
  service.auditWorker = worker
  worker.wake()
  return worker
}

/** Returns the number of entries of the audit trail that are not delivered yet. One statement. */
export function countUndeliveredAuditEntries(service: Service): Promise<number> {
  return service.query(countPendingAuditEntries)
}

/** The deliveries to one receiver. */
class AuditDelivery {
  readonly lanes: Lanes
  readonly #service: Service
  readonly #sink: AuditSink
  readonly #receive: AuditReceiver
  readonly #report: (error: Error) => void
  #failures = 0
  /** The time before which the receiver is not called again, in milliseconds since 1970. */
  #pausedUntil = 0

  constructor(
    service: Service,
    { sink, receive }: { readonly sink: AuditSink; readonly receive: AuditReceiver },
    report: (error: Error) => void,
  ) {
    this.#service = service
    this.#sink = sink
    this.#receive = receive
    this.#report = report
    this.lanes = new Lanes({
      most: 1,
      next: () => this.#deliverNext(),
      failed: (error) => report(new Error('The audit trail cannot be read.', { cause: error })),
    })
  }

  async #deliverNext(): Promise<boolean> {
    const { query, clock } = this.#service
    const now = clock()
    if (now.getTime() < this.#pausedUntil) return false
    const claim = { sink: this.#sink, now, leaseEnd: new Date(now.getTime() + CLAIM_MS), limit: BATCH }
    const claimed = await query((tx) => claimAuditEntries(tx, claim))
    if (!claimed.length) return false
    const numbers = claimed.map(({ number }) => number)
    try {
      await this.#receive(claimed.flatMap(withIds))
    } catch (error) {
      const due = this.#pause(error)
      await query((tx) => postponeAuditEntries(tx, numbers, due))
      return false
    }
    this.#failures = 0
    await query((tx) => deleteAuditEntries(tx, numbers))
    return true
  }

  /** Pauses after a failure. Returns the time of the next attempt. */
  #pause(cause: unknown): Date {
    const delay = getBackOff(++this.#failures, MIN_DELAY, MAX_DELAY)
    this.#pausedUntil = this.#service.clock().getTime() + delay
    const seconds = Math.round(delay / 1000)
    this.#report(new Error(`The audit ${this.#sink} did not accept entries (next attempt in ${seconds} s).`, { cause }))
    return new Date(this.#pausedUntil)
  }
}

/** Returns the entries of a row. Their ids follow from its number. */
function withIds({ number, body }: ClaimedAuditEntries): object[] {
  const entries: readonly object[] = JSON.parse(body)
  return entries.map((entry, at) => ({ id: `${number}-${at}`, ...entry }))
}
