// Watches drift. Lists the drift of a realm after each change of managed objects there, once for all subscribers.
import { WorkQueue } from '../../lib/timing/work-queue.ts'
import { type Service, SYSTEM } from '../../service/context/service.ts'
import type { RealmRow } from '../../service/context/store-types.ts'
import { listMarkedRealms, listRealmsByNumber } from '../../service/sources/source-records.ts'
import { type Drift, listRealmDrift } from './drift.ts'
import { type DriftEvent, listDriftEvents } from './drift-events.ts'

/** New drift events of one realm. */
export interface DriftUpdate {
  /** Internal number of the realm. */
  readonly realm: number
  readonly events: readonly DriftEvent[]
}

/** A subscription, with the drift at its beginning. */
export interface DriftSubscription {
  /** By internal number of the realm. */
  readonly initialDrift: ReadonlyMap<number, readonly Drift[]>
  unsubscribe(): void
}

/** Handles drift events. Its promise is awaited and must not reject. */
export type DriftListener = (update: DriftUpdate) => void | Promise<void>

/** Reports drift of all realms as soon as it is committed, by any process. */
export interface DriftWatch {
  /** Returns the number of drifted fields and objects. */
  countDrift(): number
  /**
   * Subscribes to drift. Listeners that correct drift subscribe with `last`: they are called after the others, so that drift is
   * reported before it is corrected. Throws where the database cannot be reached.
   */
  subscribe(listener: DriftListener, order?: 'last'): Promise<DriftSubscription>
}

/** Milliseconds until drift is listed again after a database error. */
const RETRY_AFTER = 1_000
/** The only key of its queue: one run covers all realms that are due. */
const RUN = 'run'

const watches = new WeakMap<Service, DriftWatch>()

/** Returns the drift watch of a service. There is one, which runs while it has subscribers. */
export function getDriftWatch(service: Service): DriftWatch {
  const watch = watches.get(service) ?? new JournalDriftWatch(service)
  watches.set(service, watch)
  return watch
}

/** A drift watch that lists the drift of a realm after each change of managed objects there. */
class JournalDriftWatch implements DriftWatch {
  readonly #service: Service
  /** The last known drift, by number of the realm. */
  readonly #drifts = new Map<number, readonly Drift[]>()
  readonly #listeners = new Set<DriftListener>()
  /** Listeners that are called after the others. */
  readonly #lastListeners = new Set<DriftListener>()
  readonly #dueRealms = new Set<number>()
  readonly #runs = new WorkQueue(() => this.#run(), { backOff: () => RETRY_AFTER })
  #isEverythingDue = false
  #subscribers = 0
  #unsubscribe = () => {}

  constructor(service: Service) {
    this.#service = service
  }

  countDrift(): number {
    return [...this.#drifts.values()].reduce((sum, { length }) => sum + length, 0)
  }

  async subscribe(listener: DriftListener, order?: 'last'): Promise<DriftSubscription> {
    if (!this.#subscribers++) this.#start()
    try {
      await this.#runs.run(RUN)
    } catch (error) {
      this.#removeSubscriber()
      throw error
    }
    const listeners = order === 'last' ? this.#lastListeners : this.#listeners
    listeners.add(listener)
    const unsubscribe = () => {
      if (listeners.delete(listener)) this.#removeSubscriber()
    }
    return { initialDrift: new Map(this.#drifts), unsubscribe }
  }

  #start(): void {
    this.#isEverythingDue = true
    this.#unsubscribe = this.#service.subscribe(({ topic, realm }) => {
      if (topic === 'everything') this.#isEverythingDue = true
      else if (topic === 'drift' && realm !== undefined) this.#dueRealms.add(realm)
      else return
      this.#runs.add(RUN)
    })
  }

  #removeSubscriber(): void {
    if (--this.#subscribers) return
    this.#unsubscribe()
    this.#runs.forget(RUN)
    this.#drifts.clear()
  }

  async #run(): Promise<void> {
    try {
      while (this.#isEverythingDue || this.#dueRealms.size)
        for (const realm of await this.#takeDueRealms())
          await this.#update(realm.number, await this.#service.read(SYSTEM, realm, listRealmDrift))
    } catch (error) {
      this.#isEverythingDue = true
      throw error
    }
  }

  /** Returns the realms that are due, and clears the list. Deleted realms have no drift. */
  async #takeDueRealms(): Promise<RealmRow[]> {
    const isEverythingDue = this.#isEverythingDue
    const numbers = new Set([...this.#dueRealms, ...(isEverythingDue ? this.#drifts.keys() : [])])
    this.#isEverythingDue = false
    this.#dueRealms.clear()
    const marked = isEverythingDue ? await this.#service.findRealms(await listMarkedRealms(this.#service)) : []
    for (const { number } of marked) numbers.delete(number)
    const unmarked = numbers.size ? await listRealmsByNumber(this.#service, [...numbers]) : []
    const existing = new Set(unmarked.map(({ number }) => number))
    for (const number of numbers) if (!existing.has(number)) await this.#update(number, [])
    return [...marked, ...unmarked]
  }

  /** Stores the drift of a realm and calls the listeners with its events. */
  async #update(realm: number, drift: readonly Drift[]): Promise<void> {
    const events = listDriftEvents(this.#drifts.get(realm) ?? [], drift)
    if (drift.length) this.#drifts.set(realm, drift)
    else this.#drifts.delete(realm)
    if (!events.length) return
    for (const listeners of [this.#listeners, this.#lastListeners])
      await Promise.all([...listeners].map((listener) => listener({ realm, events })))
  }
}
