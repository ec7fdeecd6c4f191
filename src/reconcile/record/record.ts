// Records an apply: what its sources manage now, and its plan in the history.
import type { WriteContext } from '../../service/context/context.ts'
import { type KeptPlan, record } from '../../service/sources/sources.ts'
import type { Applied } from '../execute/apply.ts'
import type { PlannedRealm } from '../execute/execute.ts'
import type { Part } from '../merge/merge-parts.ts'
import { type Action, type Approval, type RealmPlan, toPlainAction } from '../model/action.ts'
import { ownership } from './inventory.ts'

/** Records an apply in its transaction. `approval`: the approval with which the plan was applied. */
export async function recordApply(
  context: WriteContext,
  { input, plan }: PlannedRealm,
  parts: readonly Part[],
  applied: Applied,
  approval: { readonly approval: Approval } | undefined,
): Promise<void> {
  await record(
    context,
    parts.map((part) => ({
      source: part.source,
      revision: part.revision,
      digest: part.digest,
      settings: part.settings,
      stated: part.desired.name,
      generated: [...part.desired.generated],
      ...ownership(part, input, plan.ignoredDrift, applied),
      marked: input.marked.get(part.source) ?? 0,
      ends: !part.desired.objects.size && !input.otherSources.some(({ source }) => source === part.source),
    })),
    { ...historyOf(plan), ...approval },
  )
}

/**
 * A plan as the history keeps it: without its preconditions, which are as long as the realm, and without the positions of the
 * fields of new objects, which the plan shows.
 */
function historyOf({ preconditions: _, actions, ...plan }: RealmPlan): KeptPlan {
  return { ...plan, actions: withoutPositions(actions) }
}

function* withoutPositions(actions: readonly Action[]): Generator<Action> {
  for (const action of actions) yield action.operation === 'create' ? withoutPositionsIn(action) : action
}

function withoutPositionsIn(action: Action): Action {
  const changes = action.changes.map(({ position: _, by: __, ...change }) => change)
  return toPlainAction(action, changes)
}
