// An informer: keeps a local copy of the resources of one kind up to date by a list and a watch.
import { getBackOff } from '../../lib/timing/back-off.ts'
import { type ReconcileResult, WorkQueue } from '../../lib/timing/work-queue.ts'
import { type ClusterClient, ClusterError } from './cluster-client.ts'
import { listResources } from './list-resources.ts'
import type { ApiObject, Resource } from './resource.ts'

/** A local copy of the resources of one kind. */
export interface ResourceCache<R extends ApiObject = Resource> {
  list(): R[]
  /** Finds a resource. `namespace`: empty for a cluster-scoped one. */
  find(namespace: string, name: string): R | undefined
  /** Resolves after the first complete list, or when the informer has stopped. */
  readonly synced: Promise<void>
  /** Stores the response of a write, so that it is visible before the watch reports it. Ignores outdated versions. */
  put(resource: R): void
  /** Returns why the resources cannot be read now, and since when; undefined if they can. */
  getFailure(): ReadFailure | undefined
}

/** A failure to read resources. */
export interface ReadFailure {
  /** The time of the first of consecutive failures, in milliseconds of `performance.now()`. */
  readonly since: number
  readonly error: unknown
}

/** A handler of the events of informers. */
export interface InformerHandler {
  /** Called after a resource was added, changed or deleted, and after each complete list. */
  onChange(): void
  /** Called when the API server cannot be queried, once per distinct error. The informer retries. */
  onError(error: unknown): void
  /** Called instead if the API server does not serve the kind. The cached resources stay, and the informer retries. */
  readonly onKindMissing?: (() => void) | undefined
}

/** An event of a watch. */
interface WatchEvent<R> {
  readonly type: string
  /** The resource; for an event of type ERROR, a `Status` object. */
  readonly object: R & { readonly code?: number; readonly message?: string }
}

/** Milliseconds until the first retry, and at most. */
const [MIN_DELAY, MAX_DELAY] = [250, 10_000]
/** Returns the seconds until a watch ends and is continued by another one. Random, so that watches do not end together. */
const getWatchTimeout = () => 240 + Math.round(Math.random() * 120)

/** Options of an informer. */
export interface InformerOptions {
  /** Path of the list. */
  readonly path: string
  /** A label or field selector, as a URL query. */
  readonly selector?: string
  readonly handler: InformerHandler
  /** Stops the informer when it is aborted. */
  readonly signal: AbortSignal
}

/**
 * Lists resources, follows their events, and lists them again if events were lost. A kind that the API server does not serve counts
 * as an empty list until it is served.
 */
export class Informer<R extends ApiObject = Resource> implements ResourceCache<R> {
  readonly synced: Promise<void>
  /** The resources by `namespace/name`. */
  readonly #resources = new Map<string, R>()
  readonly #client: ClusterClient
  readonly #path: string
  readonly #selector: string
  readonly #handler: InformerHandler
  readonly #signal: AbortSignal
  readonly #markSynced: () => void
  readonly #queue: WorkQueue<string>
  /** The resource version from which the watch continues; undefined if the resources must be listed first. */
  #resourceVersion: string | undefined
  /** The last reported error. */
  #reportedError: string | undefined
  #failure: ReadFailure | undefined

