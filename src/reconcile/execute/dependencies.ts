// Creations of one kind in an order in which they can be done one by one: what others refer to comes first. Pure.
import { kinds } from '../../kinds/index.ts'
import { address } from '../../kinds/tree.ts'
import { type Action, isRelationChange } from '../model/action.ts'
import { references } from '../model/references.ts'

/** The actions so that each comes after those that make what it refers to; in a circle as they stand. */
export function inDependencyOrder(actions: readonly Action[]): Action[] {
  const made = new Map(actions.map((action) => [address(action.kind, action.key), action]))
  const done = new Set<Action>()
  const entered = new Set<Action>()
  const add = (action: Action): void => {
    if (entered.has(action)) return
    entered.add(action)
    for (const change of action.changes) {
      const value = isRelationChange(change) ? change.add : change.to
      if (value === null) continue
      for (const { to: kind, key } of references(kinds[action.kind], action.key, change.path, value)) {
        const needed = made.get(address(kind, key))
        if (needed) add(needed)
      }
    }
    done.add(action)
  }
  for (const action of actions) add(action)
  return [...done]
}
