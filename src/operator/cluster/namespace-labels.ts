// The labels of namespaces: watched in the whole cluster, or read again and again for some namespaces, which needs no cluster role.
import { isDeepStrictEqual } from 'node:util'
import { WorkQueue } from '../../lib/timing/work-queue.ts'
import { type ClusterClient, ClusterError } from './cluster-client.ts'
import { Informer } from './informer.ts'
import type { ApiObject } from './resource.ts'
import type { WatchOptions } from './watch-scope.ts'

/** Labels of a namespace. */
export type NamespaceLabels = Readonly<Record<string, string>>

/** The labels of namespaces, as they were last read. */
export interface NamespaceLabelCache {
  /** Resolves when the labels were read, or may not be read. */
  readonly synced: Promise<void>
  /** Returns the labels of a namespace; none if it was not read. A bound function. */
  readonly get: (namespace: string) => NamespaceLabels
}

/** Milliseconds between two reads of the labels of a namespace. A role of a namespace cannot permit to watch the namespace itself. */
const READ_INTERVAL = 15_000
const NO_LABELS: NamespaceLabels = {}

/** Keeps the labels of namespaces up to date until the signal is aborted. */
export function watchNamespaceLabels(client: ClusterClient, options: WatchOptions): NamespaceLabelCache {
  const { namespaces } = options.scope
  if (namespaces) return new PolledNamespaces(client, namespaces, options)
  const informer = new Informer<ApiObject>(client, { path: '/api/v1/namespaces', ...options })
  return {
    synced: informer.synced,
    get: (namespace) => informer.find('', namespace)?.metadata.labels ?? NO_LABELS,
  }
}

class PolledNamespaces implements NamespaceLabelCache {
  readonly synced: Promise<void>
  readonly #client: ClusterClient
  readonly #options: WatchOptions
  readonly #labels = new Map<string, NamespaceLabels>()
  readonly #queue: WorkQueue<string>
  readonly #markSynced: () => void
  /** Namespaces that were not read yet. */
  readonly #unread: Set<string>

  constructor(client: ClusterClient, namespaces: readonly string[], options: WatchOptions) {
    this.#client = client
    this.#options = options
    this.#unread = new Set(namespaces)
    const { promise, resolve } = Promise.withResolvers<void>()
    this.synced = promise
    this.#markSynced = resolve
    this.#queue = new WorkQueue(
      async (namespace) => {
        await this.#read(namespace)
        return { requeueAfter: READ_INTERVAL }
      },
      { backOff: () => READ_INTERVAL },
    )
    for (const namespace of namespaces) this.#queue.add(namespace)
    const stop = () => void this.#queue.close().then(resolve)
    options.signal.addEventListener('abort', stop, { once: true })
    if (options.signal.aborted) stop()
  }

  readonly get = (namespace: string): NamespaceLabels => this.#labels.get(namespace) ?? NO_LABELS

  async #read(namespace: string): Promise<void> {
    try {
      const { metadata } = await this.#client.request<ApiObject>('GET', `/api/v1/namespaces/${namespace}`)
      this.#store(namespace, metadata.labels ?? NO_LABELS)
    } catch (error) {
      if (!(error instanceof ClusterError)) throw error
      // A namespace that does not exist has no labels.
      if (error.status === 404) this.#store(namespace, NO_LABELS)
      else if (this.#unread.has(namespace)) this.#options.handler.onError(error)
    }
    this.#unread.delete(namespace)
    if (this.#unread.size === 0) this.#markSynced()
  }

  #store(namespace: string, labels: NamespaceLabels): void {
    const isChanged = !isDeepStrictEqual(this.get(namespace), labels)
    this.#labels.set(namespace, labels)
    if (isChanged) this.#options.handler.onChange()
  }
}