  constructor(client: ClusterClient, { path, selector = '', handler, signal }: InformerOptions) {
    this.#client = client
    this.#path = path
    this.#selector = selector
    this.#handler = handler
    this.#signal = signal
    const { promise, resolve } = Promise.withResolvers<void>()
    this.synced = promise
    this.#markSynced = resolve
    this.#queue = new WorkQueue(() => this.#reconcile(), { backOff: getDelay })
    this.#queue.add(path)
    signal.addEventListener('abort', () => this.#stop(), { once: true })
    if (signal.aborted) this.#stop()
  }

  list(): R[] {
    return [...this.#resources.values()]
  }

  find(namespace: string, name: string): R | undefined {
    return this.#resources.get(`${namespace}/${name}`)
  }

  getFailure(): ReadFailure | undefined {
    return this.#failure
  }

  put(resource: R): void {
    // The watch may have reported a later version, or the deletion, before the response of the write arrived.
    const cached = this.#resources.get(getKey(resource))
    if (cached?.metadata.uid === resource.metadata.uid && isNewer(resource, cached)) this.#store(resource)
  }

  #stop(): void {
    void this.#queue.close().then(this.#markSynced)
  }

  async #reconcile(): Promise<ReconcileResult> {
    try {
      this.#resourceVersion ??= await this.#list()
      this.#failure = undefined
      this.#resourceVersion = await this.#watch(this.#resourceVersion)
      this.#reportedError = undefined
      return { requeueAfter: getDelay(1) }
    } catch (error) {
      if (!this.#signal.aborted) this.#handleFailure(error)
      return { failed: true }
    }
  }

  /** Decides whether to list again, and reports the failure: not the first one, which is often transient, and no error twice. */
  #handleFailure(error: unknown): void {
    const status = error instanceof ClusterError ? error.status : 500
    if (status !== 429) {
      // The list shows whether the resources can be read again. A server that failed may have other ones by then.
      this.#resourceVersion = undefined
      // A kind that is not installed has no resources.
      if (![404, 410].includes(status)) this.#failure ??= { since: performance.now(), error }
    }
    if (status === 404) this.#markSynced()
    // A watch whose resource version is too old is continued by a list.
    if (status === 410 || !this.#queue.failures(this.#path) || String(error) === this.#reportedError) return
    this.#reportedError = String(error)
    if (status === 404) this.#handler.onKindMissing?.()
    else this.#handler.onError(error)
  }

  /** Lists all resources. Returns the resource version of the list. */
  async #list(): Promise<string> {
    const before = new Map(this.#resources)
    const { items, resourceVersion } = await listResources<R>(this.#client, this.#path, this.#selector)
    this.#replace(items, before)
    return resourceVersion
  }

  /** Replaces the cached resources by those of a list. `before`: the cached resources when the list began. */
  #replace(listed: readonly R[], before: ReadonlyMap<string, R>): void {
    const listedKeys = new Set(listed.map(getKey))
    for (const key of [...this.#resources.keys()]) if (!listedKeys.has(key)) this.#remove(key)
    for (const resource of listed) {
      const cached = this.#resources.get(getKey(resource))
      // The list may hold an older version if the cluster was restored. What was written since the list began is newer.
      if (cached !== before.get(getKey(resource))) this.#update(resource)
      else if (!isSameVersion(resource, cached)) this.#store(resource)
    }
    this.#handler.onChange()
    this.#markSynced()
  }

  /**
   * Follows events from a resource version until the watch ends. Returns the version from which to continue; undefined if there
   * was no event. Throws if the watch is refused, or ends at once.
   */
  async #watch(from: string): Promise<string | undefined> {
    const startedAt = performance.now()
    let version: string | undefined
    let refusal: ClusterError | undefined
    const hasEndedAtOnce = () => version === undefined && performance.now() - startedAt < MAX_DELAY
    const query = `watch=true&allowWatchBookmarks=true&timeoutSeconds=${getWatchTimeout()}&resourceVersion=${from}&${this.#selector}`
    const handleLine = (line: string) => {
      const event = parseEvent<R>(line)
      const { code = 500, message = 'The watch has failed.', metadata } = event.object
      if (event.type === 'ERROR') {
        refusal = new ClusterError(code, message)
        return
      }
      version = metadata.resourceVersion
      this.#handleEvent(event)
    }
    await this.#client.streamLines(`${this.#path}?${query}`, handleLine, this.#signal).catch((error: unknown) => {
      if (hasEndedAtOnce()) throw error
    })
    if (refusal) throw refusal
    if (hasEndedAtOnce()) throw new ClusterError(500, `The watch of ${this.#path} ended at once.`)
    return version
  }

  #handleEvent({ type, object }: WatchEvent<R>): void {
    if (type === 'DELETED') this.#remove(getKey(object))
    else if (type !== 'BOOKMARK') this.#update(object)
  }

  /** Stores a resource unless a newer version of it is cached, from the response of a write. */
  #update(resource: R): void {
    const cached = this.#resources.get(getKey(resource))
    if (cached?.metadata.uid !== resource.metadata.uid || isNewer(resource, cached)) this.#store(resource)
  }

  #store(resource: R): void {
    this.#resources.set(getKey(resource), resource)
    this.#handler.onChange()
  }

  #remove(key: string): void {
    this.#resources.delete(key)
    this.#handler.onChange()
  }
}

/** Returns the milliseconds to wait after so many consecutive failures. */
function getDelay(failures: number): number {
  return getBackOff(failures, MIN_DELAY, MAX_DELAY)
}

function getKey({ metadata: { namespace, name } }: ApiObject): string {
  return `${namespace ?? ''}/${name}`
}

function parseEvent<R>(line: string): WatchEvent<R> {
  try {
    return JSON.parse(line)
  } catch {
    throw new ClusterError(500, 'A watch ended within a line.')
  }
}

const isNewer = (resource: ApiObject, other: ApiObject) =>
  BigInt(resource.metadata.resourceVersion) > BigInt(other.metadata.resourceVersion)

const isSameVersion = ({ metadata }: ApiObject, other: ApiObject | undefined) =>
  metadata.uid === other?.metadata.uid && metadata.resourceVersion === other.metadata.resourceVersion
