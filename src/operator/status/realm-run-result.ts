import type { PendingApproval } from '../../reconcile/model/action.ts'
import type { Fault } from '../desired.ts'

/** How a run ended. */
export interface Result {
  readonly how: 'applied' | 'planned' | 'pendingApproval' | 'suspended'
  /** Resources that could not count, by what they are called. */
  readonly faults: ReadonlyMap<string, Fault>
  /** Resources that are live, and whose secrets could not be written where they ask for them. */
  readonly unwritten?: ReadonlyMap<string, Fault>
  /** Of all that counted. */
  readonly revision: string
  /** What was done, or would be. */
  readonly plan: { readonly create: number; readonly update: number; readonly delete: number }
  /** The plan that is pending approval. */
  readonly pendingApproval?: PendingApproval
  /** How many objects resources own in the realm. */
  readonly objects: number
  /** Namespaces that state something in the realm now. */
  readonly namespaces: ReadonlySet<string>
}
