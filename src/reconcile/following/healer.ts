// Corrects drift at once where a source declares `selfHeal`; more slowly where the same source has to correct again and again.
import { describe } from '../../kinds/tree.ts'
import { steppedBackOff } from '../../lib/timing/back-off.ts'
import { type ReconcileResult, WorkQueue } from '../../lib/timing/work-queue.ts'
import type { Service } from '../../service/context/service.ts'
import type { Drift } from '../drift/drift.ts'
import { driftWatch } from '../drift/drift-watch.ts'
import { by } from '../model/attribution.ts'

/** Applies sources again to correct drift. */
export interface DriftCorrector {
  /** Whether this drift is corrected at once. */
  heals(drift: Drift): boolean
  /** Applies the last good state of the source of that name. Returns whether it was applied. */
  heal(source: string): Promise<boolean>
}

/** Whom a healer reports to. */
export interface HealerReports {
  /** Reports a correction that is delayed since it was undone too often. */
  readonly say: (line: string) => void
  /** Reports that the store does not answer. */
  readonly failed: (error: unknown) => void
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
const CALM = 600_000
/** Milliseconds until the healer subscribes again after the store failed. */
const RETRY_AFTER = 5_000

/** Corrects drift until it is closed, drift from before included. */
export class Healer {
  readonly #service: Service
  readonly #corrector: DriftCorrector
  readonly #reports: HealerReports
  /** By realm and source. */
  readonly #corrections = new Map<string, Corrections>()
  readonly #queue: WorkQueue<string>
  readonly #subscribing: WorkQueue<'drift'>
  #isClosed = false
  #unsubscribe = () => {}

  constructor(service: Service, corrector: DriftCorrector, reports: HealerReports) {
    this.#service = service
    this.#corrector = corrector
    this.#reports = reports
    const failed = (error: unknown) => {
      if (!this.#isClosed) reports.failed(error)
    }
    this.#queue = new WorkQueue((key) => this.#correct(key), { backOff: delayBefore, failed })
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
    const { now, stop } = await driftWatch(this.#service).subscribe(
      ({ events }) => this.#add(events.flatMap(({ event, drift }) => (event === 'drift' ? [drift] : []))),
      'acts',
    )
    this.#unsubscribe = stop
    this.#add([...now.values()].flat())
  }

  #add(drifts: readonly Drift[]): void {
    for (const drift of drifts) if (this.#corrector.heals(drift)) this.#schedule(drift)
  }

  #schedule(drift: Drift): void {
    const key = JSON.stringify([drift.realm, drift.source])
    const corrections = this.#corrections.get(key) ?? { drift, times: 0, last: 0, hasFailed: false }
    this.#corrections.set(key, corrections)
    if (this.#queue.isDelayed(key)) return
    corrections.drift = drift
    if (this.#service.clock().getTime() - corrections.last > CALM) corrections.times = 0
    const delay = delayBefore(corrections.times + 1)
    if (delay && !corrections.hasFailed) this.#reports.say(`${again(corrections)}; it is put back in ${delay / 1000} s`)
    this.#queue.addAfter(key, delay)
  }

  async #correct(key: string): Promise<ReconcileResult> {
    const corrections = this.#corrections.get(key)!
    corrections.times++
    corrections.last = this.#service.clock().getTime()
    corrections.hasFailed = !(await this.#corrector.heal(corrections.drift.source))
    // The corrector reports why. The reason may pass, and nothing announces that.
    if (corrections.hasFailed && corrections.times < DELAYS.length) this.#schedule(corrections.drift)
    return {}
  }
}

/** Returns the milliseconds before the correction of that number, counted from 1. */
function delayBefore(times: number): number {
  return steppedBackOff(times, DELAYS)
}

/** Names the source, and who changes what it corrects. */
function again({ drift: { realm, source, kind, key, path, by: who }, times }: Corrections): string {
  const what = `${realm} ${describe(kind, key)}${path === undefined ? '' : `: ${path}`}`
  return `${what} was put back ${times} times by ${source}, and changed again${who ? ` by ${by(who)}` : ''}`
}
