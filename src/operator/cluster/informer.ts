// Keeps what there is of one kind of resources: a list, and a watch that goes on from it, also after it was interrupted.
import { getBackOff } from '../lib/timing/back-off.ts'
import { type ReconcileResult, WorkQueue } from '../lib/timing/work-queue.ts'
import { type Cluster, ClusterError } from './cluster.ts'
import type { Resource } from './resource.ts'

/** What is kept of one kind, by namespace and name. */
export interface Kept {
  readonly resources: ReadonlyMap<string, Resource>
  /** Resolves when everything that there is was seen once, or nobody looks any more. */
  readonly seen: Promise<void>
  /** Keeps what the API server answered to a write, so that nobody works with what was there before. */
  put(resource: Resource): void
}

/** Who wants to know. */
export interface Told {
  /** Something is not as it was, or is known again after it could not be asked for. */
  changed(): void
  /** The API server cannot be asked: it is asked again. Told once as long as it is for the same reason. */
  failed(error: unknown): void
  /** There is no such kind: what was seen of it before stays, and it is looked for again. */
  readonly absent?: (() => void) | undefined
}

interface List {
  readonly metadata: { readonly resourceVersion: string; readonly continue?: string }
  readonly items: readonly Resource[] | null
}

interface Event {
  readonly type: string
  /** Of an ERROR, what the API server says instead. */
  readonly object: Resource & { readonly code?: number; readonly message?: string }
}

const PAGE = 500
/** Milliseconds until it is asked again, at first and at most. */
const [FIRST, LONGEST] = [250, 10_000]
/** Seconds after which a watch is begun anew, from where it was: so they do not all end together. */
const lifetime = () => 240 + Math.round(Math.random() * 120)

/** The resources that are watched, and who wants to know. */
export interface WatchOptions {
  /** The path of their list. */
  readonly path: string
  /** Further parameters, such as a selector. */
  readonly fields?: string
  readonly told: Told
  /** Ends the watch when it is aborted. */
  readonly signal: AbortSignal
}

/**
 * Watches resources until its signal is aborted: lists them, follows their events, and lists them again where these were lost. What
 * is not served, since its definition is not there, is taken for none, and looked for again.
 */
export class ResourceWatch implements Kept {
  readonly resources = new Map<string, Resource>()
  readonly seen: Promise<void>
  readonly #cluster: Cluster
  readonly #path: string
  readonly #fields: string
  readonly #told: Told
  readonly #signal: AbortSignal
  readonly #allSeen: () => void
  readonly #queue: WorkQueue<string>
  /** Where events are followed from; undefined: the resources are listed first. */
  #version: string | undefined
  /** The failure that was reported last. */
  #reason: string | undefined

  constructor(cluster: Cluster, { path, fields = '', told, signal }: WatchOptions) {
    this.#cluster = cluster
    this.#path = path
    this.#fields = fields
    this.#told = told
    this.#signal = signal
    const { promise, resolve } = Promise.withResolvers<void>()
    this.seen = promise
    this.#allSeen = resolve
    this.#queue = new WorkQueue(() => this.#reconcile(), { backOff: waitAfter })
    this.#queue.add(path)
    signal.addEventListener('abort', () => this.#end(), { once: true })
    if (signal.aborted) this.#end()
  }

  put(now: Resource): void {
    // The watch may have been faster with what came later, or with that it is gone.
    const before = this.resources.get(keyOf(now))
    if (before?.metadata.uid === now.metadata.uid && isLater(now, before)) this.#keep(now)
  }

  #end(): void {
    void this.#queue.close().then(this.#allSeen)
  }

  async #reconcile(): Promise<ReconcileResult> {
    try {
      this.#version ??= await this.#list()
      this.#version = await this.#follow(this.#version)
      this.#reason = undefined
      return { requeueAfter: waitAfter(1) }
    } catch (error) {
      if (!this.#signal.aborted) this.#fail(error)
      return { failed: true }
    }
  }

