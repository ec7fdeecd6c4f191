// The effects of a plan on users.
import type { Key, KindName } from '../../kinds/kind.ts'
import type { Context } from '../../service/context/context.ts'
import type { Effect } from '../../service/context/store-types.ts'
import { type EndingObject, getEffects } from '../../service/sources/user-effects.ts'
import { type Action, isRelationChange, type RealmPlan } from '../model/action.ts'

/** The effect of deleting or disabling an object on its users, such as ended sessions. */
export interface UserEffect {
  readonly kind: KindName
  readonly key: Key
  readonly effect: Effect
  readonly count: number
}

/** Counts the effects of a plan before it is applied, in the order of its actions. A few statements, or none. */
export async function countEffects(context: Context, { actions }: RealmPlan): Promise<UserEffect[]> {
  const objects = actions.flatMap((action) => {
    const ending = getEnding(action)
    return ending && action.id !== undefined ? [{ ...action, id: action.id, change: ending }] : []
  })
  const byObject = Map.groupBy(await getEffects(context, objects), ({ kind, object }) => `${kind} ${object}`)
  return objects.flatMap(({ kind, key, id }) =>
    (byObject.get(`${kind} ${id}`) ?? []).map(({ effect, count }) => ({ kind, key, effect, count })),
  )
}

/** Returns whether an action deletes or disables its object; undefined if neither. */
function getEnding(action: Action): EndingObject['change'] | undefined {
  if (action.operation === 'delete') return 'deleted'
  const isDisabled =
    action.operation === 'update' &&
    action.changes.some((change) => !isRelationChange(change) && change.path === 'enabled' && change.to === false)
  return isDisabled ? 'disabled' : undefined
}
