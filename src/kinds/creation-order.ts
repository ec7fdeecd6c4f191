// The order in which kinds are created, derived from parents and references that are not late.
import { kinds } from './index.ts'
import type { Kind, KindName } from './kind.ts'

/** All kinds, each after its parents and the kinds that it refers to. Deletion uses the opposite order. */
export const creationOrder: readonly KindName[] = sortKinds()

function sortKinds(): KindName[] {
  const sorted: KindName[] = []
  const remaining = new Map(Object.values(kinds).map((kind) => [kind.name, kind]))
  while (remaining.size) {
    const ready = [...remaining.values()].filter((kind) =>
      [...listDependencies(kind)].every((dependency) => dependency === kind.name || sorted.includes(dependency)),
    )
    if (!ready.length) throw new Error(`a cycle without late fields: ${[...remaining.keys()].join(', ')}`)
    for (const { name } of ready) {
      sorted.push(name)
      remaining.delete(name)
    }
  }
  return sorted
}

function listDependencies(kind: Kind): Set<KindName> {
  const fields = Object.values(kind.fields).flatMap((field) => [field, ...Object.values(field.members ?? {})])
  const references = fields
    .filter((field) => field.refersTo && !field.late && !field.computed)
    .map((field) => field.refersTo!)
  const realm: KindName[] = kind.name === 'realm' ? [] : ['realm']
  return new Set([...realm, ...kind.parents, ...references])
}
