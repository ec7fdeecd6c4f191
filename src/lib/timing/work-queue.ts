// The work queue: reconciles keys again and again, each by one run at a time, and after failures with a back-off.
import { runWithoutScope } from '../request-scope.ts'
import { LONGEST_TIMER } from './deadline.ts'
import { limitConcurrency } from './limit-concurrency.ts'

/** The result of a reconciliation. An error that is thrown counts as `{ failed: true }`. */
export interface ReconcileResult {
  /** Milliseconds after which the key is reconciled again. Absent: after the back-off if it failed, otherwise not by itself. */
  readonly requeueAfter?: number | undefined
  /** Counts as a failure: the next back-off is longer. */
  readonly failed?: boolean
}

/** Reconciles a key: establishes the current desired state of the object that the key names. */
export type Reconcile<Key> = (key: Key) => Promise<ReconcileResult | undefined> | Promise<void>

/** Observes a work queue, for metrics. */
export interface WorkQueueObserver {
  /** A key became due. `depth`: the number of keys that are due and not begun. */
  onAdd(depth: number): void
  /** The reconciliation of a key begins, after so many seconds. */
  onStart(depth: number, waited: number): void
  /** A key is retried after a failure. */
  onRetry(): void
  onEnd(result: 'success' | 'error', seconds: number): void
}

/** The options of a work queue. */
export interface WorkQueueOptions<Key> {
  /** Returns the milliseconds to wait after so many consecutive failures of a key, counted from 1. */
  readonly backOff: (failures: number, key: Key) => number
  /** Reports what `reconcile` has thrown. */
  readonly failed?: (error: unknown, key: Key) => void
  readonly observer?: WorkQueueObserver
  /** Keys that are reconciled at a time. Absent: any number. */
  readonly concurrency?: number
  /** Closes the queue when it is aborted. */
  readonly signal?: AbortSignal
}

interface QueueItem {
  /** Resolves with the next run; absent: none is due. */
  next?: PromiseWithResolvers<void> | undefined
  /** The runs of the key in progress, until none is due. */
  running?: Promise<void> | undefined
  /** The time at which the next run became due, by `performance.now()`. */
  addedAt: number
  failures: number
  /** Whether a failure was counted since the last run began. */
  isRetried: boolean
  timer?: NodeJS.Timeout | undefined
  /** The time at which the timer ends, by `performance.now()`. */
  dueAt: number
}

/**
 * A queue of keys. Adding a key that is due already changes nothing; adding one that is being reconciled reconciles it once more
 * afterwards. Delays do not keep the process alive.
 */
export class WorkQueue<Key> {
  readonly #items = new Map<Key, QueueItem>()
  readonly #reconcile: Reconcile<Key>
  readonly #options: WorkQueueOptions<Key>
  readonly #slot: <T>(task: () => Promise<T>) => Promise<T>
  #isClosed = false
  /** Number of keys that are due and not begun. */
  #depth = 0

  constructor(reconcile: Reconcile<Key>, options: WorkQueueOptions<Key>) {
    this.#reconcile = reconcile
    this.#options = options
    this.#slot = limitConcurrency(options.concurrency ?? Number.POSITIVE_INFINITY)
    if (options.signal?.aborted) this.#isClosed = true
    options.signal?.addEventListener('abort', () => void this.close(), { once: true })
  }

  /** Reconciles the key as soon as possible. */
  add(key: Key): void {
    void this.run(key)
  }

  /**
   * Reconciles the key as soon as possible, and resolves when a run has ended that began after this call, or when the queue is
   * closed before one begins. Throws what the run throws, which is reported and retried in any case.
   */
  run(key: Key): Promise<void> {
    if (this.#isClosed) return Promise.resolve()
    const item = this.#itemOf(key)
    item.next ??= this.#createRun(item)
    const { promise } = item.next
    item.running ??= runWithoutScope(() => this.#process(key, item))
    return promise
  }

  #createRun(item: QueueItem): PromiseWithResolvers<void> {
    item.addedAt = performance.now()
    this.#options.observer?.onAdd(++this.#depth)
    return Promise.withResolvers()
  }

  /** Reconciles the key after so many milliseconds, or when it is due already, whichever comes first. */
  addAfter(key: Key, milliseconds: number): void {
    const item = this.#itemOf(key)
    if (!item.timer || performance.now() + milliseconds < item.dueAt) this.#schedule(key, item, milliseconds)
  }

  /** Counts a failure of the key, and reconciles it after the back-off. Returns the milliseconds until then. */
  retry(key: Key): number {
    const item = this.#itemOf(key)
    this.#countFailure(item)
    item.isRetried = true
    const delay = this.#options.backOff(item.failures, key)
    this.#schedule(key, item, delay)
    return delay
  }

  #countFailure(item: QueueItem): void {
    item.failures++
    this.#options.observer?.onRetry()
  }

