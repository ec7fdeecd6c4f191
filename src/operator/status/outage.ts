// Outages of what the operator needs. Each realm reports one by one condition, whatever the number of its resources.
import { StoreUnreachable } from '../../service/context/store-types.ts'
import { ClusterError, ClusterUnreachable } from '../cluster/cluster-client.ts'

/** An outage, as the reason and message of a condition. */
export interface Outage {
  readonly reason: 'StoreUnreachable' | 'ApiServerUnreachable'
  /** The same for each error of an outage, so that only the first one is an event. */
  readonly message: string
}

const ADVICE = 'The realm stays as it is, and is reconciled after the outage.'

/** Returns the outage that an error is due to; undefined if there is none. */
export function findOutage(error: unknown): Outage | undefined {
  if (error instanceof StoreUnreachable)
    return { reason: 'StoreUnreachable', message: `The database of the Regent server cannot be reached. ${ADVICE}` }
  const isServerFailure = error instanceof ClusterError && error.status >= 500
  if (error instanceof ClusterUnreachable || isServerFailure)
    return { reason: 'ApiServerUnreachable', message: `The API server of Kubernetes does not respond. ${ADVICE}` }
  return undefined
}
