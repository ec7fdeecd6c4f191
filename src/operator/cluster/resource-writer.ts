// Writes into the cluster: statuses, finalizers and events. Nothing where nothing is different.
import { randomBytes } from 'node:crypto'
import { hostname } from 'node:os'
import { isDeepStrictEqual } from 'node:util'
import { kinds } from '../kinds/index.ts'
import { limitConcurrency } from '../lib/timing/limit-concurrency.ts'
import { API_VERSION } from '../realm-file/resources/resource-kinds.ts'
import { type Cluster, ClusterError } from './cluster.ts'
import { namesOf, sourceNames } from './names.ts'
import { FINALIZER, type Resource, type ResourceEvent, type Status } from './resource.ts'

/** Writes at a time. */
const AT_ONCE = 16
const APPLY = 'application/apply-patch+yaml'
const MERGE = 'application/merge-patch+json'
const plurals = new Map([...Object.values(kinds).map(namesOf), sourceNames].map(({ kind, plural }) => [kind, plural]))

/** Whether another writer has changed the resource meanwhile: its status is written again as the resource is by then. */
export function isOvertaken(error: unknown): boolean {
  return error instanceof ClusterError && error.status === 409
}

/** Writes about resources of Regent's own kinds, and events about any. Its methods throw ClusterError: see isOvertaken. */
export class ResourceWriter {
  readonly #cluster: Cluster
  readonly #put: (resource: Resource) => void
  readonly #slot = limitConcurrency(AT_ONCE)

  /** `put`: keeps what the API server answers. */
  constructor(cluster: Cluster, put: (resource: Resource) => void) {
    this.#cluster = cluster
    this.#put = put
  }

  /** Adds the finalizer. Returns whether the resource has it: one that is deleted gets none any more. */
  async addFinalizer(resource: Resource): Promise<boolean> {
    const { finalizers = [], deletionTimestamp } = resource.metadata
    if (finalizers.includes(FINALIZER)) return true
    return deletionTimestamp === undefined && this.#setFinalizers(resource, [...finalizers, FINALIZER])
  }

  /** Removes the finalizer. */
  async removeFinalizer(resource: Resource): Promise<void> {
    const { finalizers = [] } = resource.metadata
    if (!finalizers.includes(FINALIZER)) return
    await this.#setFinalizers(
      resource,
      finalizers.filter((one) => one !== FINALIZER),
    )
  }

  /** Writes the status by server-side apply, and adds the finalizer. */
  async writeStatus(resource: Resource, status: Status): Promise<void> {
    // A deleted resource gets no finalizer, and has a status until it is gone.
    if (resource.metadata.deletionTimestamp === undefined && !(await this.addFinalizer(resource))) return
    if (isDeepStrictEqual(resource.status, status)) return
    const { apiVersion, kind, metadata } = resource
    const { namespace, name, uid } = metadata
    // Where another one has its name by now, the API server refuses it.
    const body = { apiVersion, kind, metadata: { namespace, name, uid }, status }
    await this.#patch(`${pathOf(resource)}/status?fieldManager=regent&force=true`, body, APPLY)
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
      await this.#slot(() => this.#cluster.ask('POST', path, event))
    } catch (error) {
      // A namespace that is being deleted takes no events.
      if (!(error instanceof ClusterError && error.message.includes('being terminated'))) throw error
    }
  }

  #setFinalizers(resource: Resource, finalizers: readonly string[]): Promise<boolean> {
    const { resourceVersion } = resource.metadata
    return this.#patch(pathOf(resource), { metadata: { resourceVersion, finalizers } }, MERGE)
  }

  /** Patches what is at the path. Returns whether it is there. */
  async #patch(path: string, body: unknown, type: string): Promise<boolean> {
    try {
      this.#put(await this.#slot(() => this.#cluster.ask<Resource>('PATCH', path, body, type)))
      return true
    } catch (error) {
      if (error instanceof ClusterError && error.status === 404) return false
      throw error
    }
  }
}

function pathOf({ kind, metadata: { namespace, name } }: Resource): string {
  return `/apis/${API_VERSION}/namespaces/${namespace}/${plurals.get(kind)}/${name}`
}
