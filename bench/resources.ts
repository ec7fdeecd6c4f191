// Creates many Kubernetes resources, and watches them at the API server.
import { setTimeout as delay } from 'node:timers/promises'
import { limitConcurrency } from '../src/lib/timing/limit-concurrency.ts'
import type { ClusterClient } from '../src/operator/cluster/cluster-client.ts'
import { Informer } from '../src/operator/cluster/informer.ts'
import type { Resource } from '../src/operator/cluster/resource.ts'

/** Of ten objects of a realm, the number of each kind. */
const SHARES = { RealmClient: 5, RealmRole: 3, RealmUser: 2 } as const
const PLURALS: Readonly<Record<string, string>> = {
  Realm: 'realms',
  RealmClient: 'realmclients',
  RealmRole: 'realmroles',
  RealmUser: 'realmusers',
}
/** Resources that are applied concurrently. */
const CONCURRENCY = 16

/** A resource without the fields that the API server adds. */
export interface AuthoredResource {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly name: string }
  readonly spec: object
}

/** The resources of a namespace, kept up to date by watches. */
export interface WatchedResources {
  list(): Resource[]
  /**
   * Waits until the condition holds, and returns the time of it, as `performance.now()`. It is checked after each change, but not more
   * often than after so many milliseconds.
   */
  waitUntil(condition: () => boolean, interval?: number): Promise<number>
  /** Applies the resources like `kubectl apply --server-side`. */
  apply(...resources: readonly AuthoredResource[]): Promise<void>
  /** Deletes all resources and waits until they are deleted. The operator must still run, since they have its finalizers. */
  remove(): Promise<void>
}

/** Watches the resources of a namespace until the signal is aborted. */
export function watchResources(cluster: ClusterClient, namespace: string, signal: AbortSignal): WatchedResources {
  const pathOf = (kind: string) => `/apis/regent.dev/v1alpha1/namespaces/${namespace}/${PLURALS[kind]}`
  const limit = limitConcurrency(CONCURRENCY)
  let nextChange = Promise.withResolvers<void>()
  const changed = () => {
    nextChange.resolve()
    nextChange = Promise.withResolvers()
  }
  const failed = (error: unknown) => console.error(error)
  const watches = Object.keys(PLURALS).map(
    (kind) => new Informer(cluster, { path: pathOf(kind), handler: { onChange: changed, onError: failed }, signal }),
  )
  const list = () => watches.flatMap((watch) => watch.list())
  const waitUntil = async (condition: () => boolean, interval = 0) => {
    while (!condition()) {
      await nextChange.promise
      if (interval) await delay(interval)
    }
    return performance.now()
  }
  return {
    list,
    waitUntil,
    async apply(...resources) {
      const type = 'application/apply-patch+yaml'
      const toPath = ({ kind, metadata }: AuthoredResource) => `${pathOf(kind)}/${metadata.name}?fieldManager=bench`
      await Promise.all(
        resources.map((resource) => limit(() => cluster.request('PATCH', toPath(resource), { body: resource, type }))),
      )
    },
    async remove() {
      for (const kind of Object.keys(PLURALS)) await cluster.request('DELETE', pathOf(kind))
      await waitUntil(() => !list().length)
    },
  }
}

/** Whether the operator has applied the latest generation of the resource. */
export const isReady = ({ status, metadata }: Resource): boolean =>
  status?.observedGeneration === metadata.generation &&
  status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') === true

/** Returns this many resources in this many realms. The names of the objects contain the number of their realm. */
export function createResources(resourceCount: number, realmCount: number): AuthoredResource[] {
  const kinds = Object.entries(SHARES).flatMap(([kind, share]) => Array.from({ length: share }, () => kind))
  return Array.from({ length: realmCount }, (_, realm) => realm).flatMap((realm) => {
    const realmRef = { name: `realm-${realm}` }
    const objects = Array.from({ length: resourceCount / realmCount - 1 }, (_, at) => {
      const kind = kinds[at % kinds.length]!
      return createResource(kind, `${kind.slice(5).toLowerCase()}-${realm}-${at}`, {
        realmRef,
        ...createSpec(kind, at),
      })
    })
    return [createResource('Realm', realmRef.name, { realm: realmRef.name, enabled: true }), ...objects]
  })
}

function createSpec(kind: string, at: number): object {
  if (kind === 'RealmRole') return { description: `Role ${at}` }
  if (kind === 'RealmUser') return { enabled: true, email: `user-${at}@example.com`, lastName: `Number ${at}` }
  return { name: `Client ${at}`, redirectUris: [`https://client-${at}.example.com/*`], publicClient: true }
}

/** Returns a resource as its author writes it. */
export function createResource(kind: string, name: string, spec: object): AuthoredResource {
  return { apiVersion: 'regent.dev/v1alpha1', kind, metadata: { name }, spec }
}