  /** Takes note of a failure. What is over with the next try is not reported, nor is the same reason twice. */
  #fail(error: unknown): void {
    const status = error instanceof ClusterError ? error.status : 500
    // Who does not answer may have another state when it does; who only refuses has the same.
    if ([404, 410].includes(status) || status >= 500) this.#version = undefined
    if (status === 404) this.#allSeen()
    if (!this.#queue.failures(this.#path) || String(error) === this.#reason) return
    this.#reason = String(error)
    if (status === 404) this.#told.absent?.()
    else this.#told.failed(error)
  }

  /** Lists what there is, page by page. Returns its version. */
  async #list(): Promise<string> {
    const all: Resource[] = []
    const known = new Map(this.resources)
    for (let rest = ''; ; ) {
      const query = `limit=${PAGE}&${this.#fields}${rest}`
      const page = await this.#cluster.ask<List>('GET', `${this.#path}?${query}`)
      all.push(...(page.items ?? []))
      const { resourceVersion, continue: more } = page.metadata
      if (!more) {
        this.#replace(all, known)
        return resourceVersion
      }
      rest = `&continue=${encodeURIComponent(more)}`
    }
  }

  /** Takes a list as what there is. `known`: what was kept when the list began. */
  #replace(all: readonly Resource[], known: ReadonlyMap<string, Resource>): void {
    const there = new Set(all.map(keyOf))
    for (const key of [...this.resources.keys()]) if (!there.has(key)) this.#remove(key)
    for (const one of all) {
      const now = this.resources.get(keyOf(one))
      // It may also be what was there earlier, where the cluster was restored; but what was written meanwhile is later.
      if (now !== known.get(keyOf(one))) this.#advance(one)
      else if (!isSame(one, now)) this.#keep(one)
    }
    this.#told.changed()
    this.#allSeen()
  }

  /**
   * Follows events until the watch ends or breaks off. Returns where to go on, if there were any. Throws where it is refused, or
   * over at once.
   */
  async #follow(from: string): Promise<string | undefined> {
    let version = from
    let hasTold = false
    const begun = performance.now()
    const isOverAtOnce = () => !hasTold && performance.now() - begun < LONGEST
    let refused: ClusterError | undefined
    const query = `watch=true&allowWatchBookmarks=true&timeoutSeconds=${lifetime()}&resourceVersion=${version}&${this.#fields}`
    const line = (text: string) => {
      const { type, object } = eventIn(text)
      if (type === 'ERROR') {
        refused = new ClusterError(object.code ?? 500, object.message ?? 'the watch has failed')
        return
      }
      hasTold = true
      version = object.metadata.resourceVersion
      if (type === 'DELETED') this.#remove(keyOf(object))
      else if (type !== 'BOOKMARK') this.#advance(object)
    }
    await this.#cluster.lines(`${this.#path}?${query}`, line, this.#signal).catch((error: unknown) => {
      if (isOverAtOnce()) throw error
    })
    if (refused) throw refused
    if (isOverAtOnce()) throw new Error(`${this.#path}: the watch was over at once`)
    return hasTold ? version : undefined
  }

  /** Keeps what an event has, unless a later version is known from the answer to a write. */
  #advance(now: Resource): void {
    const before = this.resources.get(keyOf(now))
    if (before?.metadata.uid !== now.metadata.uid || isLater(now, before)) this.#keep(now)
  }

  #keep(now: Resource): void {
    this.resources.set(keyOf(now), now)
    this.#told.changed()
  }

  #remove(key: string): void {
    this.resources.delete(key)
    this.#told.changed()
  }
}

/** Returns the milliseconds to wait after so many consecutive failures. */
function waitAfter(failures: number): number {
  return getBackOff(failures, FIRST, LONGEST)
}

function keyOf({ metadata: { namespace, name } }: Resource): string {
  return `${namespace ?? ''}/${name}`
}

function eventIn(line: string): Event {
  try {
    return JSON.parse(line) as Event
  } catch {
    throw new Error('a watch broke off within a line')
  }
}

const isLater = (now: Resource, before: Resource) =>
  BigInt(now.metadata.resourceVersion) > BigInt(before.metadata.resourceVersion)

const isSame = ({ metadata }: Resource, before: Resource | undefined) =>
  metadata.uid === before?.metadata.uid && metadata.resourceVersion === before.metadata.resourceVersion
