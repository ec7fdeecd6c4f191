// Watches drift: looks at a realm whenever somebody was woken because of it, once for all who want to know.
import { WorkQueue } from '../../lib/timing/work-queue.ts'
import { type Service, SYSTEM } from '../../service/context/service.ts'
import type { RealmRow } from '../../service/context/store-types.ts'
import { markedRealms, realmsNumbered } from '../../service/sources/sources.ts'
import { type Drift, driftOf } from './drift.ts'
import { type DriftEvent, driftEvents } from './drift-events.ts'

/** What happened in one realm. */
export interface DriftNews {
  /** Number of the realm. */
  readonly realm: number
  readonly events: readonly DriftEvent[]
}

/** Drift as it was when somebody began to be told. */
export interface Watching {
  /** By number of the realm. */
  readonly now: ReadonlyMap<number, readonly Drift[]>
  stop(): void
}

/** Who is told; what they return is waited for, and must not fail. */
export type Told = (news: DriftNews) => void | Promise<void>

/** Tells of drift, of all realms, as soon as it is committed, by whatever process. */
export interface DriftWatch {
  /** How many fields and objects have drifted, as it was seen last. */
  size(): number
  /**
   * Tells of what changes after what it gives; who `acts` on it is told after the others, so that nothing is put back before it was
   * told of. Throws when the store does not answer.
   */
  subscribe(told: Told, acts?: 'acts'): Promise<Watching>
}

/** Milliseconds until the watch looks again after the store failed. */
const RETRY_AFTER = 1_000
/** The only key of its queue: one look covers all realms that are due. */
const LOOK = 'look'

const watches = new WeakMap<Service, DriftWatch>()

/** Returns the drift watch of a service. There is one, which looks while it has subscribers. */
export function driftWatch(service: Service): DriftWatch {
  const watch = watches.get(service) ?? new JournalDriftWatch(service)
  watches.set(service, watch)
  return watch
}

/** A drift watch that looks at a realm after each change of what sources own there. */
class JournalDriftWatch implements DriftWatch {
  readonly #service: Service
  /** Drift by number of the realm, as of the last look. */
  readonly #drifts = new Map<number, readonly Drift[]>()
  readonly #listeners = new Set<Told>()
  /** Subscribers that act on drift, and hear of it after the listeners. */
  readonly #actors = new Set<Told>()
  readonly #dueRealms = new Set<number>()
  readonly #looks = new WorkQueue(() => this.#look(), { backOff: () => RETRY_AFTER })
  #isEverythingDue = false
  #subscribers = 0
  #unsubscribe = () => {}

  constructor(service: Service) {
    this.#service = service
  }

  size(): number {
    return [...this.#drifts.values()].reduce((sum, { length }) => sum + length, 0)
  }

  async subscribe(told: Told, acts?: 'acts'): Promise<Watching> {
    if (!this.#subscribers++) this.#begin()
    try {
      await this.#looks.run(LOOK)
    } catch (error) {
      this.#leave()
      throw error
    }
    const subscribers = acts ? this.#actors : this.#listeners
    subscribers.add(told)
    const stop = () => {
      if (subscribers.delete(told)) this.#leave()
    }
    return { now: new Map(this.#drifts), stop }
  }

  #begin(): void {
    this.#isEverythingDue = true
    this.#unsubscribe = this.#service.subscribe(({ topic, realm }) => {
      if (topic === 'everything') this.#isEverythingDue = true
      else if (topic === 'drift' && realm !== undefined) this.#dueRealms.add(realm)
      else return
      this.#looks.add(LOOK)
    })
  }

  #leave(): void {
    if (--this.#subscribers) return
    this.#unsubscribe()
    this.#looks.forget(LOOK)
    this.#drifts.clear()
  }

  async #look(): Promise<void> {
    try {
      while (this.#isEverythingDue || this.#dueRealms.size)
        for (const realm of await this.#takeDueRealms())
          await this.#update(realm.number, await this.#service.read(SYSTEM, realm, driftOf))
    } catch (error) {
      this.#isEverythingDue = true
      throw error
    }
  }

  /** Returns the realms that are due, and makes none due. A deleted realm has no drift any more. */
  async #takeDueRealms(): Promise<RealmRow[]> {
    const isEverythingDue = this.#isEverythingDue
    const numbers = new Set([...this.#dueRealms, ...(isEverythingDue ? this.#drifts.keys() : [])])
    this.#isEverythingDue = false
    this.#dueRealms.clear()
    const marked = isEverythingDue ? await this.#service.find(await markedRealms(this.#service)) : []
    for (const { number } of marked) numbers.delete(number)
    const others = numbers.size ? await realmsNumbered(this.#service, [...numbers]) : []
    for (const number of numbers) if (!others.some((realm) => realm.number === number)) await this.#update(number, [])
    return [...marked, ...others]
  }

  /** Keeps the drift of a realm, and notifies the subscribers of what is new. */
  async #update(realm: number, drift: readonly Drift[]): Promise<void> {
    const events = driftEvents(this.#drifts.get(realm) ?? [], drift)
    if (drift.length) this.#drifts.set(realm, drift)
    else this.#drifts.delete(realm)
    if (!events.length) return
    for (const subscribers of [this.#listeners, this.#actors])
      await Promise.all([...subscribers].map((told) => told({ realm, events })))
  }
}
