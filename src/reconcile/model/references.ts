// References between objects, as they are declared. Pure.
import { type FlatFields, identical, resolve } from '../../kinds/compare.ts'
import type { Json, Representation } from '../../kinds/json.ts'
import type { Key, Kind, KindName } from '../../kinds/kind.ts'
import { targetKey } from '../../kinds/relations.ts'

/** What the value of a field of an object refers to. */
export function references(kind: Kind, owner: Key, path: string, value: Json): { to: KindName; key: Key }[] {
  const { field } = resolve(kind, path)
  if (value === null) return []
  if (field.relation) {
    const keys = value as readonly Key[]
    return keys.map((key) => ({ to: field.refersTo!, key: targetKey(field, owner, key) }))
  }
  if (field.refersTo && !field.computed) return [{ to: field.refersTo, key: [String(value)] }]
  const members = Object.entries(field.members ?? {}).filter(([, member]) => member.refersTo)
  if (!members.length) return []
  return (value as Representation[]).flatMap((one) =>
    members.flatMap(([name, { refersTo }]) =>
      [one[name] ?? []].flat().map((target) => ({ to: refersTo!, key: [String(target)] })),
    ),
  )
}

/** Whether a field of an object that nobody has changed is stated as it was applied: what it names is there. */
export function isStatedAgain(applied: FlatFields | undefined, path: string, value: Json): boolean {
  return applied !== undefined && identical(applied[path], value)
}
