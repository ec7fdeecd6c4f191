// What a source that prunes nothing states no more: it stays, and is remembered, so that it can go when the source prunes. Pure.
import { kinds } from '../../kinds/index.ts'
import { address, describe } from '../../kinds/tree.ts'
import type { Note } from '../model/action.ts'
import type { ManagedObject, PlanInput } from '../model/plan-input.ts'

/** So many objects are named in a note. */
const NAMED = 10

/** Whether an object is a source's own, so that it goes once nobody states it: it made it, and nobody else counts on it. */
export function isOwn(
  { otherSources: others, builtIn }: PlanInput,
  { kind, object, key, fields }: ManagedObject,
): boolean {
  const shared = others.some((other) => other.kind === kind && other.object === object)
  const onlyNamed = !(kinds[kind].naturalKey in fields)
  return !shared && !onlyNamed && kind !== 'realm' && !builtIn.has(address(kind, key))
}

/** What would be deleted, and stays, since a source that owns it prunes nothing. */
export function keptObjects(input: PlanInput): ManagedObject[] {
  const staying = input.managed.filter((one) => one.stays && !input.declared.has(address(one.kind, one.key)))
  if (!staying.length) return []
  const there = new Set(input.live.map(({ kind, id }) => `${kind} ${id}`))
  return staying.filter((one) => there.has(`${one.kind} ${one.object}`) && isOwn(input, one))
}

/** One note about all of it. */
export function noteOf(kept: readonly ManagedObject[]): Note[] {
  if (!kept.length) return []
  const names = kept.slice(0, NAMED).map(({ kind, key }) => describe(kind, key))
  const rest = kept.length > NAMED ? ` and ${kept.length - NAMED} others` : ''
  return [{ message: `no longer declared, and not pruned: ${names.join(', ')}${rest}` }]
}
