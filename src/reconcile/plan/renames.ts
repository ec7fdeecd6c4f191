// `renamedFrom`: what is stated was called otherwise. What is live under the former name is seen under the new one, so that the plan
// renames it, and what names it or belongs to it goes along. Pure.

import type { FlatFields } from '../../kinds/compare.ts'
import type { Key, KindName } from '../../kinds/kind.ts'
import { address, describe } from '../../kinds/tree.ts'
import type { Note } from '../model/action.ts'
import type { DeclaredFields, DeclaredObject, PlanInput } from '../model/plan-input.ts'
import { type Called, calledBy, namedNow, renamesIn } from '../model/renames.ts'

/**
 * The input as if what is renamed were called so already, but for the natural keys themselves; and notes about references by former
 * names, which are right for this plan only. Without effect where the former name is not live, or the new one is.
 */
export function withRenames<Input extends PlanInput>(input: Input): { input: Input; notes: Note[] } {
  const live = new Set(input.live.map(({ kind, key }) => address(kind, key)))
  const due = renamesIn(input.declared.values()).filter(
    ({ kind, key, former }) =>
      !live.has(address(kind, key)) && live.has(address(kind, former)) && !input.declared.has(address(kind, former)),
  )
  if (!due.length) return { input, notes: [] }
  const now = calledBy(due.map(({ kind, key, former }) => [kind, former, key]))
  const notes: Note[] = []
  const seen = <One extends { kind: KindName; key: Key; fields: FlatFields }>(one: One): One => {
    const key = now(one.kind, one.key)
    return { ...one, key, fields: namedNow(one.kind, one.key, one.fields, now) }
  }
  return {
    input: {
      ...input,
      live: input.live.map(seen),
      managed: input.managed.map(seen),
      otherSources: input.otherSources.map(seen),
      declared: new Map([...input.declared].map(([id, one]) => [id, statedNow(one, now, notes)])),
    },
    notes,
  }
}

function statedNow(stated: DeclaredObject, now: Called, notes: Note[]): DeclaredObject {
  const { kind, key, fields } = stated
  const before = Object.fromEntries([...fields].map(([path, { value }]) => [path, value]))
  const after = namedNow(kind, key, before, now)
  const moved = Object.keys(before).filter((path) => JSON.stringify(before[path]) !== JSON.stringify(after[path]))
  if (!moved.length) return stated
  for (const [path, { origin }] of fields) {
    if (!moved.includes(path)) continue
    const message = `${describe(kind, key)}: ${path} uses a former name, which counts for this plan only: correct it`
    notes.push({ message, position: origin.locate(path) })
  }
  return { ...stated, fields: withValues(fields, after) }
}

function withValues(fields: DeclaredFields, values: FlatFields): DeclaredFields {
  const all = [...fields].map(([path, { origin }]) => [path, { value: values[path]!, origin }] as const)
  const known = new Map(all)
  return { size: fields.size, has: (path) => known.has(path), [Symbol.iterator]: () => known[Symbol.iterator]() }
}
