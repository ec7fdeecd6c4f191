// A cache of the cluster: one informer for each kind of Regent's resources, for namespaces, and for the Secrets that may be read.
import { kinds } from '../../kinds/index.ts'
import { API_GROUP, API_VERSION } from '../../kinds/resource-kinds.ts'
import { type ClusterClient, ClusterError } from './cluster-client.ts'
import type { ReadFailure, ResourceCache } from './informer.ts'
import { watchKeycloakResources } from './keycloak-resources.ts'
import { watchNamespaceLabels } from './namespace-labels.ts'
import { type Resource, readSecretText } from './resource.ts'
import { getResourceNames, type ResourceNames, realmSourceNames } from './resource-names.ts'
import {
  toListRequests,
  toSecretRequests,
  type WatchOptions,
  type WatchScope,
  watchKind,
  watchSecrets,
} from './watch-scope.ts'

/** A key of a Secret. */
export interface SecretKey {
  readonly namespace: string
  /** Name of the Secret. */
  readonly name: string
  /** Its name. `*.agekey` is all keys that end with `.agekey`, whose texts are one below the other. */
  readonly key: string
}

/** Finds the text of a key of a Secret; undefined if it does not exist, or may not be read: by default, if it lacks the label `regent.dev/secret`. */
export type FindSecretText = (key: SecretKey) => string | undefined

/** The state of the cluster at one time. */
export interface ClusterSnapshot {
  /** The resources that declare realms and their objects. */
  readonly resources: readonly Resource[]
  readonly realmSources: readonly Resource[]
  readonly getNamespaceLabels: (namespace: string) => Readonly<Record<string, string>>
  readonly findSecretText: FindSecretText
}

/** A local copy of the cluster that informers keep up to date. */
export interface ClusterCache {
  /** Resolves after the first complete list of every kind. */
  readonly synced: Promise<unknown>
  getSnapshot(): ClusterSnapshot
  /** Returns the latest version of a resource; undefined if it was deleted. */
  findLatest(resource: Resource): Resource | undefined
  /** Returns a Secret that may be read. */
  findSecret(namespace: string, name: string): Resource | undefined
  /** Returns the Secrets that may be read in a namespace. */
  listSecrets(namespace: string): Resource[]
  /** Returns the longest failure to read resources of some kind; undefined if all can be read. */
  findFailure(): ReadFailure | undefined
  /** Stores the response of a write. */
  put(resource: Resource): void
}

/** Returns a function that finds texts of cached Secrets. */
export function createSecretLookup(secrets: ResourceCache): FindSecretText {
  return ({ namespace, name, key }) => {
    const secret = secrets.find(namespace, name)
    return secret && (key.startsWith('*') ? joinTexts(secret, key.slice(1)) : readSecretText(secret, key))
  }
}

function joinTexts(secret: Resource, ending: string): string | undefined {
  const keys = Object.keys(secret.data ?? {}).filter((key) => key.endsWith(ending))
  return keys.length ? keys.map((key) => readSecretText(secret, key)).join('\n') : undefined
}

/** Lists one resource of each kind that a cache reads. Returns the first error of those that cannot be read; undefined if all can. */
export async function findReadError(client: ClusterClient, scope: WatchScope): Promise<unknown> {
  const names = [...Object.values(kinds).map(getResourceNames), realmSourceNames]
  const requests = [
    ...names.flatMap(({ plural }) => toListRequests({ group: `/apis/${API_VERSION}`, plural }, scope)),
    ...toSecretRequests(scope),
  ]
  const results = await Promise.allSettled(
    requests.map(({ path, selector }) => client.request('GET', `${path}?limit=1&${selector}`)),
  )
  return results
    .flatMap((result) => (result.status === 'rejected' ? [result.reason] : []))
    .find((error) => !(error instanceof ClusterError && error.status === 404))
}

/** Watches the cluster until the signal is aborted. */
export function watchCluster(client: ClusterClient, options: WatchOptions): ClusterCache {
  const { handler } = options
  const watchResources = ({ kind, plural }: ResourceNames) => {
    const message = `${client.server} does not serve ${kind}. Install the definitions: kubectl apply --server-side -f crds/`
    const onKindMissing = () => handler.onError(new Error(message))
    const apiKind = { group: `/apis/${API_VERSION}`, plural }
    return watchKind(client, apiKind, { ...options, handler: { ...handler, onKindMissing } })
  }
  const objects = new Map(
    Object.values(kinds).map((kind) => {
      const names = getResourceNames(kind)
      return [names.kind, watchResources(names)] as const
    }),
  )
  const realmSources = watchResources(realmSourceNames)
  const ofKeycloak = watchKeycloakResources(client, options)
  const namespaceLabels = watchNamespaceLabels(client, options)
  const secrets = watchSecrets(client, options)
  const caches = [...objects.values(), realmSources, secrets]
  const findCache = (kind: string) => (kind === realmSourceNames.kind ? realmSources : objects.get(kind))
  return {
    synced: Promise.all([...caches, ofKeycloak, namespaceLabels].map(({ synced }) => synced)),
    getSnapshot: () => ({
      resources: [...[...objects.values()].flatMap((cache) => cache.list()), ...ofKeycloak.list()],
      realmSources: realmSources.list(),
      getNamespaceLabels: namespaceLabels.get,
      findSecretText: createSecretLookup(secrets),
    }),
    findLatest({ kind, metadata: { namespace = '', name, uid } }) {
      const latest = (findCache(kind) ?? ofKeycloak.findCache(kind))?.find(namespace, name)
      return latest?.metadata.uid === uid ? latest : undefined
    },
    findSecret: (namespace, name) => secrets.find(namespace, name),
    listSecrets: (namespace) => secrets.list().filter(({ metadata }) => metadata.namespace === namespace),
    findFailure: () => caches.flatMap((cache) => cache.getFailure() ?? []).sort((a, b) => a.since - b.since)[0],
    put(resource) {
      if (resource.kind === 'Secret') secrets.put(resource)
      else if (resource.apiVersion.startsWith(API_GROUP)) findCache(resource.kind)?.put(resource)
    },
  }
}
