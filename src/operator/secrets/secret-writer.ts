// Secrets of Kubernetes that belong to a resource of Regent: made, and kept as they are to be. Others are never written.
import { retry } from '../../lib/timing/retry.ts'
import { type Cluster, ClusterError } from '../cluster.ts'
import type { LivePicture } from '../picture.ts'
import { type Resource, SECRET_LABEL } from '../resource.ts'

/** How many times a Secret is read again while others keep changing it. */
const ATTEMPTS = 5

/** A Secret as it is to be. */
export interface Wanted {
  /** The resource that it belongs to, and goes with. */
  readonly owner: Resource
  readonly namespace: string
  readonly name: string
  readonly key: string
  readonly text: string
}

/** Keeps Secrets. */
export interface Keeper {
  /** Writes the Secret if it differs. Gives why it may not be written. Throws where that may pass by itself. */
  keep(wanted: Wanted): Promise<string | undefined>
}

/** Asks for nothing but what `list`, `create` and `patch` allow. */
export function secretKeeper(cluster: Cluster, picture: Pick<LivePicture, 'secret' | 'put'>): Keeper {
  /** Returns the Secret as the API server has it; undefined where there is none, or it lacks the label. */
  const look = async ({ namespace, name }: Wanted): Promise<Resource | undefined> => {
    const selectors = { labelSelector: `${SECRET_LABEL}=true`, fieldSelector: `metadata.name=${name}` }
    const path = `/api/v1/namespaces/${namespace}/secrets?${new URLSearchParams(selectors)}`
    return (await cluster.ask<{ items: Resource[] }>('GET', path)).items[0]
  }
  /** Creates the Secret. Returns false where one of this name exists. */
  const make = async (wanted: Wanted): Promise<boolean> => {
    try {
      await cluster.ask('POST', `/api/v1/namespaces/${wanted.namespace}/secrets`, secretOf(wanted))
      return true
    } catch (error) {
      if (isAnswer(error, 409)) return false
      throw error
    }
  }
  /** Creates the Secret, or changes it as it was `seen`. Returns why it may not be written. Throws ClusterError 404 or 409 where it is not as seen. */
  const keep = async (wanted: Wanted, seen: Resource | undefined): Promise<string | undefined> => {
    const { owner, namespace, name, key, text } = wanted
    if (!seen && (await make(wanted))) return undefined
    const there = seen ?? (await look(wanted))
    if (!there?.metadata.ownerReferences?.some(({ uid }) => uid === owner.metadata.uid))
      return `there is a Secret ${name} that does not belong to this resource: name another one, or delete it`
    const { data = {}, metadata } = there
    const value = Buffer.from(text).toString('base64')
    if (data[key] === value && Object.keys(data).length === 1) return undefined
    const others = Object.fromEntries(Object.keys(data).map((other) => [other, null]))
    // Only as it was seen: what somebody else does meanwhile is looked at first.
    const change = { metadata: { resourceVersion: metadata.resourceVersion }, data: { ...others, [key]: value } }
    const path = `/api/v1/namespaces/${namespace}/secrets/${name}`
    picture.put(await cluster.ask<Resource>('PATCH', path, change, 'application/merge-patch+json'))
    return undefined
  }
  /** Like `keep`, from the picture; from the API server where the picture is out of date. */
  const keepNow = async (wanted: Wanted): Promise<string | undefined> => {
    try {
      return await keep(wanted, picture.secret(wanted.namespace, wanted.name))
    } catch (error) {
      if (!isAnswer(error, 404, 409)) throw error
      return retry(async () => keep(wanted, await look(wanted)), { delayAfter })
    }
  }
  return {
    async keep(wanted) {
      try {
        return await keepNow(wanted)
      } catch (error) {
        if (isAnswer(error, 403, 422)) return (error as ClusterError).message
        throw error
      }
    },
  }
}

/** Returns the milliseconds until a Secret that changed since it was seen is read again; undefined: no more. */
const delayAfter = (error: unknown, failures: number): number | undefined =>
  isAnswer(error, 404, 409) && failures < ATTEMPTS ? 20 * failures : undefined

const isAnswer = (error: unknown, ...statuses: number[]): boolean =>
  error instanceof ClusterError && statuses.includes(error.status)

function secretOf({ owner: { apiVersion, kind, metadata }, namespace, name, key, text }: Wanted) {
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
