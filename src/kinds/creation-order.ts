// The order of kinds, derived from parents and references that are not late.
import { kinds } from './index.ts'
import type { Kind, KindName } from './kind.ts'

/** Kinds so that each comes after what it belongs to and refers to; deletion goes the other way. */
export const creationOrder: readonly KindName[] = order()

function order(): KindName[] {
  const done: KindName[] = []
  const left = new Set(Object.keys(kinds) as KindName[])
  while (left.size) {
    const ready = [...left].filter((name) =>
      [...needs(kinds[name])].every((needed) => needed === name || done.includes(needed)),
    )
    if (!ready.length) throw new Error(`a cycle that no late field breaks: ${[...left].join(', ')}`)
    for (const name of ready) {
      done.push(name)
      left.delete(name)
    }
  }
  return done
}

function needs(kind: Kind): Set<KindName> {
  const fields = Object.values(kind.fields).flatMap((field) => [field, ...Object.values(field.members ?? {})])
  const referred = fields
    .filter((field) => field.refersTo && !field.late && !field.computed)
    .map((field) => field.refersTo!)
  const realm: KindName[] = kind.name === 'realm' ? [] : ['realm']
  return new Set([...realm, ...kind.parents, ...referred])
}
