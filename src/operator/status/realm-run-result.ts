import type { PendingApproval } from '../../reconcile/model/action.ts'
import type { ResourceFault } from '../desired/resource-fault.ts'

/** The result of a run of a realm. */
export interface RealmRunResult {
  readonly outcome: 'applied' | 'planned' | 'pendingApproval' | 'suspended'
  /** The faults of resources that were excluded, by file. */
  readonly faults: ReadonlyMap<string, ResourceFault>
  /** The faults of applied resources whose client secrets could not be written to Secrets, by file. */
  readonly secretFaults?: ReadonlyMap<string, ResourceFault>
  /** The digest of all resources that were included. */
  readonly revision: string
  /** The number of changes by operation: made, or only planned. */
  readonly plan: { readonly create: number; readonly update: number; readonly delete: number }
  readonly pendingApproval?: PendingApproval
  /** The number of objects in the realm that resources manage. */
  readonly objectCount: number
  /** The namespaces whose resources manage objects of the realm. */
  readonly namespaces: ReadonlySet<string>
}
