// The Lease in the API that one replica holds while it can read the cluster, as other controllers of Kubernetes do.
import { getErrorMessage } from '../../lib/error-message.ts'
import { raceAbort } from '../../lib/timing/race-abort.ts'
import type { LeaseCondition } from '../../service/operations/leases.ts'
import { type ClusterClient, ClusterError } from './cluster-client.ts'
import type { ApiObject } from './resource.ts'

/** Namespace and name of a Lease. */
export interface LeaseName {
  readonly namespace: string
  readonly name: string
}

/** Options of a ClusterLease. */
export interface ClusterLeaseOptions extends LeaseName {
  /**
   * Returns why resources cannot be read; undefined if they can. `isHolder`: this process holds the Lease, so that its watches show it;
   * otherwise the resources are listed. `milliseconds`: a failure that lasts shorter does not count.
   */
  readonly findFailure: (isHolder: boolean, milliseconds: number) => Promise<unknown>
  /** Prints a message for the administrator. */
  readonly log: (line: string) => void
}

/** A Lease of `coordination.k8s.io/v1`. */
interface LeaseObject extends ApiObject {
  readonly spec?: {
    readonly holderIdentity?: string
    readonly leaseDurationSeconds?: number
    readonly leaseTransitions?: number
    readonly renewTime?: string
    readonly acquireTime?: string
  }
}

/** The share of the lease in the store for which a Lease is valid: a replica without the API gives up before its lease expires. */
const SHARE = 2 / 3
/** Milliseconds that a confirmation may take at least. */
const MIN_TIMEOUT = 2_000
const GROUP = '/apis/coordination.k8s.io/v1'

/** Holds a Lease. It is lost if it cannot be renewed, or if resources cannot be read. */
export class ClusterLease implements LeaseCondition {
  readonly #client: ClusterClient
  readonly #options: ClusterLeaseOptions
  /** The version of the Lease, and the local time when it was seen first: the clocks of replicas may differ. */
  #seen: { readonly version: string; readonly at: number } | undefined
  /** The holder of the Lease that this process has, and the local time until which it is valid. */
  #term: { readonly holder: string; readonly until: number } | undefined
  /** `ofResources`: the Lease could be read, and the resources could not. */
  #reported: { readonly message: string; readonly ofResources: boolean } | undefined

  constructor(client: ClusterClient, options: ClusterLeaseOptions) {
    this.#client = client
    this.#options = options
  }

  async confirm(holder: string, leaseSeconds: number): Promise<boolean> {
    const seconds = Math.max(1, Math.round(leaseSeconds * SHARE))
    const limit = AbortSignal.timeout(Math.max(MIN_TIMEOUT, (seconds * 1000) / 2))
    try {
      const isConfirmed = await raceAbort(this.#confirm(holder, seconds), limit)
      // While another replica holds the Lease, the resources are not read.
      if (isConfirmed || !this.#reported?.ofResources) this.#reported = undefined
      return isConfirmed
    } catch (error) {
      this.#report(error, { ofResources: false })
      // One failed renewal loses nothing.
      if (this.#term && performance.now() < this.#term.until) return true
      this.#term = undefined
      return false
    }
  }

  async release(): Promise<void> {
    const term = this.#term
    this.#term = undefined
    if (!term) return
    try {
      const lease = await this.#read()
      if (lease?.spec?.holderIdentity === term.holder)
        await this.#write(lease, { ...lease.spec, holderIdentity: '', leaseDurationSeconds: 1 })
    } catch {
      // It expires.
    }
  }

  /** Renews the Lease, or acquires it if it is free and resources can be read. Throws if the API server refuses. */
  async #confirm(holder: string, seconds: number): Promise<boolean> {
    const startedAt = performance.now()
    const lease = await this.#read()
    const isHolder = lease?.spec?.holderIdentity === holder
    if (lease && !isHolder && !this.#isExpired(lease)) {
      this.#term = undefined
      return false
    }
    const failure = await this.#options.findFailure(isHolder && this.#term !== undefined, seconds * 1000)
    if (failure !== undefined) {
      this.#report(failure, { ofResources: true })
      if (isHolder) await this.release()
      return false
    }
    const now = new Date().toISOString().replace('Z', '000Z')
    const { acquireTime = now, leaseTransitions = 0 } = (isHolder && lease?.spec) || {}
    const transitions = isHolder ? leaseTransitions : (lease?.spec?.leaseTransitions ?? -1) + 1
    await this.#write(lease, {
      ...{ holderIdentity: holder, leaseDurationSeconds: seconds, renewTime: now },
      ...{ acquireTime, leaseTransitions: transitions },
    })
    this.#term = { holder, until: startedAt + seconds * 1000 }
    return true
  }

  /** Whether the holder has not renewed the Lease for its duration, as far as this process has seen. */
  #isExpired({ metadata: { resourceVersion: version }, spec = {} }: LeaseObject): boolean {
    if (this.#seen?.version !== version) this.#seen = { version, at: performance.now() }
    const { holderIdentity, leaseDurationSeconds = 0 } = spec
    return !holderIdentity || performance.now() - this.#seen.at >= leaseDurationSeconds * 1000
  }

  async #read(): Promise<LeaseObject | undefined> {
    const { namespace, name } = this.#options
    try {
      return await this.#client.request<LeaseObject>('GET', `${GROUP}/namespaces/${namespace}/leases/${name}`)
    } catch (error) {
      if (error instanceof ClusterError && error.status === 404) return undefined
      throw error
    }
  }

  /** Creates or updates the Lease. Throws ClusterError 409 if another process has done so since it was read. */
  async #write(lease: LeaseObject | undefined, spec: LeaseObject['spec']): Promise<void> {
    const { namespace, name } = this.#options
    const path = `${GROUP}/namespaces/${namespace}/leases`
    const { resourceVersion } = lease?.metadata ?? {}
    const metadata = { namespace, name, ...(resourceVersion !== undefined && { resourceVersion }) }
    const body = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata, spec }
    await (lease
      ? this.#client.request('PUT', `${path}/${name}`, { body })
      : this.#client.request('POST', `${path}`, { body }))
  }

  /** Prints a failure, once as long as it lasts. */
  #report(failure: unknown, { ofResources }: { readonly ofResources: boolean }): void {
    // Another replica was faster.
    if (failure instanceof ClusterError && failure.status === 409) return
    const message = getErrorMessage(failure)
    if (message === this.#reported?.message) return
    this.#reported = { message, ofResources }
    this.#options.log(`This server applies no resources, since it cannot read the cluster: ${message}`)
  }
}
