// Conditions of resources, and the fields that the status of each resource has. Pure: an unchanged resource gets an equal status.
import { describeObject } from '../../kinds/tree.ts'
import type { Drift } from '../../reconcile/drift/drift.ts'
import type { PendingApproval } from '../../reconcile/model/action.ts'
import {
  APPROVED_PLAN_ANNOTATION,
  type Condition,
  RECONCILE_REQUEST_ANNOTATION,
  type Resource,
  type ResourceStatus,
} from '../cluster/resource.ts'
import type { DeclaringResource } from '../desired/declaring-resource.ts'
import type { ResourceFault } from '../desired/resource-fault.ts'

/** The condition `Ready`, and the abnormal condition with the same reason, if there is one. */
export type ReadyCondition = Pick<Condition, 'status' | 'reason' | 'message'> & {
  readonly abnormal?: 'Reconciling' | 'Stalled'
}

/** The state that the common fields of a status are computed from. */
export interface CommonStatusInput {
  /** The name of the realm; of a git source, the names of its realms. */
  readonly realm?: string | undefined
  readonly ready: ReadyCondition
  readonly drifts: readonly Drift[]
  readonly now: Date
}

/** Drift that a message lists one by one, at most. */
const MAX_LISTED_DRIFT = 5

/** Returns the fields that the status of each resource has. `prior`: its current status. */
export function toCommonStatus(
  { resource }: DeclaringResource,
  prior: ResourceStatus,
  { realm, ready: { abnormal, ...ready }, drifts, now }: CommonStatusInput,
): ResourceStatus {
  const { generation } = resource.metadata
  const toCondition = (
    type: Condition['type'],
    { status, reason, message }: Pick<Condition, 'status' | 'reason' | 'message'>,
  ): Condition => {
    const before = prior.conditions?.find((condition) => condition.type === type)
    const lastTransitionTime = before?.status === status ? before.lastTransitionTime : formatTimestamp(now)
    return { type, status, reason, message, lastTransitionTime, ...optionalField('observedGeneration', generation) }
  }
  return {
    ...optionalField('observedGeneration', generation),
    conditions: [
      toCondition('Ready', ready),
      // These conditions are absent unless they are true.
      ...(abnormal ? [toCondition(abnormal, { ...ready, status: 'True' })] : []),
      ...(drifts.length
        ? [toCondition('Drifted', { status: 'True', reason: 'Changed', message: renderDrift(drifts) })]
        : []),
    ],
    ...optionalField('realm', realm),
  }
}

/** Returns the condition of a resource with a fault. */
export function toFaultCondition(fault: ResourceFault): ReadyCondition {
  const { reason, message, isIntended, isTemporary, lacksFinalizer } = fault
  return {
    status: 'False',
    reason,
    message,
    ...(!isIntended && { abnormal: lacksFinalizer || isTemporary ? 'Reconciling' : 'Stalled' }),
  }
}

/** Returns the condition of a resource whose plan is pending approval. `resource`: the one to annotate; absent: there is none. */
export function toPendingApprovalCondition(
  { plan, guards }: PendingApproval,
  resource: Resource | undefined,
): ReadyCondition {
  const reasons = guards.map(({ message }) => message).join('; ')
  const message = `The plan ${plan} is pending approval, since it ${reasons}. Approve it with: ${renderApproval(plan, resource)}`
  return { status: 'False', reason: 'PendingApproval', message, abnormal: 'Stalled' }
}

/** Returns the last request for a reconciliation by annotation; undefined if there is none. */
export const findReconcileRequest = ({ resource }: DeclaringResource): string | undefined =>
  resource.metadata.annotations?.[RECONCILE_REQUEST_ANNOTATION]

/** Returns an object with the field, or an empty one if the value is undefined. */
export const optionalField = <Name extends string, Value>(name: Name, value: Value | undefined) =>
  (value === undefined ? {} : { [name]: value }) as { [Field in Name]?: Value }

/** Formats a time as Kubernetes does, in seconds. */
export const formatTimestamp = (time: Date): string => time.toISOString().replace(/\.\d+Z$/, 'Z')

/** Returns the command that approves a plan. */
function renderApproval(plan: string, resource: Resource | undefined): string {
  if (!resource) return `regent approve ${plan}`
  const { kind, metadata } = resource
  return `kubectl annotate --overwrite -n ${metadata.namespace} ${kind.toLowerCase()} ${metadata.name} ${APPROVED_PLAN_ANNOTATION}=${plan}`
}

function renderDrift(drifts: readonly Drift[]): string {
  const listed = drifts.slice(0, MAX_LISTED_DRIFT).map(({ kind, key, path, by }) => {
    const object = describeObject(kind, key)
    const change = path === undefined ? `${object} was deleted` : `${object}: ${path} was changed`
    return by ? `${change} by ${by.name}` : change
  })
  const remaining = drifts.length - listed.length
  return listed.join('; ') + (remaining ? `, and ${remaining} more` : '')
}
