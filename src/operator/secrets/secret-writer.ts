// Writes Kubernetes Secrets that belong to a resource of Regent. Other Secrets are never written.
import { retry } from '../../lib/timing/retry.ts'
import type { ClusterCache } from '../cluster/cluster-cache.ts'
import { type ClusterClient, ClusterError } from '../cluster/cluster-client.ts'
import { type Resource, SECRET_LABEL } from '../cluster/resource.ts'

/** Attempts to write a Secret that others keep changing. */
const MAX_ATTEMPTS = 5

/** The desired state of a Secret with one key. */
export interface DesiredSecret {
  /** The resource that owns the Secret: Kubernetes deletes both together. */
  readonly owner: Resource
  readonly namespace: string
  readonly name: string
  readonly key: string
  readonly text: string
}

/** A writer of Kubernetes Secrets. */
export interface SecretWriter {
  /** Writes a Secret if it differs. Returns why it may not be written. Throws temporary failures. */
  write(desired: DesiredSecret): Promise<string | undefined>
}

/** Creates a writer. It requires the permissions `list`, `create` and `patch`. */
export function createSecretWriter(
  cluster: ClusterClient,
  cache: Pick<ClusterCache, 'findSecret' | 'put'>,
): SecretWriter {
  /** Reads a Secret from the API server; returns undefined if there is none, or it lacks the label. */
  const read = async ({ namespace, name }: DesiredSecret): Promise<Resource | undefined> => {
    const selectors = { labelSelector: `${SECRET_LABEL}=true`, fieldSelector: `metadata.name=${name}` }
    const path = `/api/v1/namespaces/${namespace}/secrets?${new URLSearchParams(selectors)}`
    return (await cluster.request<{ items: Resource[] }>('GET', path)).items[0]
  }
  /** Creates a Secret. Returns false if one of this name exists. */
  const create = async (desired: DesiredSecret): Promise<boolean> => {
    try {
      await cluster.request('POST', `/api/v1/namespaces/${desired.namespace}/secrets`, { body: toManifest(desired) })
      return true
    } catch (error) {
      if (isClusterError(error, 409)) return false
      throw error
    }
  }
  /** Creates a Secret, or updates the one that was read. Returns why it may not be written. Throws ClusterError 404 or 409 after a conflict. */
  const createOrUpdate = async (desired: DesiredSecret, existing: Resource | undefined) => {
    const { owner, namespace, name, key, text } = desired
    if (!existing && (await create(desired))) return undefined
    const current = existing ?? (await read(desired))
    if (!current?.metadata.ownerReferences?.some(({ uid }) => uid === owner.metadata.uid))
      return `the Secret ${name} exists and does not belong to this resource: delete it, or choose another name`
    const { data = {}, metadata } = current
    const value = Buffer.from(text).toString('base64')
    if (data[key] === value && Object.keys(data).length === 1) return undefined
    const removed = Object.fromEntries(Object.keys(data).map((name) => [name, null]))
    // With the resource version, the API server refuses the patch if the Secret has changed meanwhile.
    const patch = { metadata: { resourceVersion: metadata.resourceVersion }, data: { ...removed, [key]: value } }
    const path = `/api/v1/namespaces/${namespace}/secrets/${name}`
    cache.put(await cluster.request<Resource>('PATCH', path, { body: patch, type: 'application/merge-patch+json' }))
    return undefined
  }
  /** Writes a Secret; after a conflict, reads it from the API server and tries again. */
  const writeOrRetry = async (desired: DesiredSecret): Promise<string | undefined> => {
    try {
      return await createOrUpdate(desired, cache.findSecret(desired.namespace, desired.name))
    } catch (error) {
      if (!isClusterError(error, 404, 409)) throw error
      return retry(async () => createOrUpdate(desired, await read(desired)), { delayAfter })
    }
  }
  return {
    async write(desired) {
      try {
        return await writeOrRetry(desired)
      } catch (error) {
        if (isClusterError(error, 403, 422)) return error.message
        throw error
      }
    },
  }
}

/** Returns the milliseconds until the next attempt after a conflict; undefined after the last attempt. */
const delayAfter = (error: unknown, failures: number): number | undefined =>
  isClusterError(error, 404, 409) && failures < MAX_ATTEMPTS ? 20 * failures : undefined

/** Whether the API server has responded with one of the statuses. */
const isClusterError = (error: unknown, ...statuses: number[]): error is ClusterError =>
  error instanceof ClusterError && statuses.includes(error.status)

function toManifest({ owner: { apiVersion, kind, metadata }, namespace, name, key, text }: DesiredSecret) {
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {
      name,
      namespace,
      labels: { [SECRET_LABEL]: 'true', 'app.kubernetes.io/managed-by': 'regent' },
      ownerReferences: [{ apiVersion, kind, name: metadata.name, uid: metadata.uid, controller: true }],
    },
    type: 'Opaque',
    data: { [key]: Buffer.from(text).toString('base64') },
  }
}
