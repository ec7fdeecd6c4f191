// Which live object a stated one is. Pure.
import { address } from '../../kinds/tree.ts'
import type { DeclaredObject, LiveState, ManagedObject, PlanInput } from '../model/plan-input.ts'

/**
 * The live objects by the address under which they are stated. What the source owns binds by id, whatever it is called
 * now; after that, names bind to what is not bound yet.
 */
export function bind(input: PlanInput): ReadonlyMap<string, LiveState> {
  const byId = new Map(input.live.filter((one) => one.id).map((one) => [`${one.kind} ${one.id}`, one]))
  const bound = new Map<string, LiveState>()
  for (const { kind, key, object } of input.managed) {
    const live = byId.get(`${kind} ${object}`)
    const id = address(kind, key)
    if (live && input.declared.has(id)) bound.set(id, live)
  }
  const taken = new Set(bound.values())
  for (const live of input.live) {
    const id = address(live.kind, live.key)
    if (input.declared.has(id) && !bound.has(id) && !taken.has(live)) bound.set(id, live)
  }
  return bound
}

/** A declared object whose name another live object has by now. */
export interface Recreated {
  readonly stated: DeclaredObject
  /** The object that was applied, which is deleted. */
  readonly applied: Pick<ManagedObject, 'kind' | 'object'>
  readonly live: LiveState
}

/**
 * Returns the declared objects that were applied and deleted, and whose name another live object has, by address. Sources that this
 * run does not read count for what its own have never applied.
 */
export function findRecreated(
  input: PlanInput,
  binding: ReadonlyMap<string, LiveState> = bind(input),
): ReadonlyMap<string, Recreated> {
  const own = Map.groupBy(input.managed, ({ kind, key }) => address(kind, key))
  const others = Map.groupBy(input.otherSources, ({ kind, key }) => address(kind, key))
  const recreated = new Map<string, Recreated>()
  for (const [id, live] of binding) {
    const rows = own.get(id) ?? others.get(id) ?? []
    const applied = rows.find(({ object }) => object !== live.id)
    if (applied && live.id !== undefined && !input.isSettled(id))
      recreated.set(id, { stated: input.declared.get(id)!, applied, live })
  }
  return recreated
}
