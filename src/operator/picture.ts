// What there is in the cluster, kept by watches: resources that state something, namespaces, and Secrets that may be read.
import { kinds } from '../kinds/index.ts'
import { API_GROUP, API_VERSION } from '../realm-file/resource-kinds.ts'
import type { Cluster } from './cluster.ts'
import type { Picture } from './desired.ts'
import { watchImports } from './imports.ts'
import { namesOf } from './names.ts'
import { type Resource, SECRET_LABEL } from './resource.ts'
import { type Told, watchKind } from './watch.ts'

/** A picture that keeps itself up to date. */
export interface LivePicture {
  /** Resolves when everything was seen once. */
  readonly seen: Promise<unknown>
  now(): Omit<Picture, 'holderOf'>
  /** The resource as it is now; undefined where it is gone. */
  latest(resource: Resource): Resource | undefined
  /** A Secret that may be read. */
  secret(namespace: string, name: string): Resource | undefined
  /** Keeps what the API server answered to a write. */
  put(resource: Resource): void
}

/** Watches the cluster until it is told to end. */
export function watchCluster(cluster: Cluster, told: Told, signal: AbortSignal): LivePicture {
  const watch = (path: string, fields = '', absent?: () => void) =>
    watchKind(cluster, path, fields, { ...told, absent }, signal)
  const own = new Map(
    Object.values(kinds).map((kind) => {
      const { kind: name, plural } = namesOf(kind)
      const absent = () =>
        told.failed(
          new Error(`${cluster.server} knows no ${name}: kubectl apply --server-side -f crds/ brings its definition`),
        )
      return [name, watch(`/apis/${API_VERSION}/${plural}`, '', absent)] as const
    }),
  )
  const imports = watchImports(cluster, told, signal)
  const namespaces = watch('/api/v1/namespaces')
  const secrets = watch('/api/v1/secrets', `labelSelector=${encodeURIComponent(`${SECRET_LABEL}=true`)}`)
  const secret = (namespace: string, name: string) => secrets.resources.get(`${namespace}/${name}`)
  const stating = [...own.values(), imports]
  return {
    seen: Promise.all([...stating, namespaces, secrets].map(({ seen }) => seen)),
    now: () => ({
      resources: stating.flatMap(({ resources }) => [...resources.values()]),
      labels: (namespace) => namespaces.resources.get(`/${namespace}`)?.metadata.labels ?? {},
      secrets(namespace, name, key) {
        const text = secret(namespace, name)?.data?.[key]
        return text === undefined ? undefined : Buffer.from(text, 'base64').toString()
      },
    }),
    latest({ kind, metadata: { namespace, name, uid } }) {
      const { resources } = own.get(kind) ?? imports
      const found = resources.get(`${namespace}/${name}`)
      return found?.metadata.uid === uid ? found : undefined
    },
    secret,
    put(resource) {
      if (resource.kind === 'Secret') secrets.put(resource)
      else if (resource.apiVersion.startsWith(API_GROUP)) own.get(resource.kind)?.put(resource)
    },
  }
}
