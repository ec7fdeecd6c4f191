// Conditions of resources, and the fields that the status of each resource has. Pure: an unchanged resource gets an equal status.
import { describeObject } from '../../kinds/tree.ts'
import type { Drift } from '../../reconcile/drift/drift.ts'
import type { PendingApproval } from '../../reconcile/model/action.ts'
import {
  APPROVED_PLAN_ANNOTATION,
  type Condition,
  type ImportCondition,
  RECONCILE_REQUEST_ANNOTATION,
  type Resource,
  type ResourceStatus,
} from '../cluster/resource.ts'
import type { DeclaringResource } from '../desired/declaring-resource.ts'
import type { ResourceFault } from '../desired/resource-fault.ts'
import type { RefusedApproval } from './realm-run-result.ts'

/** The condition `Ready`, and the abnormal condition with the same reason, if there is one. */
export type ReadyCondition = ConditionContent & {
  readonly abnormal?: 'Reconciling' | 'Stalled'
}

/** The members of a condition that say why. */
type ConditionContent = Pick<Condition, 'status' | 'reason' | 'message'>

/** The state that the common fields of a status are computed from. */
export interface CommonStatusInput {
  /** The name of the realm; of a git source, the names of its realms. */
  readonly realm?: string | undefined
  readonly ready: ReadyCondition
  readonly drifts: readonly Drift[]
  /** Messages about what is live and has no effect. */
  readonly warnings?: readonly string[] | undefined
  /** The advice to resume the resource. Absent: it is not suspended. */
  readonly suspended?: string | undefined
  readonly now: Date
}

/** Drift or warnings that a message lists one by one, at most. */
const MAX_LISTED = 5
const WITHOUT_EFFECT = 'WithoutEffect'

/** Returns the fields that the status of each resource has. `prior`: its current status. */
export function toCommonStatus(
  { resource }: DeclaringResource,
  prior: ResourceStatus,
  { realm, ready: { abnormal, ...ready }, drifts, warnings = [], suspended, now }: CommonStatusInput,
): ResourceStatus {
  const { generation } = resource.metadata
  const toCondition = (type: Condition['type'], { status, reason, message }: ConditionContent): Condition => {
    const before = prior.conditions?.find((condition) => condition.type === type)
    const lastTransitionTime = before?.status === status ? before.lastTransitionTime : formatTimestamp(now)
    return { type, status, reason, message, lastTransitionTime, ...optionalField('observedGeneration', generation) }
  }
  const toTrueCondition = (type: Condition['type'], reason: string, message: string) =>
    toCondition(type, { status: 'True', reason, message })
  return {
    ...optionalField('observedGeneration', generation),
    conditions: [
      toCondition('Ready', ready),
      // These conditions are absent unless they are true.
      ...(abnormal ? [toCondition(abnormal, { ...ready, status: 'True' })] : []),
      ...(drifts.length ? [toTrueCondition('Drifted', 'Changed', renderDrift(drifts))] : []),
      ...(warnings.length ? [toTrueCondition('Warning', WITHOUT_EFFECT, abbreviate(warnings))] : []),
      ...(suspended === undefined ? [] : [toTrueCondition('Suspended', 'Suspended', suspended)]),
    ],
    ...optionalField('realm', realm),
  }
}

/** Returns the conditions of a KeycloakRealmImport: those that kstatus reads, and those of Keycloak's operator: Done, Started and HasErrors. */
export function toImportConditions({ conditions = [] }: ResourceStatus): ImportCondition[] {
  const find = (name: Condition['type']) => conditions.find(({ type }) => type === name)
  const ready = find('Ready')
  if (!ready) return []
  const toKeycloak = (type: string, isTrue: boolean): ImportCondition => ({
    ...withoutReason(ready),
    type,
    status: isTrue ? 'True' : 'False',
  })
  return [
    ...conditions.map(withoutReason),
    toKeycloak('Done', ready.status === 'True'),
    toKeycloak('Started', find('Reconciling') !== undefined),
    toKeycloak('HasErrors', find('Stalled') !== undefined),
  ]
}

const withoutReason = ({ reason: _, ...condition }: Condition): ImportCondition => condition

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
  refusedApproval?: RefusedApproval,
): ReadyCondition {
  const reasons = guards.map(({ message }) => message).join('; ')
  const refusal = refusedApproval?.plan === plan ? refusedApproval.reason : undefined
  const advice = refusal ?? `Approve it with: ${renderApproval(plan, resource)}`
  const message = `The plan ${plan} is pending approval, since it ${reasons}. ${advice}`
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

function abbreviate(messages: readonly string[]): string {
  const remaining = messages.length - MAX_LISTED
  return messages.slice(0, MAX_LISTED).join('; ') + (remaining > 0 ? `; and ${remaining} more` : '')
}

/** Returns the current condition Ready of a resource, which a suspended one keeps; undefined if it has none. */
export function findReadyCondition({ conditions = [] }: ResourceStatus): ReadyCondition | undefined {
  const find = (type: Condition['type']) => conditions.find((condition) => condition.type === type)
  const ready = find('Ready')
  if (!ready) return undefined
  const { status, reason, message } = ready
  const abnormal = find('Stalled') ? 'Stalled' : find('Reconciling') ? 'Reconciling' : undefined
  return { status, reason, message, ...(abnormal && { abnormal }) }
}

function renderDrift(drifts: readonly Drift[]): string {
  const listed = drifts.slice(0, MAX_LISTED).map(({ kind, key, path, by }) => {
    const object = describeObject(kind, key)
    const change = path === undefined ? `${object} was deleted` : `${object}: ${path} was changed`
    return by ? `${change} by ${by.name}` : change
  })
  const remaining = drifts.length - listed.length
  return listed.join('; ') + (remaining ? `, and ${remaining} more` : '')
}
