// What there is in the cluster, kept by watches: resources that state something, namespaces, and Secrets that may be read.
import { kinds } from '../kinds/index.ts'
import { API_GROUP, API_VERSION } from '../realm-file/resources/resource-kinds.ts'
import type { Cluster } from './cluster.ts'
import type { Picture } from './desired.ts'
import type { Secrets } from './documents.ts'
import { watchImports } from './imports.ts'
import { namesOf, type ResourceNames, sourceNames } from './names.ts'
import { type Resource, SECRET_LABEL } from './resource.ts'
import { type Kept, ResourceWatch, type Told } from './watch.ts'

/** A picture that keeps itself up to date. */
export interface LivePicture {
  /** Resolves when everything was seen once. */
  readonly seen: Promise<unknown>
  now(): Omit<Picture, 'holderOf'> & { readonly gitSources: readonly Resource[] }
  /** The resource as it is now; undefined where it is gone. */
  latest(resource: Resource): Resource | undefined
  /** A Secret that may be read. */
  secret(namespace: string, name: string): Resource | undefined
  /** Keeps what the API server answered to a write. */
  put(resource: Resource): void
}

/** The Secrets that may be read: where they are, and which. */
export const SECRETS = ['/api/v1/secrets', `labelSelector=${encodeURIComponent(`${SECRET_LABEL}=true`)}`] as const

/** The texts of Secrets. */
export const textsOf =
  ({ resources }: Kept): Secrets =>
  (namespace, name, key) => {
    const text = resources.get(`${namespace}/${name}`)?.data?.[key]
    return text === undefined ? undefined : Buffer.from(text, 'base64').toString()
  }

/** Watches the cluster until it is told to end. */
export function watchCluster(cluster: Cluster, told: Told, signal: AbortSignal): LivePicture {
  const watch = (path: string, fields = '', absent?: () => void) =>
    new ResourceWatch(cluster, { path, fields, told: { ...told, absent }, signal })
  const watchOwn = ({ kind, plural }: ResourceNames) => {
    const absent = () =>
      told.failed(
        new Error(`${cluster.server} knows no ${kind}: kubectl apply --server-side -f crds/ brings its definition`),
      )
    return watch(`/apis/${API_VERSION}/${plural}`, '', absent)
  }
  const own = new Map(Object.values(kinds).map((kind) => [namesOf(kind).kind, watchOwn(namesOf(kind))] as const))
  const gitSources = watchOwn(sourceNames)
  const imports = watchImports(cluster, told, signal)
  const namespaces = watch('/api/v1/namespaces')
  const secrets = watch(...SECRETS)
  const secret = (namespace: string, name: string) => secrets.resources.get(`${namespace}/${name}`)
  const stating = [...own.values(), imports]
  const keptOf = (kind: string) => (kind === sourceNames.kind ? gitSources : own.get(kind))
  return {
    seen: Promise.all([...stating, gitSources, namespaces, secrets].map(({ seen }) => seen)),
    now: () => ({
      resources: stating.flatMap(({ resources }) => [...resources.values()]),
      gitSources: [...gitSources.resources.values()],
      labels: (namespace) => namespaces.resources.get(`/${namespace}`)?.metadata.labels ?? {},
      secrets: textsOf(secrets),
    }),
    latest({ kind, metadata: { namespace, name, uid } }) {
      const { resources } = keptOf(kind) ?? imports
      const found = resources.get(`${namespace}/${name}`)
      return found?.metadata.uid === uid ? found : undefined
    },
    secret,
    put(resource) {
      if (resource.kind === 'Secret') secrets.put(resource)
      else if (resource.apiVersion.startsWith(API_GROUP)) keptOf(resource.kind)?.put(resource)
    },
  }
}
