// The changes of a declared object, field by field, from three values: declared, last applied, live. Pure.
import {
  getField,
  isSameValue,
  isSecret,
  isWholeMap,
  listMapPaths,
  readKeys,
  subtractKeys,
  valueAt,
} from '../../kinds/compare.ts'
import { kinds } from '../../kinds/index.ts'
import type { FieldChange } from '../model/action.ts'
import { type BoundObject, type DeclaredField, findAuthor, markFormerlyEncrypted } from './binding.ts'
import { findIgnoringPolicy, findPolicyOfDrift } from './ignored-drift.ts'
import { findUndeclaredElements } from './undeclared-elements.ts'

/** Returns the changes that a declared field causes: none, one, or for a map that is declared as null one per key. */
export function findFieldChanges(object: BoundObject, declared: DeclaredField): FieldChange[] {
  const { path, value } = declared
  const kind = kinds[object.live.kind]
  const field = getField(kind, path)
  if (field.appliedOnChange) return findCredentialChange(object, declared)
  if (value === null && isWholeMap(kind, path)) return removeAllKeys(object, declared)
  return field.relation ? findRelationChange(object, declared) : findValueChange(object, declared)
}

function findValueChange(object: BoundObject, { path, value, origin, encrypted }: DeclaredField): FieldChange[] {
  const kind = kinds[object.live.kind]
  const field = getField(kind, path)
  const current = valueAt(kind, object.live.fields, path)
  if (isSameValue(field, value, current) || findIgnoringPolicy(object, { path, value, origin })) return []
  const last = object.managed?.fields[path]
  const isDrifted = last !== undefined && !isSameValue(field, last, current)
  const by = isDrifted ? findAuthor(object, path) : undefined
  const reason = isDrifted && isSameValue(field, value, last) ? 'drift' : 'declared'
  const mark = encrypted === undefined ? markFormerlyEncrypted(object.managed, path, value) : { encrypted }
  const change = { path, from: current, to: value, reason, ...mark } as const
  return [{ ...change, ...(by && { by }), position: origin.locate(path) }]
}

/** Returns the change of a field that is written only once its declaration changes. An object that existed before keeps its secrets. */
function findCredentialChange(
  { input, live, managed }: BoundObject,
  { path, value, origin }: DeclaredField,
): FieldChange[] {
  const kind = kinds[live.kind]
  const current = valueAt(kind, live.fields, path)
  const isRetained = isSecret(kind, path) && !input.credentialRecipients?.has(live.id!)
  const before = managed?.fields[path] ?? (isRetained ? value : current)
  return isSameValue(getField(kind, path), value, before)
    ? []
    : [{ path, from: current, to: value, reason: 'declared', position: origin.locate(path) }]
}

function removeAllKeys({ live, managed }: BoundObject, { path, origin }: DeclaredField): FieldChange[] {
  return listMapPaths(live.fields, path).map((key) => ({
    path: key,
    from: live.fields[key]!,
    to: null,
    reason: 'declared',
    ...markFormerlyEncrypted(managed, key, null),
    position: origin.locate(path),
  }))
}

/**
 * Returns the change of a relation, which is managed element by element: missing elements are added; elements that were applied and
 * are no longer declared are removed, and all undeclared ones if the relation is authoritative.
 */
function findRelationChange(object: BoundObject, declared: DeclaredField): FieldChange[] {
  const { path, value, origin } = declared
  const elements = readKeys(value)
  const current = readKeys(valueAt(kinds[object.live.kind], object.live.fields, path))
  const last = object.managed?.fields[path]
  const add = subtractKeys(elements, current)
  const noLongerDeclared = subtractKeys(readKeys(last), elements).filter(
    (key) => subtractKeys([key], current).length === 0,
  )
  const undeclared = subtractKeys(findUndeclaredElements(object, declared), noLongerDeclared)
  const remove = [...noLongerDeclared, ...undeclared]
  if (!add.length && !remove.length) return []
  // Elements that were applied and are missing have been removed by others, as undeclared ones have been added by others.
  const isDrifted = last !== undefined && !noLongerDeclared.length && subtractKeys(add, readKeys(last)).length === 0
  if (isDrifted && findPolicyOfDrift(object, path, current)) return []
  const by = isDrifted ? findAuthor(object, path) : undefined
  return [
    { path, add, remove, reason: isDrifted ? 'drift' : 'declared', ...(by && { by }), position: origin.locate(path) },
  ]
}
