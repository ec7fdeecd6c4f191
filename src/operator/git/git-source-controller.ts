// Reconciles RealmSources: follows their repositories as the server follows its configured git sources.
import { limitConcurrency } from '../../lib/timing/limit-concurrency.ts'
import type { WorkQueue } from '../../lib/timing/work-queue.ts'
import type { FollowedSource, ReportedSourceStatus } from '../../reconcile/following/followed-source.ts'
import { SourceError } from '../../reconcile/read/file-source.ts'
import { ServiceError } from '../../service/context/errors.ts'
import type { Service } from '../../service/context/service.ts'
import { approveByAnnotation } from '../cluster/approve-by-annotation.ts'
import { APPROVED_PLAN_ANNOTATION } from '../cluster/resource.ts'
import { createOperatorQueue } from '../operator-queue.ts'
import { findReconcileRequest } from '../status/conditions.ts'
import {
  type FollowedGitSource,
  type GitSourceDefaults,
  getPermissionsFingerprint,
  getSourceFingerprint,
  openFollowedRepository,
} from './followed-git-source.ts'
import type { GitSource } from './git-source.ts'
import { GitSourceFinalizer, type GitSourceFinalizerOptions } from './git-source-finalizer.ts'
import { isReported, listPendingApprovals } from './git-source-status.ts'
import {
  GitSourceStatusController,
  type GitSourceStatusOptions,
  listChangedRealms,
} from './git-source-status-controller.ts'
import { NamespaceControllers, renderSourceError } from './namespace-controllers.ts'

/** Options of a controller of RealmSources. */
export interface GitSourceControllerOptions extends GitSourceStatusOptions, GitSourceFinalizerOptions {
  readonly defaults: GitSourceDefaults
  readonly warn: (message: string) => void
}

/** Repositories that are opened at a time. */
const MAX_OPENING = 8

/** A controller of RealmSources while this process holds the lease. Its queue reconciles the sources of a namespace together. */
export class GitSourceController {
  readonly #service: Service
  readonly #options: GitSourceControllerOptions
  readonly #controllers: NamespaceControllers
  /** The sources that the cluster contains now, by name. */
  #sources: ReadonlyMap<string, GitSource> = new Map()
  /** The sources that are followed, by name. */
  readonly #followed = new Map<string, FollowedGitSource>()
  /** By name: resolves when nothing of an earlier version of the source runs any longer. */
  readonly #stopping = new Map<string, Promise<void>>()
  readonly #limitOpening = limitConcurrency(MAX_OPENING)
  readonly #queue: WorkQueue<string>
  readonly #statusController: GitSourceStatusController
  readonly #finalizer: GitSourceFinalizer
  readonly #unsubscribe: () => void

