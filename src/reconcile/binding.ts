// Which live object a stated one is. Pure.
import { address } from '../kinds/tree.ts'
import type { LiveState, PlanInput } from './plan-input.ts'

/**
 * The live objects by the address under which they are stated. What the source owns binds by id, whatever it is called
 * now; after that, names bind to what is not bound yet.
 */
export function bind(input: PlanInput): ReadonlyMap<string, LiveState> {
  const byId = new Map(input.live.filter((one) => one.id).map((one) => [`${one.kind} ${one.id}`, one]))
  const bound = new Map<string, LiveState>()
  for (const { kind, key, object } of input.owned) {
    const live = byId.get(`${kind} ${object}`)
    const id = address(kind, key)
    if (live && input.stated.has(id)) bound.set(id, live)
  }
  const taken = new Set(bound.values())
  for (const live of input.live) {
    const id = address(live.kind, live.key)
    if (input.stated.has(id) && !bound.has(id) && !taken.has(live)) bound.set(id, live)
  }
  return bound
}
