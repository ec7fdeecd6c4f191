// What the operator writes into the cluster: statuses, finalizers, events. Nothing where nothing is different.
import { randomBytes } from 'node:crypto'
import { hostname } from 'node:os'
import { isDeepStrictEqual } from 'node:util'
import { kinds } from '../kinds/index.ts'
import { limited } from '../lib/limited.ts'
import { API_VERSION } from '../realm-file/resource-kinds.ts'
import { type Cluster, ClusterError } from './cluster.ts'
import { namesOf, sourceNames } from './names.ts'
import { FINALIZER, type Resource, type Status } from './resource.ts'

/** Writes at a time. */
const AT_ONCE = 16
const APPLY = 'application/apply-patch+yaml'
const MERGE = 'application/merge-patch+json'
const plurals = new Map([...Object.values(kinds).map(namesOf), sourceNames].map(({ kind, plural }) => [kind, plural]))

/** Writes about resources of Regent's own kinds; of others it can only tell. Throws ClusterError: see isOvertaken. */
export interface Writer {
  /** Keeps the resource until its object is gone. Gives whether it does: what is gone, or goes, can be kept no more. */
  hold(resource: Resource): Promise<boolean>
  /** Says how the resource stands, by server-side apply, and holds it. */
  say(resource: Resource, status: Status): Promise<void>
  /** Lets the resource go. */
  release(resource: Resource): Promise<void>
  /** Tells whoever looks at the resource. */
  tell(resource: Resource, event: Told): Promise<void>
}

/** An event of Kubernetes. */
export interface Told {
  readonly type: 'Normal' | 'Warning'
  readonly reason: string
  readonly message: string
}

/** Somebody else was faster with the resource: the same is to be said of it as it is by then. */
export function isOvertaken(error: unknown): boolean {
  return error instanceof ClusterError && error.status === 409
}

/** `put`: keeps what the API server answers. */
export function writer(cluster: Cluster, put: (resource: Resource) => void): Writer {
  const turn = limited(AT_ONCE)
  const pathOf = ({ kind, metadata: { namespace, name } }: Resource) =>
    `/apis/${API_VERSION}/namespaces/${namespace}/${plurals.get(kind)}/${name}`
  const patch = async (path: string, body: unknown, type: string) => {
    try {
      put(await turn(() => cluster.ask<Resource>('PATCH', path, body, type)))
      return true
    } catch (error) {
      // It is gone: there is nothing to say of it.
      if (error instanceof ClusterError && error.status === 404) return false
      throw error
    }
  }
  const setFinalizers = (resource: Resource, finalizers: readonly string[]) =>
    patch(pathOf(resource), { metadata: { resourceVersion: resource.metadata.resourceVersion, finalizers } }, MERGE)

  const hold = async (resource: Resource) => {
    const { finalizers = [], deletionTimestamp } = resource.metadata
    if (finalizers.includes(FINALIZER)) return true
    return deletionTimestamp === undefined && setFinalizers(resource, [...finalizers, FINALIZER])
  }

  return {
    hold,
    async say(resource, status) {
      // What goes cannot be held any more, and is told how it stands until it is gone.
      if (resource.metadata.deletionTimestamp === undefined && !(await hold(resource))) return
      if (isDeepStrictEqual(resource.status, status)) return
      const { apiVersion, kind, metadata } = resource
      const { namespace, name, uid } = metadata
      // Where another one has its name by now, the API server refuses it.
      const body = { apiVersion, kind, metadata: { namespace, name, uid }, status }
      await patch(`${pathOf(resource)}/status?fieldManager=regent&force=true`, body, APPLY)
    },
    async release(resource) {
      const { finalizers = [] } = resource.metadata
      if (!finalizers.includes(FINALIZER)) return
      await setFinalizers(
        resource,
        finalizers.filter((one) => one !== FINALIZER),
      )
    },
    async tell({ apiVersion, kind, metadata }, { type, reason, message }) {
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
      try {
        await turn(() => cluster.ask('POST', `/apis/events.k8s.io/v1/namespaces/${namespace}/events`, event))
      } catch (error) {
        // Of a namespace that goes nobody is told any more.
        if (!(error instanceof ClusterError && error.message.includes('being terminated'))) throw error
      }
    },
  }
}
