// Writes Kubernetes Secrets that belong to a resource of Regent. Other Secrets are never written, and keys that others add stay.
import { isObject } from '../../kinds/json.ts'
import { retry } from '../../lib/timing/retry.ts'
import type { ClusterCache } from './cluster-cache.ts'
import { type ClusterClient, ClusterError, FIELD_MANAGER } from './cluster-client.ts'
import { getResourceName, type Resource, SECRET_LABEL, toSecretData } from './resource.ts'

/** Attempts to write a Secret that others keep changing. */
const MAX_ATTEMPTS = 5
/** Annotation with the resource for which a Secret is written. It remains when the resource is deleted and its object stays. */
const WRITTEN_FOR_ANNOTATION = 'regent.dev/written-for'
const MERGE_PATCH = 'application/merge-patch+json'

/** The desired state of a Secret. */
export interface DesiredSecret {
  /** The resource that owns the Secret: Kubernetes deletes both together. */
  readonly owner: Resource
  readonly namespace: string
  readonly name: string
  /** Texts by key. */
  readonly texts: Readonly<Record<string, string>>
}

/** A writer of Kubernetes Secrets. */
export interface SecretWriter {
  /** Writes a Secret if it differs. Returns why it may not be written. Throws temporary failures. */
  write(desired: DesiredSecret): Promise<string | undefined>
  /** Deletes the Secrets of a resource but for the one with the name; a Secret with keys of others only loses its own. */
  removeOthers(owner: Resource, name: string | undefined): Promise<void>
  /** Keeps the Secrets of a resource when it is deleted. */
  disown(owner: Resource): Promise<void>
}

/** Creates a writer. It requires the permissions `list`, `create`, `patch` and `delete`. */
export function createSecretWriter(
  cluster: ClusterClient,
  cache: Pick<ClusterCache, 'findSecret' | 'listSecrets' | 'put'>,
): SecretWriter {
  return new ApiSecretWriter(cluster, cache)
}

class ApiSecretWriter implements SecretWriter {
  readonly #cluster: ClusterClient
  readonly #cache: Pick<ClusterCache, 'findSecret' | 'listSecrets' | 'put'>

  constructor(cluster: ClusterClient, cache: Pick<ClusterCache, 'findSecret' | 'listSecrets' | 'put'>) {
    this.#cluster = cluster
    this.#cache = cache
  }

  async write(desired: DesiredSecret): Promise<string | undefined> {
    try {
      return await this.#writeOrRetry(desired)
    } catch (error) {
      if (isClusterError(error, 422)) return error.message
      if (isClusterError(error, 403)) return `${error.message}. Permit it: in the chart by operator.secrets.writtenIn`
      throw error
    }
  }

  async removeOthers(owner: Resource, name: string | undefined): Promise<void> {
    for (const secret of this.#listOwned(owner)) if (secret.metadata.name !== name) await this.#remove(secret, owner)
  }

  async disown(owner: Resource): Promise<void> {
    for (const secret of this.#listOwned(owner)) await this.#patch(secret, { metadata: withoutOwner(secret, owner) })
  }

  #listOwned({ metadata: { namespace, uid } }: Resource): Resource[] {
    return this.#cache.listSecrets(namespace!).filter((secret) => isOwnedBy(secret, uid))
  }

  /** Writes a Secret; after a conflict, reads it from the API server and tries again. */
  async #writeOrRetry(desired: DesiredSecret): Promise<string | undefined> {
    try {
      return await this.#createOrUpdate(desired, this.#cache.findSecret(desired.namespace, desired.name))
    } catch (error) {
      if (!isClusterError(error, 404, 409)) throw error
      return retry(async () => this.#createOrUpdate(desired, await this.#read(desired)), { delayAfter })
    }
  }

  /** Creates a Secret, or updates the one that was read. Returns why it may not be written. Throws ClusterError 404 or 409 after a conflict. */
  async #createOrUpdate(desired: DesiredSecret, existing: Resource | undefined): Promise<string | undefined> {
    if (!existing && (await this.#create(desired))) return undefined
    const current = existing ?? (await this.#read(desired))
    const { owner, name, texts } = desired
    if (!current || !belongsTo(current, owner)) {
      const [other] = current?.metadata.ownerReferences ?? []
      return other
        ? `the Secret ${name} exists and belongs to ${other.kind} ${other.name}: choose another name`
        : `the Secret ${name} exists and does not belong to this resource: delete it, or choose another name`
    }
    const { data: currentData = {} } = current
    const data = toSecretData(texts)
    const obsolete = listWrittenKeys(current).filter(
      (key) => !Object.hasOwn(data, key) && currentData[key] !== undefined,
    )
    const isOwned = isOwnedBy(current, owner.metadata.uid)
    const isUpToDate = Object.entries(data).every(([key, value]) => currentData[key] === value)
    if (isOwned && isUpToDate && !obsolete.length) return undefined
    await this.#patch(current, {
      metadata: isOwned ? {} : { ownerReferences: [toOwnerReference(owner)] },
      data: { ...Object.fromEntries(obsolete.map((key) => [key, null])), ...data },
    })
    return undefined
  }

  /** Reads a Secret from the API server; returns undefined if there is none, or it may not be read. */
  async #read({ namespace, name }: DesiredSecret): Promise<Resource | undefined> {
    const selectors = { labelSelector: `${SECRET_LABEL}=true`, fieldSelector: `metadata.name=${name}` }
    const path = `${toPath(namespace)}?${new URLSearchParams(selectors)}`
    return (await this.#cluster.request<{ items: Resource[] }>('GET', path)).items[0]
  }

  /** Creates a Secret. Returns false if one of this name exists. */
  async #create(desired: DesiredSecret): Promise<boolean> {
    try {
      const path = `${toPath(desired.namespace)}`
      await this.#cluster.request('POST', path, { body: toManifest(desired) })
      return true
    } catch (error) {
      if (isClusterError(error, 409)) return false
      throw error
    }
  }