  /** Cancels a delayed reconciliation of the key, and forgets its failures. */
  forget(key: Key): void {
    const item = this.#items.get(key)
    if (!item) return
    clearTimeout(item.timer)
    item.timer = undefined
    item.failures = 0
    this.#tidy(key, item)
  }

  /** The number of consecutive failures of the key. */
  failures(key: Key): number {
    return this.#items.get(key)?.failures ?? 0
  }

  /** Whether a delayed reconciliation of the key is due later. */
  isDelayed(key: Key): boolean {
    return this.#items.get(key)?.timer !== undefined
  }

  /** Resolves when no key is being reconciled or due; delayed ones do not count. */
  async drain(): Promise<void> {
    for (let running = this.#running(); running.length; running = this.#running()) await Promise.all(running)
  }

  /** Begins nothing more, and resolves when the runs in progress have ended. */
  async close(): Promise<void> {
    this.#isClosed = true
    for (const item of this.#items.values()) clearTimeout(item.timer)
    await this.drain()
  }

  async #process(key: Key, item: QueueItem): Promise<void> {
    // Not within the call that adds the key, which may come from a run of it.
    await undefined
    while (item.next) await this.#slot(() => this.#runOnce(key, item))
    item.running = undefined
    this.#tidy(key, item)
  }

  async #runOnce(key: Key, item: QueueItem): Promise<void> {
    const { promise, resolve, reject } = item.next!
    item.next = undefined
    const startedAt = performance.now()
    this.#options.observer?.onStart(--this.#depth, (startedAt - item.addedAt) / 1000)
    const reportEnd = (result: 'success' | 'error') =>
      this.#options.observer?.onEnd(result, (performance.now() - startedAt) / 1000)
    if (this.#isClosed) return resolve()
    clearTimeout(item.timer)
    item.timer = undefined
    item.isRetried = false
    try {
      const { requeueAfter, failed } = (await this.#reconcile(key)) ?? {}
      reportEnd(failed ? 'error' : 'success')
      if (failed && requeueAfter === undefined) this.retry(key)
      else if (failed) this.#countFailure(item)
      else if (!item.isRetried) item.failures = 0
      if (requeueAfter !== undefined) this.#schedule(key, item, requeueAfter)
      resolve()
    } catch (error) {
      reportEnd('error')
      this.#options.failed?.(error, key)
      this.retry(key)
      // A caller of `add` does not wait for the run, so nobody else handles the rejection.
      promise.catch(() => undefined)
      reject(error)
    }
  }

  #schedule(key: Key, item: QueueItem, milliseconds: number): void {
    clearTimeout(item.timer)
    if (this.#isClosed) return
    item.dueAt = performance.now() + milliseconds
    const delay = Math.min(milliseconds, LONGEST_TIMER)
    item.timer = setTimeout(() => {
      item.timer = undefined
      if (delay < milliseconds) this.#schedule(key, item, milliseconds - delay)
      else this.add(key)
    }, delay).unref()
  }

  #itemOf(key: Key): QueueItem {
    const item = this.#items.get(key) ?? { addedAt: 0, failures: 0, isRetried: false, dueAt: 0 }
    this.#items.set(key, item)
    return item
  }

  #tidy(key: Key, item: QueueItem): void {
    if (!item.running && !item.timer && !item.failures) this.#items.delete(key)
  }

  #running(): Promise<void>[] {
    return [...this.#items.values()].flatMap(({ running }) => running ?? [])
  }
}
