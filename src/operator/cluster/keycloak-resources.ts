// Watches the resources of Keycloak's operator for realms and clients, in a version that the cluster serves.
import { WorkQueue } from '../../lib/timing/work-queue.ts'
import { type ClusterClient, ClusterError } from './cluster-client.ts'
import type { ResourceCache } from './informer.ts'
import type { Resource } from './resource.ts'
import { type WatchOptions, watchKind } from './watch-scope.ts'

const GROUP = '/apis/k8s.keycloak.org'

/** The resources that Regent reads, by their kind. */
const plurals: Readonly<Record<string, string>> = {
  KeycloakRealmImport: 'keycloakrealmimports',
  KeycloakOIDCClient: 'keycloakoidcclients',
  KeycloakSAMLClient: 'keycloaksamlclients',
}

/** The versions that Regent reads, in order of preference. */
const VERSIONS = ['v2beta1', 'v2alpha1']
/** Milliseconds between two looks for served versions, which need no permission. */
const DISCOVERY_INTERVAL = 10_000

/** The versions of an API group, as the API server lists them. */
interface ApiGroup {
  readonly versions: readonly { readonly version: string }[]
}
/** The resources of a version of an API group. */
interface ApiResources {
  readonly resources: readonly { readonly name: string }[]
}

/** The watch of one version. */
interface VersionWatch {
  readonly version: string
  readonly cache: ResourceCache
  readonly abort: AbortController
}

/** The resources of Keycloak's operator. */
export interface KeycloakResources {
  /** Resolves after the first look for served versions, and the first list of each. */
  readonly synced: Promise<void>
  list(): Resource[]
  findCache(kind: string): ResourceCache | undefined
}

/** Watches resources of Keycloak's operator until the signal is aborted. There are none until their definitions are installed. */
export function watchKeycloakResources(client: ClusterClient, options: WatchOptions): KeycloakResources {
  return new KeycloakResourceWatch(client, options)
}

class KeycloakResourceWatch implements KeycloakResources {
  readonly synced: Promise<void>
  readonly #client: ClusterClient
  readonly #options: WatchOptions
  /** The watched version of each kind. */
  readonly #watches = new Map<string, VersionWatch>()
  readonly #queue: WorkQueue<string>

  constructor(client: ClusterClient, options: WatchOptions) {
    this.#client = client
    this.#options = options
    const { promise, resolve } = Promise.withResolvers<void>()
    this.synced = promise
    this.#queue = new WorkQueue(
      async () => {
        await this.#discover()
        resolve()
        return { requeueAfter: DISCOVERY_INTERVAL }
      },
      { backOff: () => DISCOVERY_INTERVAL },
    )
    this.#queue.add(GROUP)
    const stop = () => void this.#queue.close().then(resolve)
    options.signal.addEventListener('abort', stop, { once: true })
    if (options.signal.aborted) stop()
  }

  list(): Resource[] {
    return [...this.#watches.values()].flatMap(({ cache }) => cache.list())
  }

  findCache(kind: string): ResourceCache | undefined {
    return this.#watches.get(kind)?.cache
  }

  /** Watches each kind in the preferred version that is served. A kind that is not served any more keeps its watch. */
  async #discover(): Promise<void> {
    const served = await this.#listServed()
    for (const [kind, plural] of Object.entries(plurals)) {
      const version = VERSIONS.find((candidate) => served.get(candidate)?.has(plural))
      const current = this.#watches.get(kind)
      const isServed = current && served.get(current.version)?.has(plural)
      if (version !== undefined && !isServed) await this.#replace(kind, version)
    }
  }

  /** Watches another version of a kind. The resources of the former one stay until those of the new one are read. */
  async #replace(kind: string, version: string): Promise<void> {
    const abort = new AbortController()
    const signal = AbortSignal.any([this.#options.signal, abort.signal])
    const apiKind = { group: `${GROUP}/${version}`, plural: plurals[kind]! }
    const cache = watchKind(this.#client, apiKind, { ...this.#options, signal })
    await cache.synced
    this.#watches.get(kind)?.abort.abort()
    this.#watches.set(kind, { version, cache, abort })
    this.#options.handler.onChange()
  }

  /** Returns the resources of each served version. */
  async #listServed(): Promise<Map<string, Set<string>>> {
    const group = await this.#read<ApiGroup>(GROUP)
    const served = new Map<string, Set<string>>()
    for (const { version } of group?.versions ?? []) {
      if (!VERSIONS.includes(version)) continue
      const { resources = [] } = (await this.#read<ApiResources>(`${GROUP}/${version}`)) ?? {}
      served.set(version, new Set(resources.map(({ name }) => name)))
    }
    return served
  }

  async #read<T>(path: string): Promise<T | undefined> {
    try {
      return await this.#client.request<T>('GET', path)
    } catch (error) {
      if (error instanceof ClusterError && error.status === 404) return undefined
      throw error
    }
  }
}
