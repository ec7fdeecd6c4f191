// Many resources of Kubernetes, and what becomes of them at the API server.
import { limitConcurrency } from '../src/lib/timing/limit-concurrency.ts'
import type { Cluster } from '../src/operator/cluster.ts'
import type { Resource } from '../src/operator/resource.ts'
import { type Kept, ResourceWatch } from '../src/operator/watch.ts'

/** Of the objects of a realm, so many in ten. */
const SHARES = { RealmClient: 5, RealmRole: 3, RealmUser: 2 } as const
const PLURALS: Readonly<Record<string, string>> = {
  Realm: 'realms',
  RealmClient: 'realmclients',
  RealmRole: 'realmroles',
  RealmUser: 'realmusers',
}
/** Resources that are applied at a time. */
const AT_ONCE = 16

/** The resources of a namespace. */
export interface Resources {
  /** As they are now. */
  all(): Resource[]
  /** Resolves with the time when it is so. */
  until(what: () => boolean): Promise<number>
  /** `kubectl apply --server-side`. */
  apply(...resources: readonly Resource[]): Promise<void>
  /** Deletes all, and waits until they are gone: the server that has their finalizers must still run. */
  remove(): Promise<void>
}

/** Watches the namespace until it is told to end. */
export function resourcesIn(cluster: Cluster, namespace: string, signal: AbortSignal): Resources {
  const pathOf = (kind: string) => `/apis/regent.dev/v1alpha1/namespaces/${namespace}/${PLURALS[kind]}`
  const turn = limitConcurrency(AT_ONCE)
  let wake = Promise.withResolvers<void>()
  const changed = () => {
    wake.resolve()
    wake = Promise.withResolvers()
  }
  const failed = (error: unknown) => console.error(error)
  const told = { changed, failed }
  const kept: Kept[] = Object.keys(PLURALS).map(
    (kind) => new ResourceWatch(cluster, { path: pathOf(kind), told, signal }),
  )
  const all = () => kept.flatMap(({ resources }) => [...resources.values()])
  const until = async (what: () => boolean) => {
    while (!what()) await wake.promise
    return performance.now()
  }
  return {
    all,
    until,
    async apply(...resources) {
      const type = 'application/apply-patch+yaml'
      const address = ({ kind, metadata }: Resource) => `${pathOf(kind)}/${metadata.name}?fieldManager=bench`
      await Promise.all(resources.map((one) => turn(() => cluster.ask('PATCH', address(one), one, type))))
    },
    async remove() {
      for (const kind of Object.keys(PLURALS)) await cluster.ask('DELETE', pathOf(kind))
      await until(() => !all().length)
    },
  }
}

/** Whether what is stated is live. */
export const isReady = ({ status, metadata }: Resource): boolean =>
  status?.observedGeneration === metadata.generation &&
  status?.conditions?.some((one) => one.type === 'Ready' && one.status === 'True') === true

/** So many resources, in so many realms: their names hold the number of the realm. */
export function resourcesOf(count: number, realms: number): Resource[] {
  const kinds = Object.entries(SHARES).flatMap(([kind, share]) => Array.from({ length: share }, () => kind))
  return Array.from({ length: realms }, (_, realm) => realm).flatMap((realm) => {
    const realmRef = { name: `realm-${realm}` }
    const objects = Array.from({ length: count / realms - 1 }, (_, at) => {
      const kind = kinds[at % kinds.length]!
      return resource(kind, `${kind.slice(5).toLowerCase()}-${realm}-${at}`, { realmRef, ...specOf(kind, at) })
    })
    return [resource('Realm', realmRef.name, { realm: realmRef.name, enabled: true }), ...objects]
  })
}

function specOf(kind: string, at: number): object {
  if (kind === 'RealmRole') return { description: `Role ${at}` }
  if (kind === 'RealmUser') return { enabled: true, email: `person-${at}@example.com`, lastName: `Number ${at}` }
  return { name: `Client ${at}`, redirectUris: [`https://client-${at}.example.com/*`], publicClient: true }
}

/** A resource of Regent, as somebody writes it. */
export const resource = (kind: string, name: string, spec: object) =>
  ({ apiVersion: 'regent.dev/v1alpha1', kind, metadata: { name }, spec }) as unknown as Resource
