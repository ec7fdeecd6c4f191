// The status of each namespace as a source, as far as its resources report it: for "regent source list", and for metrics.
import { isDeepStrictEqual } from 'node:util'
import type { WorkQueue } from '../../lib/timing/work-queue.ts'
import type { Service } from '../../service/context/service.ts'
import type { Lease } from '../../service/context/store-types.ts'
import {
  findSourceStates,
  RESOURCES_NOT_READY,
  type SourceCondition,
  saveSourceStatus,
} from '../../service/sources/source-status.ts'
import { getResourceName, isRegentResource, type Resource } from '../cluster/resource.ts'
import { parseSourceName, toSourceName } from '../desired/source-name.ts'
import { createOperatorQueue } from '../operator-queue.ts'

/** Resources that a message names at most. */
const MAX_RESOURCES = 5
/** Reasons of resources that an administrator has stopped. */
const STOPPED = ['Suspended', 'Disabled']

/** The condition of a namespace without its time. */
type NamespaceReadiness = Omit<SourceCondition, 'since'>

/** Writes the statuses of namespaces that have changed, while this process has the lease. */
export class NamespaceStatuses {
  readonly #service: Service
  readonly #lease: Lease
  readonly #queue: WorkQueue<string>
  /** The current readiness by the name of the source. */
  #current: ReadonlyMap<string, NamespaceReadiness> = new Map()
  /** The stored conditions by the name of the source. Absent: they are not read yet. */
  #stored: Map<string, SourceCondition> | undefined

  constructor(service: Service, lease: Lease, onError: (error: unknown) => void) {
    this.#service = service
    this.#lease = lease
    this.#queue = createOperatorQueue(() => this.#write(), onError, {
      name: 'namespace-statuses',
      measurements: service.measurements,
    })
  }

  /** Writes what has changed. `resources`: those of all watched namespaces. */
  update(resources: readonly Resource[]): void {
    this.#current = listReadiness(resources)
    this.#queue.add('')
  }

  /** Starts no further write, and resolves when the writes in progress have ended. */
  close(): Promise<void> {
    return this.#queue.close()
  }

  async #write(): Promise<void> {
    this.#stored ??= await this.#read()
    const stored = this.#stored
    for (const source of new Set([...stored.keys(), ...this.#current.keys()])) {
      const ready = this.#current.get(source)
      const before = stored.get(source)
      if (ready && before && isDeepStrictEqual({ ...ready, since: before.since }, before)) continue
      const isSameStatus = ready && ready.status === before?.status
      const since = isSameStatus ? before.since : this.#service.clock().toISOString()
      const status = ready ? { ready: { ...ready, since } } : {}
      await saveSourceStatus(this.#service, this.#lease, { source, status })
      if (status.ready) stored.set(source, status.ready)
      else stored.delete(source)
    }
  }

  /** Reads the stored conditions of all namespaces, also of those that were deleted meanwhile. */
  async #read(): Promise<Map<string, SourceCondition>> {
    const states = await findSourceStates(this.#service)
    return new Map(
      states.flatMap(({ name, status: { ready } }) =>
        ready && parseSourceName(name)?.isGit === false ? [[name, ready]] : [],
      ),
    )
  }
}

/** Returns the readiness of namespaces. One whose resources have no final condition yet has none. */
function listReadiness(resources: readonly Resource[]): Map<string, NamespaceReadiness> {
  const namespaces = Map.groupBy(resources.filter(isRegentResource), ({ metadata }) => metadata.namespace!)
  return new Map(
    [...namespaces].flatMap(([namespace, all]) => {
      const readiness = getReadiness(all)
      return readiness ? [[toSourceName(namespace), readiness]] : []
    }),
  )
}

function getReadiness(resources: readonly Resource[]): NamespaceReadiness | undefined {
  const conditions = resources.flatMap((resource) => {
    const ready = resource.status?.conditions?.find(({ type }) => type === 'Ready')
    return ready ? [{ name: getResourceName(resource), ...ready }] : []
  })
  const failed = conditions.filter(({ status, reason }) => status === 'False' && !STOPPED.includes(reason))
  if (failed.length) {
    const names = failed.slice(0, MAX_RESOURCES).map(({ name, reason }) => `${name} (${reason})`)
    const more = failed.length > MAX_RESOURCES ? ` and ${failed.length - MAX_RESOURCES} more` : ''
    return { status: 'False', reason: RESOURCES_NOT_READY, message: `Not ready: ${names.join(', ')}${more}.` }
  }
  const areAllReady = conditions.length > 0 && conditions.length === resources.length
  return areAllReady ? { status: 'True', reason: 'Applied', message: '' } : undefined
}
