// References between declared objects. Pure.
import { type FlatFields, isDeepEqual, readKeys, resolveField } from '../../kinds/compare.ts'
import { kinds } from '../../kinds/index.ts'
import { type Json, readObjects } from '../../kinds/json.ts'
import type { Key, KindName } from '../../kinds/kind.ts'
import { toTargetKey } from '../../kinds/relations.ts'

/** An object that a field refers to. */
export interface ReferenceTarget {
  readonly to: KindName
  readonly key: Key
}

/** Returns the objects that the value of an object's field refers to. */
export function listReferences(
  object: { readonly kind: KindName; readonly key: Key },
  path: string,
  value: Json,
): ReferenceTarget[] {
  const { field } = resolveField(kinds[object.kind], path)
  if (value === null) return []
  if (field.relation) {
    return readKeys(value).map((key) => ({ to: field.refersTo!, key: toTargetKey(field, object.key, key) }))
  }
  if (field.refersTo && !field.computed) return [{ to: field.refersTo, key: [String(value)] }]
  const members = Object.entries(field.members ?? {}).filter(([, member]) => member.refersTo)
  if (!members.length) return []
  return readObjects(value).flatMap((element) =>
    members.flatMap(([name, { refersTo }]) =>
      [element[name] ?? []].flat().map((target) => ({ to: refersTo!, key: [String(target)] })),
    ),
  )
}

/** Whether a declared value equals the last applied one of an object that nobody has changed since: what it refers to exists. */
export function isUnchangedValue(applied: FlatFields | undefined, path: string, value: Json): boolean {
  return applied !== undefined && isDeepEqual(applied[path], value)
}
