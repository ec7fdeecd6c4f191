// Writes statuses, finalizers and events to the API server. Sends no request if nothing changes.
import { randomBytes } from 'node:crypto'
import { hostname } from 'node:os'
import { isDeepStrictEqual } from 'node:util'
import { kinds } from '../../kinds/index.ts'
import { API_VERSION } from '../../kinds/resource-kinds.ts'
import { limitConcurrency } from '../../lib/timing/limit-concurrency.ts'
import { type ClusterClient, ClusterError, FIELD_MANAGER, type RequestPayload } from './cluster-client.ts'
import {
  CONDITION_TYPES,
  FINALIZER,
  type ImportCondition,
  type Resource,
  type ResourceEvent,
  type ResourceStatus,
} from './resource.ts'
import { getResourceNames, realmSourceNames } from './resource-names.ts'

/** Maximum writes in progress. */
const CONCURRENCY = 16
const APPLY_PATCH = 'application/apply-patch+yaml'
const MERGE_PATCH = 'application/merge-patch+json'
const plurals = new Map(
  [...Object.values(kinds).map(getResourceNames), realmSourceNames].map(({ kind, plural }) => [kind, plural]),
)

/** Whether a write failed since another writer changed the resource. The watch reports the change, and the write is repeated. */
export function isConflict(error: unknown): boolean {
  return error instanceof ClusterError && error.status === 409
}

/** Writes statuses and finalizers of Regent's resources, and events about any resource. Methods throw ClusterError: see isConflict. */
export class ResourceWriter {
  readonly #client: ClusterClient
  readonly #put: (resource: Resource) => void
  readonly #slot = limitConcurrency(CONCURRENCY)

  /** `put` stores the responses of writes in the cache. */
  constructor(client: ClusterClient, put: (resource: Resource) => void) {
    this.#client = client
    this.#put = put
  }

  /** Adds the finalizer. Returns whether the resource has it: a resource that is being deleted cannot get it. */
  async addFinalizer(resource: Resource): Promise<boolean> {
    const { finalizers = [], deletionTimestamp } = resource.metadata
    if (finalizers.includes(FINALIZER)) return true
    return deletionTimestamp === undefined && this.#setFinalizers(resource, [...finalizers, FINALIZER])
  }

  /** Removes the finalizer. */
  async removeFinalizer(resource: Resource): Promise<void> {
    const { finalizers = [] } = resource.metadata
    const remaining = finalizers.filter((finalizer) => finalizer !== FINALIZER)
    if (remaining.length < finalizers.length) await this.#setFinalizers(resource, remaining)
  }

  /** Writes the status by server-side apply, and adds the finalizer unless the resource is being deleted. */
  async writeStatus(resource: Resource, status: ResourceStatus): Promise<void> {
    if (resource.metadata.deletionTimestamp === undefined && !(await this.addFinalizer(resource))) return
    if (isDeepStrictEqual(toComparable(resource.status), toComparable(status))) return
    const { apiVersion, kind, metadata } = resource
    const { namespace, name, uid } = metadata
    // With the uid, the API server refuses the write if another resource has the name by now.
    const body = { apiVersion, kind, metadata: { namespace, name, uid }, status }
    await this.#patch(`${getPath(resource)}/status?fieldManager=${FIELD_MANAGER}&force=true`, {
      body,
      type: APPLY_PATCH,
    })
  }

  /** Writes the conditions of a KeycloakRealmImport, unless another controller has written its status. */
  async writeImportConditions(resource: Resource, conditions: readonly ImportCondition[]): Promise<void> {
    const { apiVersion, metadata, status } = resource
    const { namespace, name, managedFields = [] } = metadata
    const isOwn = managedFields.every(
      ({ subresource, manager }) => subresource !== 'status' || manager === FIELD_MANAGER,
    )
    if (!isOwn || isDeepStrictEqual(status?.conditions, conditions)) return
    const path = `/apis/${apiVersion}/namespaces/${namespace}/keycloakrealmimports/${name}/status`
    await this.#patch(path, { body: { status: { conditions } }, type: MERGE_PATCH })
  }

  /** Writes an event about the resource. */
  async writeEvent(resource: Resource, { type, reason, message }: ResourceEvent): Promise<void> {
    const { apiVersion, kind, metadata } = resource
    const { namespace, name, uid } = metadata
    const event = {
      metadata: { namespace, name: `${name}.${randomBytes(8).toString('hex')}` },
      eventTime: new Date().toISOString().replace('Z', '000Z'),
      reportingController: 'regent.dev/operator',
      reportingInstance: hostname(),
      action: 'Reconcile',
      ...{ type, reason, note: message.slice(0, 1024) },
      regarding: { apiVersion, kind, namespace, name, uid },
    }
    const path = `/apis/events.k8s.io/v1/namespaces/${namespace}/events`
    try {
      await this.#slot(() => this.#client.request('POST', path, { body: event }))
    } catch (error) {
      // The API server refuses events in a namespace that is being deleted.
      if (!(error instanceof ClusterError && error.message.includes('being terminated'))) throw error
    }
  }

  #setFinalizers(resource: Resource, finalizers: readonly string[]): Promise<boolean> {
    const { resourceVersion } = resource.metadata
    return this.#patch(getPath(resource), { body: { metadata: { resourceVersion, finalizers } }, type: MERGE_PATCH })
  }

  /** Patches a resource. Returns whether it exists. */
  async #patch(path: string, content: RequestPayload): Promise<boolean> {
    try {
      this.#put(await this.#slot(() => this.#client.request<Resource>('PATCH', path, content)))
      return true
    } catch (error) {
      if (error instanceof ClusterError && error.status === 404) return false
      throw error
    }
  }
}

/** Returns a status without the conditions of other controllers, which stay. The API server does not keep the order of conditions. */
function toComparable(status: ResourceStatus | undefined): ResourceStatus | undefined {
  if (!status?.conditions) return status
  const conditions = status.conditions.filter(({ type }) => CONDITION_TYPES.includes(type))
  return { ...status, conditions: conditions.toSorted((a, b) => (a.type < b.type ? -1 : 1)) }
}

function getPath({ kind, metadata: { namespace, name } }: Resource): string {
  return `/apis/${API_VERSION}/namespaces/${namespace}/${plurals.get(kind)}/${name}`
}
