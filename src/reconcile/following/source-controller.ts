// Applies sources whenever they change, retries failures, and corrects drift. An invalid revision is reported and not applied.

import { getBackOff } from '../../lib/timing/back-off.ts'
import { limitConcurrency } from '../../lib/timing/limit-concurrency.ts'
import { WorkQueue } from '../../lib/timing/work-queue.ts'
import type { Service } from '../../service/context/service.ts'
import type { Lease } from '../../service/context/store-types.ts'
import { getDriftPolicy } from '../../service/journal/drift-policy.ts'
import type { Drift } from '../drift/drift.ts'
import { listRelatedSources, type SourceContent } from '../read/source-content.ts'
import { applySources, type RunOutcome } from '../run/run.ts'
import { CommitStatuses } from './commit-statuses.ts'
import { DriftCorrector } from './drift-corrector.ts'
import { isLeaseLost, isRefusal, listProblems } from './failures.ts'
import type { FollowedSource, SourceReporter } from './followed-source.ts'
import { SourceStatuses, sortByDependencies } from './source-statuses.ts'

/** The longest milliseconds between two attempts of a source, unless its own retry interval is longer. */
const LONGEST = 15 * 60 * 1000

/**
 * Follows sources while this process holds the lease. Sources that declare the same realms are applied together, and only one run is
 * in progress at a time.
 */
