// Reconciles RealmSources as they come and go: each is followed like a source of the server's settings, and its status is written.
import { limitConcurrency } from '../../lib/timing/limit-concurrency.ts'
import type { ReconcileResult, WorkQueue } from '../../lib/timing/work-queue.ts'
import { isLeaseLost, isRefusal } from '../../reconcile/following/failures.ts'
import type { FollowedSource, ReportedSourceStatus } from '../../reconcile/following/followed-source.ts'
import { SourceError } from '../../reconcile/read/file-source.ts'
import { type Service, SYSTEM } from '../../service/context/service.ts'
import type { Lease } from '../../service/context/store-types.ts'
import { confirmLease } from '../../service/operations/leases.ts'
import { recordApproval } from '../../service/sources/saved-plans.ts'
import { getAppliedAndPending, listRealmSources } from '../../service/sources/source-records.ts'
import { approverOf } from '../approver.ts'
import type { Fault } from '../desired.ts'
import type { Drifts } from '../drifts.ts'
import type { Known } from '../known.ts'
import { operatorQueue } from '../queue.ts'
import { APPROVED, type Status } from '../resource.ts'
import { isOvertaken } from '../resource-writer.ts'
import { requestOf } from '../status/conditions.ts'
import type { StatusWriter } from '../status/status-writer.ts'
import { endSource } from './ending.ts'
import { type Entry, grantsTold, openEntry, printOf, type Usual } from './entry.ts'
import type { Grounds } from './grants.ts'
import { NamespaceControllers, words } from './namespace-controllers.ts'
import type { GitSource } from './stated.ts'
import { type Found, statusOfSource, waitingIn } from './status.ts'

/** What a controller of RealmSources works with. */
export interface GitSourceControllerOptions {
  readonly usual: Usual
  readonly lease: Lease
  readonly known: Known
  readonly drifts: Drifts
  readonly statuses: StatusWriter
  /** What decides which realms sources may touch, as it is now. */
  readonly grounds: () => Grounds
  /** A source has changed something in the realm. */
  readonly applied: (realm: string) => void
  readonly say: (line: string) => void
  readonly failed: (error: unknown) => void
}

/** Repositories that are opened at a time. */
const AT_ONCE = 8
/** How often it is looked whether a deletion that waits for somebody can be done: milliseconds. */
const LOOK_AGAIN = 600_000

/** A controller of RealmSources while the lease is this process's. */
export class GitSourceController {
  readonly #service: Service
  readonly #options: GitSourceControllerOptions
  readonly #controllers: NamespaceControllers
  /** The sources that are there now, by name. */
  #sources: ReadonlyMap<string, GitSource> = new Map()
  /** What is followed, by name. */
  readonly #entries = new Map<string, Entry>()
  /** Sources that were followed before, and when nothing of them runs any more. */
  readonly #stops = new Map<string, Promise<void>>()
  readonly #opening = limitConcurrency(AT_ONCE)
  /** Namespaces whose sources are not followed as they are now. */
  readonly #queue: WorkQueue<string>
  /** Sources whose resource was deleted. */
  readonly #endQueue: WorkQueue<string>
  readonly #statusQueue: WorkQueue<string>
  readonly #unsubscribe: () => void

