// Records an apply: what its sources manage now, and its plan in the history.
import type { WriteContext } from '../../service/context/context.ts'
import { type HistoryPlan, recordRun } from '../../service/sources/source-records.ts'
import type { AppliedObjects } from '../execute/apply.ts'
import type { PlannedRealm } from '../execute/realm-outcome.ts'
import type { SourcePart } from '../merge/merge-parts.ts'
import {
  type Action,
  type AppliedApproval,
  type FieldChange,
  isRelationChange,
  maskEncryptedValues,
  type RealmPlan,
  toPlainAction,
} from '../model/action.ts'
import { findInventoryChanges } from './inventory.ts'

/** An apply to record. */
export interface ApplyRecord {
  readonly planned: PlannedRealm
  readonly parts: readonly SourcePart[]
  readonly applied: AppliedObjects
  /** The approval with which the plan was applied. */
  readonly approval: AppliedApproval | undefined
}

/** Records an apply in its transaction. */
export async function recordApply(context: WriteContext, record: ApplyRecord): Promise<void> {
  const { planned, parts, applied, approval } = record
  const { input, plan } = planned
  const { ignoredDrift } = plan
  await recordRun(
    context,
    parts.map((part) => ({
      source: part.source,
      revision: part.revision,
      digest: part.digest,
      settings: part.settings,
      tenant: part.tenant,
      origin: part.origin,
      declaredRealm: part.desired.name,
      generatedSecrets: [...part.desired.generatedSecrets],
      ...findInventoryChanges(part, { input, ignoredDrift, applied }),
      markedCount: input.markedRows.get(part.source) ?? 0,
      isEmpty: !part.desired.objects.size && !input.otherSources.some(({ source }) => source === part.source),
    })),
    { ...toHistoryPlan(maskEncryptedValues(plan)), ...(approval && { approval }) },
  )
}

/**
 * Returns a plan as the history stores it: without its preconditions, which are as many as the objects of the realm, and without
 * the positions of the fields of created objects.
 */
function toHistoryPlan({ preconditions: _, actions, ...plan }: RealmPlan): HistoryPlan {
  return { ...plan, actions: removePositions(actions) }
}

function* removePositions(actions: readonly Action[]): Generator<Action> {
  for (const action of actions) {
    if (action.operation !== 'create') yield action
    else yield toPlainAction(action, action.changes.map(removePosition))
  }
}

/** Returns a change without its position, which is not even read: it would be looked up in the document. */
function removePosition(change: FieldChange): FieldChange {
  const { path, reason } = change
  if (isRelationChange(change)) return { path, reason, add: change.add, remove: change.remove }
  const { from, to, encrypted } = change
  return { path, reason, from, to, ...(encrypted !== undefined && { encrypted }) }
}
