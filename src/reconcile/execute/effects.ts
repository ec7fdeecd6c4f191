// What people lose by a plan.
import type { Key, KindName } from '../../kinds/kind.ts'
import type { Context } from '../../service/context/context.ts'
import type { Effect } from '../../service/context/store-types.ts'
import { type Ending, effectsOf } from '../../service/sources/effects.ts'
import { type Action, isRelationChange, type RealmPlan } from '../model/action.ts'

/** What people lose by one action. */
export interface PlanEffect {
  readonly kind: KindName
  readonly key: Key
  readonly what: Effect
  readonly count: number
}

/** What people lose by the plan, in the order of its actions; to be asked before it is carried out. A few statements, or none. */
export async function effectsOfPlan(context: Context, { actions }: RealmPlan): Promise<PlanEffect[]> {
  const ending = actions.flatMap((action) => {
    const how = howItEnds(action)
    return how && action.id !== undefined ? [{ ...action, id: action.id, how }] : []
  })
  const counted = Map.groupBy(await effectsOf(context, ending), (one) => `${one.kind} ${one.object}`)
  return ending.flatMap(({ kind, key, id }) =>
    (counted.get(`${kind} ${id}`) ?? []).map(({ what, count }) => ({ kind, key, what, count })),
  )
}

function howItEnds({ operation, changes }: Action): Ending['how'] | undefined {
  if (operation === 'delete') return 'deleted'
  const isDisabled =
    operation === 'update' &&
    changes.some((change) => !isRelationChange(change) && change.path === 'enabled' && change.to === false)
  return isDisabled ? 'disabled' : undefined
}
