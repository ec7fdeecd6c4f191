// The plan of a realm with its input, and the outcome of executing it.
import { isKindName } from '../../kinds/index.ts'
import { formatAddress } from '../../kinds/tree.ts'
import type { AdminPermissions } from '../../service/context/admin-permissions.ts'
import type { PolicyValue, WriteContext } from '../../service/context/context.ts'
import type { JournalEntry, RollbackSuspension } from '../../service/context/store-types.ts'
import type { ObjectChange } from '../../service/objects/object-events.ts'
import type { LintFinding } from '../lint/lint.ts'
import type { DesiredRealm } from '../merge/desired-realm.ts'
import {
  type AppliedApproval,
  type Guard,
  maskEncryptedValues,
  type Note,
  type PendingApproval,
  type RealmPlan,
} from '../model/action.ts'
import type { ObservedRealm } from '../model/plan-input.ts'
import type { ImpassableFlow } from '../plan/impassable-flows.ts'
import type { AppliedObjects } from './apply.ts'
import type { UserEffect } from './effects.ts'

/** The admin permissions of existing objects, by `kind id`. */
export type HeldPermissions = ReadonlyMap<string, AdminPermissions>

/** A realm's plan, and the input that it was made from. */
export interface PlannedRealm {
  /** The realm as its sources declare it together. */
  readonly desired: DesiredRealm
  readonly input: ObservedRealm
  readonly plan: RealmPlan
  /** Whether the plan needs objects that an earlier realm of the same run creates. */
  readonly needsEarlierRealm: boolean
  /** The guards that block the plan. */
  readonly guards: readonly Guard[]
  /** The admin permissions that the objects it adopts have without it; absent if it grants none to them. */
  readonly heldPermissions?: HeldPermissions | undefined
  /** The bound flows that nobody could pass before; absent if it changes no flows. */
  readonly formerlyImpassable?: readonly ImpassableFlow[] | undefined
  /** The admin permissions that its sources may grant; absent: those of the caller. */
  readonly grantablePermissions?: AdminPermissions
}

/** The outcome of a plan, a dry run or an apply of one realm. */
export interface RealmOutcome {
  readonly plan: RealmPlan
  /** Changes that follow without being declared, such as cascades: journal entries of objects that no action is about. */
  readonly consequences: readonly JournalEntry[]
  /** Effects on users that no journal records, such as ended sessions. */
  readonly effects: readonly UserEffect[]
  /** Lint findings; absent if the realm was not linted. */
  readonly findings?: readonly LintFinding[]
  /** The rollback that suspends the sources: the plan was not applied. */
  readonly suspended?: RollbackSuspension
  /** The guards that block an apply of the plan. */
  readonly guards?: readonly Guard[]
  /** The plan was not applied, since it is pending approval. */
  readonly pendingApproval?: PendingApproval
  /** The approval with which the plan was applied. */
  readonly approval?: AppliedApproval
}

/** Returns the outcome of a plan from the journal entries that its transaction has written. */
export function toRealmOutcome(context: WriteContext, plan: RealmPlan, effects: readonly UserEffect[]): RealmOutcome {
  const consequences = findConsequences(plan, [...context.entries, ...context.userEntries])
  const notes = notePolicyValues(plan, context.policyValues)
  const masked = maskEncryptedValues(plan)
  return { plan: notes.length ? { ...masked, notes: [...plan.notes, ...notes] } : masked, consequences, effects }
}

/** Notes the values that client policies set in new clients: one note for each policy and value. */
function notePolicyValues({ actions }: RealmPlan, values: readonly PolicyValue[]): Note[] {
  const positions = new Map(actions.map(({ kind, key, position }) => [formatAddress(kind, key), position]))
  const groups = Map.groupBy(values, ({ policy, path, value }) => JSON.stringify([policy, path, value]))
  return [...groups.values()].map((group) => {
    const { clientId, policy, path, value } = group[0]!
    const subject = group.length === 1 ? `client ${clientId}` : `${group.length} clients`
    const position = positions.get(formatAddress('client', [clientId]))
    const message = `${subject}: the client policy ${policy} sets ${path} to ${JSON.stringify(value)}`
    return { message, ...(position && { position }) }
  })
}

/** Returns the journal entries of objects that no action of the plan is about, by address or id. */
function findConsequences(plan: RealmPlan, entries: readonly JournalEntry[]): JournalEntry[] {
  const addresses = new Set(plan.actions.map(({ kind, key }) => formatAddress(kind, key)))
  if (plan.creates) addresses.add(formatAddress('realm', [plan.realm]))
  const ids = new Set(plan.actions.flatMap(({ kind, id }) => (id === undefined ? [] : [`${kind} ${id}`])))
  const isPlanned = ({ kind, key, object }: JournalEntry) =>
    ids.has(`${kind} ${object}`) || (isKindName(kind) && addresses.has(formatAddress(kind, key)))
  return entries.filter((entry) => !isPlanned(entry))
}

/** Returns the changed objects of a plan, for admin events. */
export function toObjectChanges(plan: RealmPlan, applied: AppliedObjects): ObjectChange[] {
  return plan.actions.map(({ operation, kind, key }) => ({ operation, object: applied.get(formatAddress(kind, key))! }))
}
