// A cache of the cluster: one informer for each kind of Regent's resources, for namespaces, and for the Secrets that may be read.
import { kinds } from '../../kinds/index.ts'
import { API_GROUP, API_VERSION } from '../../kinds/resource-kinds.ts'
import type { ClusterClient } from './cluster-client.ts'
import { Informer, type InformerHandler, type ResourceCache } from './informer.ts'
import { keycloakPlurals, watchKeycloakResources } from './keycloak-resources.ts'
import { type Resource, SECRET_LABEL } from './resource.ts'
import { getResourceNames, type ResourceNames, realmSourceNames } from './resource-names.ts'

/** A key of a Secret. */
export interface SecretKey {
  readonly namespace: string
  /** Name of the Secret. */
  readonly name: string
  readonly key: string
}

/** Finds the text of a key of a Secret; undefined if it does not exist, or lacks the label `regent.dev/secret`. */
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
  /** Returns a Secret with the label `regent.dev/secret`. */
  findSecret(namespace: string, name: string): Resource | undefined
  /** Stores the response of a write. */
  put(resource: Resource): void
}

/** Path and selector of the Secrets that may be read. */
export const SECRETS_QUERY = {
  path: '/api/v1/secrets',
  selector: `labelSelector=${encodeURIComponent(`${SECRET_LABEL}=true`)}`,
} as const

/** Returns a function that finds texts of cached Secrets. */
export function createSecretLookup({ resources }: ResourceCache): FindSecretText {
  return ({ namespace, name, key }) => {
    const encoded = resources.get(`${namespace}/${name}`)?.data?.[key]
    return encoded === undefined ? undefined : Buffer.from(encoded, 'base64').toString()
  }
}

/** Watches the cluster until the signal is aborted. */
export function watchCluster(client: ClusterClient, handler: InformerHandler, signal: AbortSignal): ClusterCache {
  const watch = (path: string) => new Informer(client, { path, handler, signal })
  const watchKind = ({ kind, plural }: ResourceNames) => {
    const message = `${client.server} does not serve ${kind}. Install the definitions: kubectl apply --server-side -f crds/`
    const onKindMissing = () => handler.onError(new Error(message))
    const path = `/apis/${API_VERSION}/${plural}`
    return new Informer(client, { path, handler: { ...handler, onKindMissing }, signal })
  }
  const objects = new Map(
    Object.values(kinds).map((kind) => {
      const names = getResourceNames(kind)
      return [names.kind, watchKind(names)] as const
    }),
  )
  const realmSources = watchKind(realmSourceNames)
  const ofKeycloak = new Map(
    Object.entries(keycloakPlurals).map(([kind, plural]) => [
      kind,
      watchKeycloakResources(client, plural, { handler, signal }),
    ]),
  )
  const namespaces = watch('/api/v1/namespaces')
  const secrets = new Informer(client, { ...SECRETS_QUERY, handler, signal })
  const declaring = [...objects.values(), ...ofKeycloak.values()]
  const findInformer = (kind: string) => (kind === realmSourceNames.kind ? realmSources : objects.get(kind))
  return {
    synced: Promise.all([...declaring, realmSources, namespaces, secrets].map(({ synced }) => synced)),
    getSnapshot: () => ({
      resources: declaring.flatMap(({ resources }) => [...resources.values()]),
      realmSources: [...realmSources.resources.values()],
      getNamespaceLabels: (namespace) => namespaces.resources.get(`/${namespace}`)?.metadata.labels ?? {},
      findSecretText: createSecretLookup(secrets),
    }),
    findLatest({ kind, metadata: { namespace, name, uid } }) {
      const cached = findInformer(kind) ?? ofKeycloak.get(kind)
      const latest = cached?.resources.get(`${namespace}/${name}`)
      return latest?.metadata.uid === uid ? latest : undefined
    },
    findSecret: (namespace, name) => secrets.resources.get(`${namespace}/${name}`),
    put(resource) {
      if (resource.kind === 'Secret') secrets.put(resource)
      else if (resource.apiVersion.startsWith(API_GROUP)) findInformer(resource.kind)?.put(resource)
    },
  }
}
