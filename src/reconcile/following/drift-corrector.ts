// Corrects drift at once where a source declares `selfHeal`. Waits longer where the same drift returns again and again.
import { describeObject } from '../../kinds/tree.ts'
import { getSteppedBackOff } from '../../lib/timing/back-off.ts'
import { type ReconcileResult, WorkQueue } from '../../lib/timing/work-queue.ts'
import type { Service } from '../../service/context/service.ts'
import type { Drift } from '../drift/drift.ts'
import { getDriftWatch } from '../drift/drift-watch.ts'
import { renderAttribution } from '../model/attribution.ts'

/** Callbacks that decide whether drift is corrected at once, and correct it by applying the source again. */
export interface SourceReapplier {
  /** Whether this drift is corrected at once. */
  shouldCorrect(drift: Drift): boolean
  /** Applies the last good state of the source of that name. Returns whether it was applied. */
  reapply(source: string): Promise<boolean>
}

/** Receives reports of the drift corrector, for the log. */
export interface DriftCorrectorReporter {
  /** Reports a correction that is delayed since earlier ones were undone. */
  readonly warn: (line: string) => void
  /** Reports that the database cannot be reached. */
  readonly reportFailure: (error: unknown) => void
}

/** The recent corrections of one realm by one source. */
interface Corrections {
  /** The drift that is corrected next. */
  drift: Drift
  times: number
  /** When the last one began, in milliseconds since 1970. */
  last: number
  hasFailed: boolean
}

/** Milliseconds before the first correction, the second, and so on; the last one for all that follow. */
const DELAYS = [0, 0, 1_000, 5_000, 30_000, 120_000, 300_000]
/** Milliseconds without drift after which corrections count from the beginning. */
const RESET_AFTER = 600_000
/** Milliseconds until the corrector subscribes again after a database error. */
const RETRY_AFTER = 5_000

/** Corrects drift until it is closed, drift from before included. */
export class DriftCorrector {
  readonly #service: Service
  readonly #corrector: SourceReapplier
  readonly #reports: DriftCorrectorReporter
  /** By realm and source. */
  readonly #corrections = new Map<string, Corrections>()
  readonly #queue: WorkQueue<string>
  readonly #subscribing: WorkQueue<'drift'>
  #isClosed = false
  #unsubscribe = () => {}

  constructor(service: Service, corrector: SourceReapplier, reports: DriftCorrectorReporter) {
    this.#service = service
    this.#corrector = corrector
    this.#reports = reports
    const failed = (error: unknown) => {
      if (!this.#isClosed) reports.reportFailure(error)
    }
    this.#queue = new WorkQueue((key) => this.#correct(key), { backOff: getDelay, failed })
    this.#subscribing = new WorkQueue(() => this.#subscribe(), { backOff: () => RETRY_AFTER, failed })
    this.#subscribing.add('drift')
  }

  /** Begins no further correction, and lets one in progress end. */
  async close(): Promise<void> {
    this.#isClosed = true
    await Promise.all([this.#subscribing.close(), this.#queue.close()])
    this.#unsubscribe()
  }

  async #subscribe(): Promise<void> {
    const { initialDrift, unsubscribe } = await getDriftWatch(this.#service).subscribe(
      ({ events }) => this.#add(events.flatMap(({ event, drift }) => (event === 'drift' ? [drift] : []))),
      'last',
    )
    this.#unsubscribe = unsubscribe
    this.#add([...initialDrift.values()].flat())
  }

  #add(drifts: readonly Drift[]): void {
    for (const drift of drifts) if (this.#corrector.shouldCorrect(drift)) this.#schedule(drift)
  }

  #schedule(drift: Drift): void {
    const key = JSON.stringify([drift.realm, drift.source])
    const corrections = this.#corrections.get(key) ?? { drift, times: 0, last: 0, hasFailed: false }
    this.#corrections.set(key, corrections)
    if (this.#queue.isDelayed(key)) return
    corrections.drift = drift
    if (this.#service.clock().getTime() - corrections.last > RESET_AFTER) corrections.times = 0
    const delay = getDelay(corrections.times + 1)
    if (delay && !corrections.hasFailed)
      this.#reports.warn(`${renderRepetition(corrections)}; the next correction is in ${delay / 1000} s`)
    this.#queue.addAfter(key, delay)
  }

  async #correct(key: string): Promise<ReconcileResult> {
    const corrections = this.#corrections.get(key)!
    corrections.times++
    corrections.last = this.#service.clock().getTime()
    corrections.hasFailed = !(await this.#corrector.reapply(corrections.drift.source))
    // The corrector reports why. The reason may pass, and nothing announces that.
    if (corrections.hasFailed && corrections.times < DELAYS.length) this.#schedule(corrections.drift)
    return {}
  }
}

/** Returns the milliseconds before the correction of that number, counted from 1. */
function getDelay(times: number): number {
  return getSteppedBackOff(times, DELAYS)
}

/** Returns a warning with the source, the drift, and who causes it. */
function renderRepetition({ drift, times }: Corrections): string {
  const { realm, source, kind, key, path, by } = drift
  const object = `${realm} ${describeObject(kind, key)}${path === undefined ? '' : `: ${path}`}`
  return `${object}: ${source} corrected drift ${times} times, and it was changed again${by ? ` by ${renderAttribution(by)}` : ''}`
}