  /** Deletes a Secret, or only its written keys if there are other ones. */
  async #remove(secret: Resource, owner: Resource): Promise<void> {
    const { namespace, name, uid, resourceVersion } = secret.metadata
    const written = new Set(listWrittenKeys(secret))
    try {
      if (Object.keys(secret.data ?? {}).every((key) => written.has(key))) {
        const body = { preconditions: { uid, resourceVersion } }
        await this.#cluster.request('DELETE', `${toPath(namespace!)}/${name}`, { body })
      } else {
        const data = Object.fromEntries([...written].map((key) => [key, null]))
        await this.#patch(secret, { metadata: withoutOwner(secret, owner), data })
      }
    } catch (error) {
      if (!isClusterError(error, 404, 409)) throw error
    }
  }

  /** Patches a Secret. The API server refuses the patch if the Secret has changed since it was read. */
  async #patch(
    secret: Resource,
    { metadata, data }: { readonly metadata: object; readonly data?: object },
  ): Promise<void> {
    const { namespace, name, resourceVersion } = secret.metadata
    const body = { metadata: { ...metadata, resourceVersion }, ...(data && { data }) }
    const path = `${toPath(namespace!)}/${name}`
    this.#cache.put(await this.#cluster.request<Resource>('PATCH', path, { body, type: MERGE_PATCH }))
  }
}

const toPath = (namespace: string): string => `/api/v1/namespaces/${namespace}/secrets`

/** Returns the milliseconds until the next attempt after a conflict; undefined after the last attempt. */
const delayAfter = (error: unknown, failures: number): number | undefined =>
  isClusterError(error, 404, 409) && failures < MAX_ATTEMPTS ? 20 * failures : undefined

/** Whether the API server has responded with one of the statuses. */
const isClusterError = (error: unknown, ...statuses: number[]): error is ClusterError =>
  error instanceof ClusterError && statuses.includes(error.status)

const isOwnedBy = ({ metadata }: Resource, uid: string): boolean =>
  metadata.ownerReferences?.some((reference) => reference.uid === uid) === true

/** Whether a Secret was written for the resource, or for a deleted one with its name whose object stayed. */
function belongsTo({ metadata }: Resource, owner: Resource): boolean {
  const { ownerReferences = [], annotations = {} } = metadata
  if (ownerReferences.length) return ownerReferences.some(({ uid }) => uid === owner.metadata.uid)
  return annotations[WRITTEN_FOR_ANNOTATION] === getResourceName(owner)
}

/** Returns the keys that Regent has written and nobody has changed since. */
function listWrittenKeys({ metadata: { managedFields = [] } }: Resource): string[] {
  return managedFields
    .filter(({ manager }) => manager === FIELD_MANAGER)
    .flatMap(({ fieldsV1 }) => Object.keys(isObject(fieldsV1?.['f:data']) ? fieldsV1['f:data'] : {}))
    .filter((key) => key.startsWith('f:'))
    .map((key) => key.slice(2))
}

/** Returns the metadata of a Secret without an owner. */
function withoutOwner({ metadata: { ownerReferences = [] } }: Resource, owner: Resource): object {
  const remaining = ownerReferences.filter(({ uid }) => uid !== owner.metadata.uid)
  return { ownerReferences: remaining.length ? remaining : null }
}

const toOwnerReference = ({ apiVersion, kind, metadata: { name, uid } }: Resource) => ({
  ...{ apiVersion, kind, name, uid },
  controller: true,
})

function toManifest({ owner, namespace, name, texts }: DesiredSecret) {
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {
      name,
      namespace,
      labels: { [SECRET_LABEL]: 'true', 'app.kubernetes.io/managed-by': 'regent' },
      annotations: { [WRITTEN_FOR_ANNOTATION]: getResourceName(owner) },
      ownerReferences: [toOwnerReference(owner)],
    },
    type: 'Opaque',
    data: toSecretData(texts),
  }
}
