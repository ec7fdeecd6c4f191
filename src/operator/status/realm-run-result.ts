import type { PendingApproval } from '../../reconcile/model/action.ts'
import type { ResourceFault } from '../desired/resource-fault.ts'

/** The result of a run of the resources of a namespace. */
export interface NamespaceResult {
  readonly outcome: 'applied' | 'planned' | 'pendingApproval' | 'suspended'
  /** The number of changes by operation: made, or only planned. */
  readonly plan: ChangeCounts
  readonly pendingApproval?: PendingApproval
  /** The changes of a plan that was not applied, as text. */
  readonly changes?: string
  /** Warnings about applied resources, by file. Absent: nothing has changed, so that those of the last run remain. */
  readonly warnings?: ReadonlyMap<string, readonly string[]>
}

/** A plan that an annotation does not approve, and the reason. */
export interface RefusedApproval {
  readonly plan: string
  readonly reason: string
}

/** A number of changes by operation. */
export interface ChangeCounts {
  readonly create: number
  readonly update: number
  readonly delete: number
}

/** The result of a run of a realm. Its own fields are about the namespace of the realm, unless they say otherwise. */
export interface RealmRunResult extends NamespaceResult {
  /** The results of tenant namespaces; a text is the reason why a run failed, which is retried. */
  readonly tenants: ReadonlyMap<string, NamespaceResult | string>
  /** The faults of resources that were excluded, by file. Of all namespaces. */
  readonly faults: ReadonlyMap<string, ResourceFault>
  /** The reason why the annotation of the Realm does not approve its plan. */
  readonly refusedApproval?: RefusedApproval
  /** The faults of applied resources whose client secrets could not be written to Secrets, by file. */
  readonly secretFaults?: ReadonlyMap<string, ResourceFault>
  /** The digest of all resources that were included. */
  readonly revision: string
  /** The number of objects in the realm that resources manage. */
  readonly objectCount: number
  /** The namespaces whose resources manage objects of the realm. */
  readonly namespaces: ReadonlySet<string>
}

/** Returns the result of the run of a namespace in the realm, or the reason why it failed. */
export function getNamespaceResult(result: RealmRunResult, namespace: string): NamespaceResult | string {
  return result.tenants.get(namespace) ?? result
}

/** Whether a plan changes something. */
export const hasChanges = (plan: ChangeCounts): boolean => plan.create + plan.update + plan.delete > 0

/** Returns the ids of the plans of all namespaces that are pending approval. */
export function listPendingPlans(result: RealmRunResult): string[] {
  return [result, ...result.tenants.values()].flatMap((ofNamespace) =>
    typeof ofNamespace === 'string' ? [] : (ofNamespace.pendingApproval?.plan ?? []),
  )
}