  constructor(service: Service, options: GitSourceControllerOptions) {
    const { lease, say, failed } = options
    this.#service = service
    this.#options = options
    const stands = (source: FollowedSource, how: ReportedSourceStatus) => this.#stands(source, how)
    this.#controllers = new NamespaceControllers(service, lease, {
      reportStatus: stands,
      warn: say,
      reportFailure: failed,
    })
    this.#queue = operatorQueue((namespace) => this.#reconcile(namespace), failed)
    this.#endQueue = operatorQueue((name) => this.#end(name), failed)
    this.#statusQueue = operatorQueue(
      (name) => this.#writeStatus(name),
      (error) => void (isOvertaken(error) || failed(error)),
    )
    this.#unsubscribe = service.subscribe(({ topic, name }) => {
      if (topic === 'source' && name !== undefined && this.#entries.get(name)?.source.leaves) this.#endQueue.add(name)
    })
  }

  /** Takes these as the sources that are there, and reconciles the namespaces for which that is new. */
  update(sources: readonly GitSource[]): void {
    this.#sources = new Map(sources.map((one) => [one.name, one]))
    for (const { source } of this.#entries.values())
      if (!this.#sources.has(source.name)) this.#queue.add(source.namespace)
    for (const source of sources) {
      const entry = this.#entries.get(source.name)
      if (entry?.print === printOf(source)) this.#compare(entry, source)
      else this.#queue.add(source.namespace)
    }
  }

  /** Retries what was refused in a realm that something else has changed. */
  changed(realm: string): void {
    for (const entry of this.#entries.values()) {
      if (entry.source.leaves) this.#endQueue.add(entry.source.name)
      const isRefused = stoodOf(entry)?.status.ready?.reason === 'Refused'
      if (isRefused && entry.realms.includes(realm)) this.#applyAgain(entry)
    }
  }

  /** Reacts to new or settled drift of a realm. */
  drifted(realm: string): void {
    for (const { source, realms } of this.#entries.values())
      if (realms.includes(realm)) this.#statusQueue.add(source.name)
  }

  /** Begins nothing more; resolves when nothing runs and all repositories are closed. */
  async close(): Promise<void> {
    this.#unsubscribe()
    await this.#queue.close()
    const closed = this.#controllers.close()
    const entries = [...this.#entries.values()]
    for (const { ending } of entries) ending.abort()
    await Promise.all([closed, this.#endQueue.close(), this.#statusQueue.close()])
    await Promise.all(entries.map((entry) => closeRepository(entry)))
    await Promise.all(this.#stops.values())
  }

  /** Follows the sources of a namespace as they are now. */
  async #reconcile(namespace: string): Promise<void> {
    const sources = [...this.#sources.values()].filter((one) => one.namespace === namespace)
    this.#stopChanged(namespace)
    if (!sources.length) return this.#controllers.end(namespace)
    const added = sources.flatMap((source) => (this.#entries.has(source.name) ? [] : this.#add(source)))
    const opened = await Promise.allSettled(
      added.filter(({ source }) => source.follows).map((entry) => this.#open(entry)),
    )
    this.#follow(namespace, added)
    const broken = opened.find((one) => one.status === 'rejected')
    if (!broken) return
    // So the next attempt opens them.
    for (const entry of added) if (entry.source.follows && !entry.repository && !isFault(entry.found)) this.#stop(entry)
    throw broken.reason
  }

  /** Stops following what is deleted or declared otherwise by now. */
  #stopChanged(namespace: string): void {
    for (const [name, entry] of [...this.#entries]) {
      const source = this.#sources.get(name)
      if (entry.source.namespace === namespace && (!source || printOf(source) !== entry.print)) this.#stop(entry)
    }
  }

  /** Adds a source: whether it can be followed, and if not, why. */
  #add(source: GitSource): Entry {
    const { name, leaves, fault, resource } = source
    const entry: Entry = {
      ...{ source, print: printOf(source), ending: new AbortController(), realms: [], requested: requestOf(source) },
    }
    this.#entries.set(name, entry)
    if (leaves) this.#endQueue.add(name)
    else if (fault) this.#setFault(entry, fault)
    else if (resource.status?.observedGeneration !== resource.metadata.generation) {
      entry.found = 'being read'
      this.#statusQueue.add(name)
    }
    return entry
  }

  async #open(entry: Entry): Promise<void> {
    const { name } = entry.source
    const { usual, grounds } = this.#options
    try {
      const repository = await this.#opening(() =>
        openEntry(this.#service, entry, { usual, grounds, latest: () => this.#sources.get(name) }),
      )
      // Meanwhile it may have come to say something else.
      if (this.#entries.get(name) !== entry) return await repository.close()
      entry.repository = repository
    } catch (error) {
      if (!(error instanceof SourceError)) throw error
      this.#setFault(entry, { reason: 'Invalid', message: words(error) })
    }
  }

  /** Applies what was opened, and polls it from then on. */
  #follow(namespace: string, added: readonly Entry[]): void {
    const repositories = added.flatMap(({ repository }) => repository ?? [])
    if (!repositories.length) return
    const controller = this.#controllers.of(namespace)
    const poll = () => {
      for (const one of repositories) if (this.#entries.get(one.name)?.repository === one) one.startPolling(controller)
    }
    controller.add(repositories).then(poll).catch(this.#options.failed)
  }

  /** Stops following a source. */
  #stop(entry: Entry): void {
    const { name, namespace } = entry.source
    this.#entries.delete(name)
    entry.ending.abort()
    if (!entry.repository) return
    const stopped = this.#controllers
      .of(namespace)
      .remove(entry.repository)
      .then(() => closeRepository(entry))
      .catch(this.#options.failed)
    this.#stops.set(name, stopped)
  }

  /** Does what a source asks for whose specification is as it was. */
  #compare(entry: Entry, source: GitSource): void {
    if (requestOf(source) !== entry.requested) this.#request(entry, source)
    this.#approve(entry)
    const grants = entry.grants === undefined ? undefined : grantsTold(entry, this.#options.grounds())
    if (grants !== entry.grants) {
      entry.grants = grants!
      this.#applyAgain(entry)
    }
    if (!this.#options.statuses.isCompared(source.resource)) this.#statusQueue.add(source.name)
  }

  /** Follows a request to reconcile the source now. */
  #request(entry: Entry, source: GitSource): void {
    entry.requested = requestOf(source)
    if (source.leaves) this.#endQueue.add(source.name)
    else if (source.fault) {
      entry.source = source
      this.#setFault(entry, source.fault)
    } else this.#applyAgain(entry)
  }

  #applyAgain({ source, repository }: Entry): void {
    if (repository) this.#controllers.of(source.namespace).reconcile(repository).catch(this.#options.failed)
  }

  /** Approves the plan that the resource names, if it waits for that. */
  #approve(entry: Entry): void {
    const { resource } = this.#sources.get(entry.source.name) ?? entry.source
    const plan = resource.metadata.annotations?.[APPROVED]
    if (plan === undefined || plan === entry.approved) return
    if (!waitingIn(stoodOf(entry)?.outcome).some((one) => one.plan === plan)) return
    entry.approved = plan
    const approved = recordApproval(this.#service, { actor: approverOf(resource) }, { plan, withCredentials: false })
    approved.then(() => this.#applyAgain(entry), this.#options.failed)
  }

  /** Takes note of how a source stands after it was looked at. */
  #stands(source: FollowedSource, how: ReportedSourceStatus): void {
    const entry = this.#entries.get(source.name)
    if (!entry || entry.repository !== source) return
    if (how.isSuspended) entry.source = this.#sources.get(source.name) ?? entry.source
    if (actsIn(how).length) delete entry.objects
    this.#setFound(entry, how)
    this.#approve(entry)
  }

  #setFault(entry: Entry, fault: Fault): void {
    this.#setFound(entry, { fault })
  }

  #setFound(entry: Entry, found: Found): void {
    entry.found = found
    entry.handled = requestOf(entry.source)
    this.#statusQueue.add(entry.source.name)
  }

  /** Ends a source whose resource was deleted. */
  async #end(name: string): Promise<ReconcileResult> {
    const { lease, known, statuses, grounds } = this.#options
    const entry = this.#entries.get(name)
    if (!entry?.source.leaves) return {}
    await this.#stops.get(name)
    try {
      const fault = await endSource(this.#service, entry.source, { lease, grounds: grounds() })
      if (fault) {
        this.#setFault(entry, fault)
        return { requeueAfter: LOOK_AGAIN }
      }
      known.putGit(name, [])
      await statuses.release(entry.source)
      return {}
    } catch (error) {
      return this.#failEnd(entry, error)
    }
  }

  #failEnd(entry: Entry, error: unknown): ReconcileResult {
    // Another process has the lease, and reports the status.
    if (isLeaseLost(error)) return {}
    if (isRefusal(error)) {
      this.#setFault(entry, { reason: 'StillNeeded', message: words(error) })
      return { failed: true }
    }
    if (!isOvertaken(error)) this.#options.failed(error)
    entry.found = { failure: `what it states goes when this is over: ${words(error)}` }
    this.#statusQueue.add(entry.source.name)
    return { failed: true }
  }

  /** Writes the status of a source; what it owns is counted where that may be another number. */
  async #writeStatus(name: string): Promise<void> {
    const { lease, drifts, statuses } = this.#options
    const entry = this.#entries.get(name)
    if (!entry?.found) return
    const { source, found } = entry
    const isCounted = entry.objects !== undefined || !stoodOf(entry)?.outcome
    const [counted] = await Promise.allSettled([isCounted ? undefined : this.#count(entry)])
    // Where the store does not answer, that is what there is to say.
    const isOver = await confirmLease(this.#service, lease).then(() => false, isLeaseLost)
    if (isOver) return
    const own = entry.realms.flatMap((realm) => drifts.of(realm))
    const statusFor = (prior: Status) =>
      statusOfSource({ ...entry, found }, prior, { drifts: own, now: this.#service.clock() })
    await statuses.write(source, statusFor)
    if (counted.status === 'rejected') throw counted.reason
  }

  /** Counts what a source owns after it was applied, and announces the realms in which it has changed something. */
  async #count(entry: Entry): Promise<void> {
    const { known, grounds, applied } = this.#options
    const { name } = entry.source
    const stood = stoodOf(entry)
    entry.applied = (await getAppliedAndPending(this.#service, [name])).applied
    known.putGit(name, entry.applied)
    // What it has made is its own from now on: nothing else may it touch.
    if (entry.grants !== undefined) entry.grants = grantsTold(entry, grounds())
    const owned = await Promise.all(
      entry.applied.map(({ realm }) => this.#service.read(SYSTEM, realm, listRealmSources)),
    )
    entry.objects = owned.flat().reduce((sum, { source, objects }) => sum + (source === name ? objects : 0), 0)
    for (const realm of stood ? actsIn(stood) : []) applied(realm)
  }
}

async function closeRepository({ repository }: Entry): Promise<void> {
  await repository?.unwatch()
  await repository?.close()
}

const isFault = (found: Found | undefined) => typeof found === 'object' && 'fault' in found

/** How it stood after it was tried; undefined where it was not. */
function stoodOf({ found }: Entry): ReportedSourceStatus | undefined {
  return typeof found === 'object' && 'status' in found ? found : undefined
}

/** The realms in which a run has done something. */
function actsIn({ outcome }: ReportedSourceStatus): string[] {
  const acting = (outcome?.realms ?? []).filter(
    ({ plan, pendingApproval, suspended }) =>
      !pendingApproval && !suspended && (plan.creates || plan.actions.length > 0),
  )
  return acting.map(({ plan }) => plan.realm)
}