  constructor(service: Service, options: GitSourceControllerOptions) {
    const { lease, warn, onError } = options
    this.#service = service
    this.#options = options
    this.#controllers = new NamespaceControllers(service, lease, {
      reportStatus: (source, status) => this.#recordStatus(source, status),
      warn,
      reportFailure: onError,
    })
    this.#queue = createOperatorQueue((namespace) => this.#reconcile(namespace), onError, {
      name: 'git-sources',
      measurements: service.measurements,
    })
    this.#statusController = new GitSourceStatusController(service, options, this.#followed)
    this.#finalizer = new GitSourceFinalizer(service, options, {
      followed: this.#followed,
      statusController: this.#statusController,
      waitUntilStopped: async (name) => this.#stopping.get(name),
    })
    // An administrator may have resumed a source whose deletion is blocked.
    this.#unsubscribe = service.subscribe(({ topic, name }) => {
      if (topic === 'source' && name !== undefined) this.#finalizer.add(name)
    })
  }

  /** Sets the sources that the cluster contains, and reconciles the namespaces of those that have changed. */
  update(sources: readonly GitSource[]): void {
    this.#sources = new Map(sources.map((source) => [source.name, source]))
    for (const { source } of this.#followed.values())
      if (!this.#sources.has(source.name)) this.#queue.add(source.namespace)
    for (const source of sources) {
      const followed = this.#followed.get(source.name)
      if (followed?.fingerprint === getSourceFingerprint(source)) this.#updateUnchanged(followed, source)
      else this.#queue.add(source.namespace)
    }
  }

  /** Retries sources that were refused or could not be finalized, since another source has changed the realm. */
  retryRefused(realm: string): void {
    for (const followed of this.#followed.values()) {
      const { source, realms, result } = followed
      this.#finalizer.add(source.name)
      const isRefused = isReported(result) && result.status.ready?.reason === 'Refused'
      if (isRefused && realms.includes(realm)) this.#applyAgain(followed)
    }
  }

  /** Updates the status of sources after drift of a realm has begun or ended. */
  handleDriftChange(realm: string): void {
    for (const { source, realms } of this.#followed.values())
      if (realms.includes(realm)) this.#statusController.update(source.name)
  }

  /** Starts nothing further, and resolves when all runs have ended and all repositories are closed. */
  async close(): Promise<void> {
    this.#unsubscribe()
    await this.#queue.close()
    const controllersClosed = this.#controllers.close()
    const followed = [...this.#followed.values()]
    for (const { abortController } of followed) abortController.abort()
    await Promise.all([controllersClosed, this.#finalizer.close(), this.#statusController.close()])
    await Promise.all(followed.map(closeRepository))
    await Promise.all(this.#stopping.values())
  }

  /** Follows the sources of a namespace as they are now. */
  async #reconcile(namespace: string): Promise<void> {
    const sources = [...this.#sources.values()].filter((source) => source.namespace === namespace)
    this.#stopChanged(namespace)
    if (!sources.length) return this.#controllers.remove(namespace)
    const added = sources.filter(({ name }) => !this.#followed.has(name)).map((source) => this.#add(source))
    try {
      await this.#openAll(added)
    } finally {
      this.#startPolling(namespace, added)
    }
  }

  /** Stops following sources of a namespace that were deleted or changed. */
  #stopChanged(namespace: string): void {
    for (const followed of [...this.#followed.values()]) {
      const source = this.#sources.get(followed.source.name)
      const isChanged = !source || getSourceFingerprint(source) !== followed.fingerprint
      if (followed.source.namespace === namespace && isChanged) this.#stop(followed)
    }
  }

  /** Adds a source. One that was deleted is finalized, the fault of an invalid one is reported. */
  #add(source: GitSource): FollowedGitSource {
    const { name, removal, fault, resource } = source
    const followed: FollowedGitSource = {
      source,
      fingerprint: getSourceFingerprint(source),
      abortController: new AbortController(),
      realms: [],
      lastRequest: findReconcileRequest(source),
    }
    this.#followed.set(name, followed)
    if (removal) this.#finalizer.add(name)
    else if (fault) this.#statusController.setResult(followed, { fault })
    else if (resource.status?.observedGeneration !== resource.metadata.generation) {
      followed.result = 'progressing'
      this.#statusController.update(name)
    }
    return followed
  }

  /** Opens the repositories of added sources. Throws the first failure; sources that failed are added again by the next attempt. */
  async #openAll(added: readonly FollowedGitSource[]): Promise<void> {
    const opening = added.filter(({ source }) => source.config)
    const results = await Promise.allSettled(opening.map((followed) => this.#open(followed)))
    const failure = results.find((result) => result.status === 'rejected')
    if (!failure) return
    for (const followed of opening) if (!followed.repository && !hasFault(followed)) this.#stop(followed)
    throw failure.reason
  }

  /** Opens the repository of a source, or reports its fault. */
  async #open(followed: FollowedGitSource): Promise<void> {
    const { name } = followed.source
    const { defaults, getPermissionInputs } = this.#options
    const options = { defaults, getPermissionInputs, findLatest: () => this.#sources.get(name) }
    try {
      const repository = await this.#limitOpening(() => openFollowedRepository(this.#service, followed, options))
      // The source may have been stopped meanwhile.
      if (this.#followed.get(name) !== followed) return await repository.close()
      followed.repository = repository
    } catch (error) {
      if (!(error instanceof SourceError)) throw error
      const fault = { reason: 'Invalid', message: renderSourceError(error) }
      this.#statusController.setResult(followed, { fault })
    }
  }

  /** Applies the opened repositories together, and polls them from then on. */
  #startPolling(namespace: string, added: readonly FollowedGitSource[]): void {
    const repositories = added.flatMap(({ repository }) => repository ?? [])
    if (!repositories.length) return
    const controller = this.#controllers.getOrCreate(namespace)
    const startPolling = () => {
      for (const repository of repositories)
        if (this.#followed.get(repository.name)?.repository === repository) repository.startPolling(controller)
    }
    controller.add(repositories).then(startPolling).catch(this.#options.onError)
  }

  #stop(followed: FollowedGitSource): void {
    const { name, namespace } = followed.source
    this.#followed.delete(name)
    followed.abortController.abort()
    if (!followed.repository) return
    const stopped = this.#controllers
      .getOrCreate(namespace)
      .remove(followed.repository)
      .then(() => closeRepository(followed))
      .catch(this.#options.onError)
    this.#stopping.set(name, stopped)
  }

  /** Updates a source whose spec is unchanged: its annotations, permissions or status may have changed. */
  #updateUnchanged(followed: FollowedGitSource, source: GitSource): void {
    if (findReconcileRequest(source) !== followed.lastRequest) this.#handleRequest(followed, source)
    this.#approvePlan(followed)
    this.#applyNewPermissions(followed)
    if (!this.#options.statusWriter.isCompared(source.resource)) this.#statusController.update(source.name)
  }

  /** Handles the annotation that requests a reconciliation. */
  #handleRequest(followed: FollowedGitSource, source: GitSource): void {
    followed.lastRequest = findReconcileRequest(source)
    if (source.removal) this.#finalizer.add(source.name)
    else if (source.fault) {
      followed.source = source
      this.#statusController.setResult(followed, { fault: source.fault })
    } else this.#applyAgain(followed)
  }

  /** Approves the plan that the annotation of the resource names, if it is pending approval. */
  #approvePlan(followed: FollowedGitSource): void {
    const { resource } = this.#sources.get(followed.source.name) ?? followed.source
    const plan = resource.metadata.annotations?.[APPROVED_PLAN_ANNOTATION]
    if (plan === undefined || plan === followed.approvedPlan || !isReported(followed.result)) return
    if (!listPendingApprovals(followed.result.outcome).some((pending) => pending.plan === plan)) return
    followed.approvedPlan = plan
    approveByAnnotation(this.#service, resource, plan).then(
      () => this.#applyAgain(followed),
      (error: unknown) => {
        if (!(error instanceof ServiceError && error.code === 'forbidden')) return this.#options.onError(error)
        followed.refusedApproval = { plan, reason: error.reason ?? error.message }
        this.#statusController.update(followed.source.name)
      },
    )
  }

  /** Applies a source again if its permissions have changed since it was read. */
  #applyNewPermissions(followed: FollowedGitSource): void {
    if (followed.permissionsFingerprint === undefined) return
    const fingerprint = getPermissionsFingerprint(followed, this.#options.getPermissionInputs())
    if (fingerprint === followed.permissionsFingerprint) return
    followed.permissionsFingerprint = fingerprint
    this.#applyAgain(followed)
  }

  #applyAgain({ source, repository }: FollowedGitSource): void {
    if (!repository) return
    this.#controllers.getOrCreate(source.namespace).reconcile(repository).catch(this.#options.onError)
  }

  /** Records the status of a source after an attempt. */
  #recordStatus(source: FollowedSource, status: ReportedSourceStatus): void {
    const followed = this.#followed.get(source.name)
    if (!followed || followed.repository !== source) return
    if (status.isSuspended) followed.source = this.#sources.get(source.name) ?? followed.source
    if (listChangedRealms(status).length) delete followed.objectCount
    this.#statusController.setResult(followed, status)
    this.#approvePlan(followed)
  }
}

async function closeRepository({ repository }: FollowedGitSource): Promise<void> {
  await repository?.unwatch()
  await repository?.close()
}

const hasFault = ({ result }: FollowedGitSource) => typeof result === 'object' && 'fault' in result
