// The part of a cluster that a server reads: all namespaces or some, resources of one class, and the Secrets that it may read.
import type { ClusterClient } from './cluster-client.ts'
import { Informer, type InformerHandler, type ResourceCache } from './informer.ts'
import { type ApiObject, CLASS_LABEL, type Resource, SECRET_LABEL } from './resource.ts'

/** The part of a cluster that a server reads. Without any field, it is the whole cluster. */
export interface WatchScope {
  /** The namespaces that are read. Default: all, which requires permissions for the cluster. */
  readonly namespaces?: readonly string[] | undefined
  /** The names of the Secrets that are read. Default: those with the label `regent.dev/secret`. */
  readonly secretNames?: readonly string[] | undefined
  /** The class of the resources that are read. Default: resources without a class. */
  readonly className?: string | undefined
}

/** A kind of resources in the API. */
export interface ApiKind {
  /** Path of the API group and version, such as `/apis/regent.dev/v1alpha1`. */
  readonly group: string
  readonly plural: string
  /** Whether its resources may have a class. Default: true. */
  readonly hasClass?: boolean
}

const SECRETS: ApiKind = { group: '/api/v1', plural: 'secrets' }

/** Lists and watches of resources: their handler, and the signal that ends them. */
export interface WatchOptions {
  readonly scope: WatchScope
  readonly handler: InformerHandler
  readonly signal: AbortSignal
}

/** A list of resources: its path, and its label or field selector as a URL query. */
export interface ListRequest {
  readonly path: string
  readonly selector: string
}

/** Returns the lists that read resources of a kind in a scope. */
export function toListRequests(
  { group, plural, hasClass = true }: ApiKind,
  { namespaces, className }: WatchScope,
): ListRequest[] {
  const labels = className === undefined ? `!${CLASS_LABEL}` : `${CLASS_LABEL}=${className}`
  const selector = hasClass ? toSelector('labelSelector', labels) : ''
  return listPaths(group, plural, namespaces).map((path) => ({ path, selector }))
}

/** Returns the lists that read Secrets in a scope. */
export function toSecretRequests({ namespaces, secretNames }: WatchScope): ListRequest[] {
  const selectors = secretNames?.map((name) => toSelector('fieldSelector', `metadata.name=${name}`)) ?? [
    toSelector('labelSelector', `${SECRET_LABEL}=true`),
  ]
  return listPaths(SECRETS.group, SECRETS.plural, namespaces).flatMap((path) =>
    selectors.map((selector) => ({ path, selector })),
  )
}

/** Watches the resources of a kind. */
export function watchKind(client: ClusterClient, kind: ApiKind, options: WatchOptions): ResourceCache {
  return watchLists(client, toListRequests(kind, options.scope), options)
}

/** Watches the Secrets that may be read. */
export function watchSecrets(client: ClusterClient, options: WatchOptions): ResourceCache {
  return watchLists(client, toSecretRequests(options.scope), options)
}

function watchLists(
  client: ClusterClient,
  requests: readonly ListRequest[],
  { handler, signal }: WatchOptions,
): ResourceCache {
  const informers = requests.map((request) => new Informer(client, { ...request, handler, signal }))
  return informers.length === 1 ? informers[0]! : mergeCaches(informers)
}

function mergeCaches<R extends ApiObject = Resource>(caches: readonly ResourceCache<R>[]): ResourceCache<R> {
  const find: ResourceCache<R>['find'] = (namespace, name) => {
    for (const cache of caches) {
      const resource = cache.find(namespace, name)
      if (resource) return resource
    }
    return undefined
  }
  return {
    find,
    list: () => caches.flatMap((cache) => cache.list()),
    synced: Promise.all(caches.map(({ synced }) => synced)).then(() => {}),
    put(resource) {
      // A cache ignores resources that it does not hold.
      for (const cache of caches) cache.put(resource)
    },
    getFailure: () => caches.map((cache) => cache.getFailure()).find((failure) => failure !== undefined),
  }
}

function listPaths(group: string, plural: string, namespaces: readonly string[] | undefined): string[] {
  return namespaces?.map((namespace) => `${group}/namespaces/${namespace}/${plural}`) ?? [`${group}/${plural}`]
}

const toSelector = (kind: 'labelSelector' | 'fieldSelector', text: string): string =>
  `${kind}=${encodeURIComponent(text)}`
