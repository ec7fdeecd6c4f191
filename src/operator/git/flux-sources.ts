// Finds the objects of Flux that RealmSources refer to, and their artifacts.
import * as z from 'zod'
import type { Artifact } from '../../reconcile/read/artifact-source.ts'
import type { ClusterClient } from '../cluster/cluster-client.ts'
import type { InformerHandler, ResourceCache } from '../cluster/informer.ts'
import type { ApiObject } from '../cluster/resource.ts'
import { type WatchOptions, watchKind } from '../cluster/watch-scope.ts'
import type { ResourceFault } from '../desired/resource-fault.ts'
import { type ClusterSourceSpec, FLUX_VERSION } from './cluster-source-spec.ts'

/** A reference to an object of Flux. */
export type FluxReference = NonNullable<ClusterSourceSpec['sourceRef']>

/** An object of Flux with its current artifact. */
export interface FluxSource {
  readonly artifact: Artifact
  /** URL of the repository that it follows. */
  readonly repository: string
}

/** Finds the object that a RealmSource of the namespace refers to, or returns the fault why its artifact cannot be applied. */
export type FindFluxSource = (namespace: string, reference: FluxReference) => FluxSource | ResourceFault

const PLURALS: Readonly<Record<FluxReference['kind'], string>> = {
  GitRepository: 'gitrepositories',
  OCIRepository: 'ocirepositories',
}

/** The fields of Flux's objects that are read. */
const fluxObject = z.object({
  spec: z.object({ url: z.string() }),
  status: z
    .object({
      artifact: z.object({ url: z.string(), revision: z.string(), digest: z.string() }).optional(),
      conditions: z
        .array(z.object({ type: z.string(), status: z.string(), message: z.string().optional() }))
        .optional(),
    })
    .optional(),
})

/** The objects of one kind. */
interface FluxCache {
  readonly cache: ResourceCache
  isSynced: boolean
  /** Whether the API server does not serve the kind. */
  isMissing: boolean
}

/** Watches the kinds of Flux's objects from the first reference on, since many clusters have no Flux. */
export class FluxSources {
  readonly #cluster: ClusterClient
  readonly #options: WatchOptions
  readonly #caches = new Map<FluxReference['kind'], FluxCache>()

  constructor(cluster: ClusterClient, options: WatchOptions) {
    this.#cluster = cluster
    this.#options = options
  }

  readonly find: FindFluxSource = (namespace, reference) => {
    const { kind, name } = reference
    if (reference.namespace !== undefined && reference.namespace !== namespace)
      return {
        reason: 'AccessDenied',
        message: `spec.sourceRef.namespace: a RealmSource refers to objects of its own namespace only. Create the ${kind} in ${namespace}.`,
      }
    const { cache, isSynced, isMissing } = this.#getCache(kind)
    const object = cache.find(namespace, name)
    if (object) return readFluxSource(object, namespace, reference)
    if (isMissing)
      return createFault(
        'SourceNotServed',
        `The cluster does not serve ${kind} (${FLUX_VERSION}). Install Flux 2.6 or later.`,
      )
    if (!isSynced)
      return createFault(
        'SourceNotReady',
        `The objects of the kind ${kind} are not listed yet. If this remains, check that the operator may list and watch them.`,
      )
    return createFault('SourceNotFound', `There is no ${kind} ${name} in the namespace ${namespace}.`)
  }

  #getCache(kind: FluxReference['kind']): FluxCache {
    const existing = this.#caches.get(kind)
    if (existing) return existing
    const { onChange, onError } = this.#options.handler
    const setMissing = (isMissing: boolean) => {
      const isChanged = created.isMissing !== isMissing
      created.isMissing = isMissing
      return isChanged
    }
    const handler: InformerHandler = {
      onChange: () => {
        setMissing(false)
        onChange()
      },
      onKindMissing: () => {
        if (setMissing(true)) onChange()
      },
      onError,
    }
    const apiKind = { group: `/apis/${FLUX_VERSION}`, plural: PLURALS[kind], hasClass: false }
    const cache = watchKind(this.#cluster, apiKind, { ...this.#options, handler })
    const created: FluxCache = { cache, isSynced: false, isMissing: false }
    this.#caches.set(kind, created)
    void cache.synced.then(() => {
      created.isSynced = true
      onChange()
    })
    return created
  }
}

function readFluxSource(
  object: ApiObject,
  namespace: string,
  { kind, name }: FluxReference,
): FluxSource | ResourceFault {
  const { data } = fluxObject.safeParse(object)
  const artifact = data?.status?.artifact
  if (artifact) {
    // Users who may write the status of one object must not read the artifact of another one with it.
    const expected = `/${kind.toLowerCase()}/${namespace}/${name}/`
    if (URL.parse(artifact.url)?.pathname.includes(expected)) return { artifact, repository: data.spec.url }
    const message = `The artifact of the ${kind} ${name} is at ${artifact.url}, which is not an address of this object.`
    return createFault('SourceNotReady', message)
  }
  const ready = data?.status?.conditions?.find(({ type }) => type === 'Ready')
  const reason = ready && ready.status !== 'True' && ready.message ? `: ${ready.message}` : '.'
  return createFault('SourceNotReady', `The ${kind} ${name} has no artifact yet${reason}`)
}

const createFault = (reason: string, message: string): ResourceFault => ({ reason, message, isTemporary: true })
