// Applies sources whenever they change, retries what fails, and corrects drift. What is refused is reported, and the last good state stays.

import { limited } from '../../lib/http/limited.ts'
import { backOff } from '../../lib/timing/back-off.ts'
import { WorkQueue } from '../../lib/timing/work-queue.ts'
import type { Service } from '../../service/context/service.ts'
import type { Lease } from '../../service/context/store-types.ts'
import { driftPolicy } from '../../service/journal/drift-policy.ts'
import type { Drift } from '../drift/drift.ts'
import { sharing } from '../read/sharing.ts'
import type { SourceState } from '../read/source-state.ts'
import { applySources, type Outcome } from '../run/run.ts'
import { isFenced, isRefusal, placesIn } from './failures.ts'
import type { Audience, Followed } from './followed.ts'
import { Healer } from './healer.ts'
import { inDependencyOrder, SourceStatuses } from './source-statuses.ts'

/** The longest milliseconds between two attempts of a source, unless its own retry interval is longer. */
const LONGEST = 15 * 60 * 1000

/**
 * A controller of sources while the lease is this process's. Sources that declare the same realms are applied together, and runs
 * follow each other.
 */
export class SourceController {
  readonly #service: Service
  readonly #lease: Lease
  readonly #audience: Audience
  readonly #sources = new Set<Followed>()
  /** The last good states, for runs of other sources and to correct drift. */
  readonly #states = new Map<Followed, SourceState>()
  readonly #statuses: SourceStatuses
  /** Sources whose kept status was read. */
  readonly #loaded = new Set<Followed>()
  /** Sources that an administrator wants to be looked at, or has suspended. */
  readonly #woken = new Set<Followed>()
  /** What was refused, or depends on others, with the reason: attempted again after another source was applied. */
  readonly #refusals = new Map<Followed, string>()
  /** The last failure of each source that may pass. */
  readonly #failures = new Map<Followed, string>()
  /** Plans pending approval that were reported. */
  readonly #reportedPlans = new Set<string>()
  readonly #queue = new WorkQueue<Followed>((source) => this.#inTurn(() => this.#reconcile(source)), {
    backOff: (failures, { retryInterval }) => backOff(failures, retryInterval * 1000, LONGEST),
  })
  readonly #turn = limited(1)
  readonly #unsubscribe: () => void
  #healer: Healer | undefined
  #isClosed = false

  constructor(service: Service, lease: Lease, audience: Audience) {
    this.#service = service
    this.#lease = lease
    this.#audience = audience
    this.#statuses = new SourceStatuses(service, lease, this.#sources)
    this.#unsubscribe = service.subscribe(({ topic, name }) => {
      if (topic === 'source' && name !== undefined) this.#wake(name)
    })
  }

  /** Follows these, too: reads each, applies them together, and corrects their drift from then on. */
  async add(sources: readonly Followed[]): Promise<void> {
    for (const source of sources) this.#sources.add(source)
    await this.#inTurn(async () => {
      const states = new Map<Followed, SourceState>()
      for (const source of inDependencyOrder(sources)) {
        const state = await this.#read(source).catch((error: unknown) => this.failed(source, error))
        if (state) states.set(source, state)
      }
      const applied = await this.#applyTogether(states)
      if (applied.length) await this.#attemptRefused(applied)
    })
    if (!this.#isClosed) this.#healer ??= new Healer(this.#service, this, this.#audience)
  }

  /** Stops following a source; resolves when nothing of it runs. */
  async remove(source: Followed): Promise<void> {
    this.#sources.delete(source)
    await this.#inTurn(async () => {
      for (const all of [this.#states, this.#loaded, this.#woken, this.#refusals, this.#failures]) all.delete(source)
      this.#queue.forget(source)
    })
  }

  /** Applies a source as it is now, with the others as they were when they were read last. */
  changed(source: Followed): Promise<void> {
    return this.#queue.run(source)
  }

  /** Whether the last attempt failed for a reason that may pass: the source is retried by itself. */
  isRetrying(source: Followed): boolean {
    return this.#queue.failures(source) > 0
  }

  /** Whether a source declares that this drift is corrected at once. */
  heals({ source, kind, path, by }: Drift): boolean {
    return [...this.#states.values()].some(
      ({ name, settings = {} }) => name === source && driftPolicy([settings], kind, path, by) === 'selfHeal',
    )
  }

  /** Applies the last good state of the source of that name. Returns whether it was applied. */
  async heal(name: string): Promise<boolean> {
    let isApplied = false
    await this.#inTurn(async () => {
      const [source, state] = [...this.#states].find(([, one]) => one.name === name) ?? []
      if (source && state && !this.#statuses.isSuspended(source))
        isApplied = await this.#applyOrFail(source, sharing(state, undefined, [...this.#states.values()]))
    })
    return isApplied
  }

  /** Reports that a source cannot be read or applied, unless the reason is the same as before, and retries it where that may help. */
  failed(source: Followed, error: unknown): void {
    // Another process has the lease, and reports the status.
    if (this.#isClosed || !this.#sources.has(source) || isFenced(error)) return
    const message = this.#audience.words(error)
    const problems = placesIn(error)
    if (isRefusal(error)) {
      this.#queue.forget(source)
      this.#statuses.recordFailure(source, { ending: 'Refused', message, problems })
      this.#reportStatus(source)
      if (this.#refusals.get(source) === message) return
      this.#refusals.set(source, message)
      this.#audience.happened?.({ what: 'refused', source, reason: message })
      return
    }
    const isReported = this.isRetrying(source) && this.#failures.get(source) === message
    this.#failures.set(source, message)
    const wait = this.#queue.retry(source)
    this.#statuses.recordFailure(source, { ending: 'Retrying', message, problems, wait })
    this.#reportStatus(source)
    if (!isReported) this.#audience.happened?.({ what: 'failed', source, reason: message })
  }

  /** Begins nothing more, and lets what runs end: no failure is reported any more. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#unsubscribe()
    await Promise.all([this.#healer?.close(), this.#queue.close(), this.#turn(async () => undefined)])
  }

  /** Does the work after what was begun before; none once the controller is closed. */
  #inTurn(work: () => Promise<void>): Promise<void> {
    return this.#turn(async () => (this.#isClosed ? undefined : work()))
  }

  /** Looks at a source again after an administrator has suspended or resumed it, or a push was announced. */
  #wake(name: string): void {
    const source = [...this.#sources].find((one) => one.name === name)
    if (!source) return
    this.#loaded.delete(source)
    this.#woken.add(source)
    this.#queue.add(source)
  }

  async #reconcile(source: Followed): Promise<void> {
    if (await this.#attempt(source)) await this.#attemptRefused([source])
  }

  /** Attempts one source. Returns whether it was applied. */
  async #attempt(source: Followed): Promise<boolean> {
    try {
      const state = await this.#read(source)
      if (!state) return false
      const others = [...this.#states].flatMap(([other, one]) => (other === source ? [] : [one]))
      const isApplied = await this.#apply(source, sharing(state, this.#states.get(source), others))
      if (isApplied) this.#keep(source, state)
      return isApplied && this.#sources.has(source)
    } catch (error) {
      this.failed(source, error)
      return false
    }
  }

  /** Returns what a source declares; undefined where it is not to be read. Throws why it cannot be read. */
  async #read(source: Followed): Promise<SourceState | undefined> {
    if (this.#isClosed || !this.#sources.has(source)) return undefined
    if (!this.#loaded.has(source)) await this.#loadStatuses()
    if (this.#isSuspended(source)) return undefined
    return source.read()
  }

  /** Applies states together on behalf of a source. Returns whether that was done; throws why it was not. */
  async #apply(source: Followed, states: readonly SourceState[]): Promise<boolean> {
    if (this.#isMissingDependencies(source)) return false
    const actor = { kind: 'source', source: states[0]!.name } as const
    const outcome = await applySources(this.#service, { actor, lease: this.#lease }, states)
    this.#report(outcome)
    this.#recordOutcome(states, outcome)
    this.#recordSuccess(source)
    return true
  }

  async #applyOrFail(source: Followed, states: readonly SourceState[]): Promise<boolean> {
    try {
      return await this.#apply(source, states)
    } catch (error) {
      this.failed(source, error)
      return false
    }
  }

  /**
   * Applies what was read, as far as possible together: where that is refused, each source by itself, so that one that is wrong
   * holds up no other. Returns the sources that were applied.
   */
  async #applyTogether(states: ReadonlyMap<Followed, SourceState>): Promise<Followed[]> {
    const attempted = new Set<SourceState>()
    const applied: Followed[] = []
    for (const [source, state] of states) {
      if (attempted.has(state) || this.#isClosed) continue
      const together = sharing(state, undefined, [...this.#states.values(), ...states.values()])
      const group = [...states].filter(([, one]) => together.includes(one))
      for (const [, one] of group) attempted.add(one)
      const isApplied =
        group.length === 1
          ? await this.#applyOrFail(source, together)
          : await this.#apply(source, together).catch(() => undefined)
      for (const [one, its] of group) {
        if (!(isApplied ?? (await this.#applyOrFail(one, [its])))) continue
        this.#keep(one, its)
        applied.push(one)
      }
    }
    return applied
  }

  /** Attempts what was refused again: what was applied may have been in its way. */
  async #attemptRefused(applied: readonly Followed[]): Promise<void> {
    for (const source of [...this.#refusals.keys()]) if (!applied.includes(source)) await this.#attempt(source)
  }

  async #loadStatuses(): Promise<void> {
    await this.#statuses.load()
    for (const source of this.#sources) this.#loaded.add(source)
  }

  #isSuspended(source: Followed): boolean {
    const isWoken = this.#woken.delete(source)
    if (!this.#statuses.isSuspended(source)) return false
    // Nor does it take part in runs of others from now on, as it was read last.
    if (isWoken) this.#states.delete(source)
    this.#reportStatus(source)
    if (isWoken) this.#audience.happened?.({ what: 'rests', source, renamedTo: this.#statuses.currentName(source) })
    return true
  }

  #isMissingDependencies(source: Followed): boolean {
    const missing = this.#statuses.missingDependencies(source)
    if (!missing.length) return false
    const reason = `it is applied after ${missing.join(', ')}`
    this.#statuses.recordFailure(source, { ending: 'WaitsForSources', message: reason })
    this.#reportStatus(source)
    if (this.#refusals.get(source) !== reason) this.#audience.happened?.({ what: 'waits', source, reason })
    this.#refusals.set(source, reason)
    return true
  }

  #report(outcome: Outcome): void {
    if (!this.#isReported(outcome)) this.#audience.happened?.({ what: 'applied', outcome })
  }

  /** Whether nothing was done, and all plans pending approval were reported before. */
  #isReported({ realms }: Outcome): boolean {
    const plans = realms.flatMap(({ pendingApproval }) => pendingApproval?.plan ?? [])
    const isReported = plans.length > 0 && plans.every((plan) => this.#reportedPlans.has(plan))
    for (const plan of plans) this.#reportedPlans.add(plan)
    return (
      isReported &&
      realms.every(({ plan, pendingApproval }) => pendingApproval || (!plan.creates && !plan.actions.length))
    )
  }

  #recordOutcome(states: readonly SourceState[], outcome: Outcome): void {
    for (const { name, revision } of states) this.#statuses.recordOutcome(name, revision, outcome)
    for (const source of this.#sources)
      if (states.some(({ name }) => name === source.name)) this.#reportStatus(source, outcome)
  }

  #recordSuccess(source: Followed): void {
    this.#refusals.delete(source)
    this.#failures.delete(source)
    const wasRetrying = this.isRetrying(source)
    this.#queue.forget(source)
    if (wasRetrying) this.#audience.happened?.({ what: 'recovered', source })
  }

  /** Keeps the state of a source for other runs. A single source is read when it changes, and may be long. */
  #keep(source: Followed, state: SourceState): void {
    const heals = state.settings?.drift?.some(({ policy }) => policy === 'selfHeal') === true
    if (this.#sources.has(source) && (this.#sources.size > 1 || heals)) this.#states.set(source, state)
    else this.#states.delete(source)
  }

  #reportStatus(source: Followed, outcome?: Outcome): void {
    const status = this.#statuses.find(source.name) ?? {}
    this.#audience.stands?.(source, { status, rests: this.#statuses.isSuspended(source), ...(outcome && { outcome }) })
  }
}