export class SourceController {
  readonly #service: Service
  readonly #lease: Lease
  readonly #reporter: SourceReporter
  readonly #sources = new Set<FollowedSource>()
  /** The last applied content of sources, for runs of other sources and to correct drift. */
  readonly #contents = new Map<FollowedSource, SourceContent>()
  readonly #statuses: SourceStatuses
  /** Sources whose stored status was read. */
  readonly #loaded = new Set<FollowedSource>()
  /** Sources that an administrator suspended, resumed or requested to be read, since their last reconciliation. */
  readonly #woken = new Set<FollowedSource>()
  /** The reasons of sources that were refused or that depend on others. They are retried after another source was applied. */
  readonly #refusals = new Map<FollowedSource, string>()
  /** The last temporary failure of each source. */
  readonly #failures = new Map<FollowedSource, string>()
  /** Plans pending approval that were reported. */
  readonly #reportedPlans = new Set<string>()
  readonly #queue = new WorkQueue<FollowedSource>((source) => this.#runExclusively(() => this.#reconcile(source)), {
    backOff: (failures, { retryInterval }) => getBackOff(failures, retryInterval * 1000, LONGEST),
  })
  readonly #oneAtATime = limitConcurrency(1)
  readonly #commitStatuses: CommitStatuses
  readonly #unsubscribe: () => void
  #driftCorrector: DriftCorrector | undefined
  #isClosed = false

  constructor(service: Service, lease: Lease, reporter: SourceReporter) {
    this.#service = service
    this.#lease = lease
    this.#reporter = reporter
    this.#statuses = new SourceStatuses(service, lease, this.#sources)
    this.#commitStatuses = new CommitStatuses(reporter)
    this.#unsubscribe = service.subscribe(({ topic, name }) => {
      if (topic === 'source' && name !== undefined) this.#wake(name)
    })
  }

  /** Follows these sources too: reads them, applies them together, and corrects their drift from then on. */
  async add(sources: readonly FollowedSource[]): Promise<void> {
    for (const source of sources) this.#sources.add(source)
    await this.#runExclusively(async () => {
      const contents = new Map<FollowedSource, SourceContent>()
      for (const source of sortByDependencies(sources)) {
        const content = await this.#read(source).catch((error: unknown) => this.recordFailure(source, error))
        if (content) contents.set(source, content)
      }
      const applied = await this.#applyTogether(contents)
      if (applied.length) await this.#attemptRefused(applied)
    })
    if (!this.#isClosed) this.#driftCorrector ??= new DriftCorrector(this.#service, this, this.#reporter)
  }

  /** Stops following a source; resolves when no run of it is in progress. */
  async remove(source: FollowedSource): Promise<void> {
    this.#sources.delete(source)
    await this.#runExclusively(async () => {
      for (const collection of [this.#contents, this.#loaded, this.#woken, this.#refusals, this.#failures])
        collection.delete(source)
      this.#queue.forget(source)
      this.#commitStatuses.remove(source)
    })
  }

  /** Reads and applies a source, together with the last content of sources that declare the same realms. */
  reconcile(source: FollowedSource): Promise<void> {
    return this.#queue.run(source)
  }

  /** Whether the last attempt failed temporarily, so that the source is retried. */
  isRetrying(source: FollowedSource): boolean {
    return this.#queue.failures(source) > 0
  }

  /** Whether the source declares `selfHeal` for this drift. */
  shouldCorrect({ source, kind, path, by }: Drift): boolean {
    return [...this.#contents.values()].some(
      ({ name, settings = {} }) => name === source && getDriftPolicy([settings], { kind, path, by }) === 'selfHeal',
    )
  }

  /** Reapplies the last applied content of a source. Returns whether it was applied. */
  async reapply(name: string): Promise<boolean> {
    let isApplied = false
    await this.#runExclusively(async () => {
      const [source, content] = [...this.#contents].find(([, cached]) => cached.name === name) ?? []
      if (source && content && !this.#statuses.isSuspended(source))
        isApplied = await this.#applyOrFail(
          source,
          listRelatedSources(content, undefined, [...this.#contents.values()]),
        )
    })
    return isApplied
  }

  /** Records that a source cannot be read or applied, reports it unless the reason is the same as before, and schedules a retry. */
  recordFailure(source: FollowedSource, error: unknown): void {
    // Another process holds the lease, and reports the status.
    if (this.#isClosed || !this.#sources.has(source) || isLeaseLost(error)) return
    const message = this.#reporter.renderError(error)
    const problems = listProblems(error)
    if (isRefusal(error)) {
      this.#queue.forget(source)
      this.#statuses.recordFailure(source, { outcome: 'Refused', message, problems })
      this.#reportStatus(source)
      if (this.#refusals.get(source) === message) return
      this.#refusals.set(source, message)
      this.#reporter.reportEvent?.({ type: 'refused', source, reason: message })
      return
    }
    const isReported = this.isRetrying(source) && this.#failures.get(source) === message
    this.#failures.set(source, message)
    const delay = this.#queue.retry(source)
    this.#statuses.recordFailure(source, { outcome: 'Retrying', message, problems, delay })
    this.#reportStatus(source)
    if (!isReported) this.#reporter.reportEvent?.({ type: 'failed', source, reason: message })
  }

  /** Starts no further run, and resolves when the run in progress has ended. Reports no further failures. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#unsubscribe()
    await Promise.all([this.#driftCorrector?.close(), this.#queue.close(), this.#oneAtATime(async () => undefined)])
    await this.#commitStatuses.close()
  }

  /** Runs the work after all earlier work; not if the controller is closed by then. */
  #runExclusively(work: () => Promise<void>): Promise<void> {
    return this.#oneAtATime(async () => (this.#isClosed ? undefined : work()))
  }

  /** Reconciles a source after an administrator suspended or resumed it, or a webhook announced a push. */
  #wake(name: string): void {
    const source = [...this.#sources].find((followed) => followed.name === name)
    if (!source) return
    this.#loaded.delete(source)
    this.#woken.add(source)
    this.#queue.add(source)
  }

  async #reconcile(source: FollowedSource): Promise<void> {
    if (await this.#attempt(source)) await this.#attemptRefused([source])
  }

  /** Reads and applies one source. Returns whether it was applied. */
  async #attempt(source: FollowedSource): Promise<boolean> {
    try {
      const content = await this.#read(source)
      if (!content) return false
      const otherContents = new Map(this.#contents)
      otherContents.delete(source)
      const previous = this.#contents.get(source)
      const isApplied = await this.#apply(source, listRelatedSources(content, previous, [...otherContents.values()]))
      if (isApplied) this.#cache(source, content)
      return isApplied && this.#sources.has(source)
    } catch (error) {
      this.recordFailure(source, error)
      return false
    }
  }

  /** Reads a source; returns undefined where it is suspended or removed. Throws where it cannot be read. */
  async #read(source: FollowedSource): Promise<SourceContent | undefined> {
    if (this.#isClosed || !this.#sources.has(source)) return undefined
    if (!this.#loaded.has(source)) await this.#loadStatuses()
    if (this.#isSuspended(source)) return undefined
    const content = await source.read()
    this.#commitStatuses.reportAttempt(source, content.revision)
    return content
  }

  /** Applies contents together on behalf of a source; returns false where a dependency is not applied. Throws where that fails. */
  async #apply(source: FollowedSource, contents: readonly SourceContent[]): Promise<boolean> {
    if (this.#isMissingDependencies(source)) return false
    const actor = { kind: 'source', source: contents[0]!.name } as const
    const outcome = await applySources(this.#service, { actor, lease: this.#lease }, contents)
    this.#report(outcome)
    this.#recordOutcome(contents, outcome)
    this.#recordSuccess(source)
    return true
  }

  async #applyOrFail(source: FollowedSource, contents: readonly SourceContent[]): Promise<boolean> {
    try {
      return await this.#apply(source, contents)
    } catch (error) {
      this.recordFailure(source, error)
      return false
    }
  }

  /**
   * Applies new contents, together where they declare the same realms. If that fails, applies each by itself, so that an invalid
   * source does not block others. Returns the sources that were applied.
   */
  async #applyTogether(contents: ReadonlyMap<FollowedSource, SourceContent>): Promise<FollowedSource[]> {
    const attempted = new Set<FollowedSource>()
    const applied: FollowedSource[] = []
    for (const [source, content] of contents) {
      if (attempted.has(source) || this.#isClosed) continue
      const related = listRelatedSources(content, undefined, [...this.#contents.values(), ...contents.values()])
      const group = [...contents].filter(([, candidate]) => related.includes(candidate))
      for (const [member] of group) attempted.add(member)
      const isApplied =
        group.length === 1
          ? await this.#applyOrFail(source, related)
          : await this.#apply(source, related).catch(() => undefined)
      for (const [member, memberContent] of group) {
        if (!(isApplied ?? (await this.#applyOrFail(member, [memberContent])))) continue
        this.#cache(member, memberContent)
        applied.push(member)
      }
    }
    return applied
  }

  /** Retries refused sources, since an applied source may have removed the reason. */
  async #attemptRefused(applied: readonly FollowedSource[]): Promise<void> {
    for (const source of [...this.#refusals.keys()]) if (!applied.includes(source)) await this.#attempt(source)
  }

  async #loadStatuses(): Promise<void> {
    await this.#statuses.load()
    for (const source of this.#sources) this.#loaded.add(source)
  }

  #isSuspended(source: FollowedSource): boolean {
    const isWoken = this.#woken.delete(source)
    if (!this.#statuses.isSuspended(source)) return false
    // From now on, it takes no part in runs of other sources either.
    if (isWoken) this.#contents.delete(source)
    this.#reportStatus(source)
    if (isWoken)
      this.#reporter.reportEvent?.({ type: 'suspended', source, renamedTo: this.#statuses.currentName(source) })
    return true
  }

  #isMissingDependencies(source: FollowedSource): boolean {
    const missing = this.#statuses.missingDependencies(source)
    if (!missing.length) return false
    const verb = missing.length === 1 ? 'was' : 'were'
    const reason = `It depends on ${missing.join(', ')}, which ${verb} not applied yet. Run "regent source show ${missing[0]}".`
    this.#statuses.recordFailure(source, { outcome: 'DependencyNotReady', message: reason })
    this.#reportStatus(source)
    if (this.#refusals.get(source) !== reason)
      this.#reporter.reportEvent?.({ type: 'dependencyNotReady', source, reason })
    this.#refusals.set(source, reason)
    return true
  }

  #report(outcome: RunOutcome): void {
    if (!this.#isReported(outcome)) this.#reporter.reportEvent?.({ type: 'applied', outcome })
  }

  /** Whether nothing was applied, and all plans pending approval were reported before. */
  #isReported({ realms }: RunOutcome): boolean {
    const plans = realms.flatMap(({ pendingApproval }) => pendingApproval?.plan ?? [])
    const isReported = plans.length > 0 && plans.every((plan) => this.#reportedPlans.has(plan))
    for (const plan of plans) this.#reportedPlans.add(plan)
    return (
      isReported &&
      realms.every(({ plan, pendingApproval }) => pendingApproval || (!plan.creates && !plan.actions.length))
    )
  }

  #recordOutcome(contents: readonly SourceContent[], outcome: RunOutcome): void {
    for (const { name, revision } of contents) this.#statuses.recordOutcome(name, revision, outcome)
    for (const source of this.#sources)
      if (contents.some(({ name }) => name === source.name)) this.#reportStatus(source, outcome)
  }

  #recordSuccess(source: FollowedSource): void {
    this.#refusals.delete(source)
    this.#failures.delete(source)
    const wasRetrying = this.isRetrying(source)
    this.#queue.forget(source)
    if (wasRetrying) this.#reporter.reportEvent?.({ type: 'recovered', source })
  }

  /** Caches the content of a source if other runs need it: for a single source without `selfHeal` it would waste memory. */
  #cache(source: FollowedSource, content: SourceContent): void {
    const selfHeals = content.settings?.drift?.some(({ policy }) => policy === 'selfHeal') === true
    if (this.#sources.has(source) && (this.#sources.size > 1 || selfHeals)) this.#contents.set(source, content)
    else this.#contents.delete(source)
  }

  #reportStatus(source: FollowedSource, outcome?: RunOutcome): void {
    const reported = {
      status: this.#statuses.find(source.name) ?? {},
      isSuspended: this.#statuses.isSuspended(source),
      ...(outcome && { outcome }),
    }
    this.#reporter.reportStatus?.(source, reported)
    this.#commitStatuses.report(source, reported)
  }
}
