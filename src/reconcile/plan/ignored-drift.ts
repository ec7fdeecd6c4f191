// Drift that a policy reports or accepts instead of correcting it. Pure.
import { getField, isSameValue, readKeys, resolveField, subtractKeys, valueAt } from '../../kinds/compare.ts'
import { kinds } from '../../kinds/index.ts'
import type { Json } from '../../kinds/json.ts'
import type { DriftPolicy } from '../../service/journal/drift-policy.ts'
import type { IgnoredDrift } from '../model/action.ts'
import type { ManagedObject, ObjectDeclaration, PlanInput } from '../model/plan-input.ts'
import { type BoundObject, type DeclaredField, findAuthor, listFields } from './binding.ts'
import { findUndeclaredElements } from './undeclared-elements.ts'

/** A drift policy that does not correct drift. */
export type IgnoringPolicy = Extract<DriftPolicy, 'report' | 'accept'>

/** Returns the drifted fields of a declared object that are not corrected. */
export function findIgnoredFieldDrift(object: BoundObject, declaration: ObjectDeclaration): IgnoredDrift[] {
  const { live, managed } = object
  // Every change of an object by others marks its rows, so without a mark or earlier drift there is none.
  if (!managed?.marked && !managed?.drifted && !managed?.accepted) return []
  return listFields(declaration).flatMap((field): IgnoredDrift[] => {
    const policy = findIgnoringPolicy(object, field)
    if (!policy) return []
    const { path, value, encrypted } = field
    const by = findAuthor(object, path)
    return [
      {
        kind: live.kind,
        key: declaration.key,
        path,
        declared: value,
        live: valueAt(kinds[live.kind], live.fields, path),
        ...(encrypted !== undefined && { encrypted: true as const }),
        ...(policy === 'accept' && { accepted: true as const }),
        ...(by && { by }),
      },
    ]
  })
}

/** Returns the drift of a deleted object that is not created again. */
export function findIgnoredObjectDrift(input: PlanInput, managed: ManagedObject): IgnoredDrift[] {
  const { kind, key, object } = managed
  const by = input.changedBy(kind, object)
  const policy = by
    ? toIgnoringPolicy(input.getDriftPolicy({ kind, key, path: undefined, by }))
    : findEarlierPolicy(managed, '', null)
  return policy
    ? [{ kind, key, live: null, ...(policy === 'accept' && { accepted: true as const }), ...(by && { by }) }]
    : []
}

/** Returns the policy by which a drifted field whose declaration is unchanged is not corrected, if there is one. */
export function findIgnoringPolicy(object: BoundObject, declared: DeclaredField): IgnoringPolicy | undefined {
  const { live, managed } = object
  const { path, value } = declared
  const kind = kinds[live.kind]
  const { field } = resolveField(kind, path)
  const last = managed?.fields[path]
  if (last === undefined || field.appliedOnChange) return undefined
  const current = valueAt(kind, live.fields, path)
  if (field.relation) {
    const isDrifted =
      subtractKeys(readKeys(value), readKeys(current)).length > 0 || findUndeclaredElements(object, declared).length > 0
    const hasNewElements = subtractKeys(readKeys(value), readKeys(last)).length > 0
    return isDrifted && !hasNewElements ? findPolicyOfDrift(object, path, current) : undefined
  }
  if (isSameValue(getField(kind, path), value, current) || !isSameValue(getField(kind, path), value, last))
    return undefined
  return findPolicyOfDrift(object, path, current)
}

/** Returns the policy for a drifted field. Drift that was ignored before stays so until the value or the settings change. */
export function findPolicyOfDrift(object: BoundObject, path: string, current: Json): IgnoringPolicy | undefined {
  const { input, managed } = object
  if (!managed) return undefined
  const before = findEarlierPolicy(managed, path, current)
  if (before && !input.hasNewSettings) return before
  if (!before && !managed.marked) return undefined
  const { kind, key } = managed
  return toIgnoringPolicy(input.getDriftPolicy({ kind, key, path, by: findAuthor(object, path) }))
}

/** Returns the policy by which the last run ignored this very value. An empty path means the object. */
function findEarlierPolicy(
  { kind, drifted, accepted }: ManagedObject,
  path: string,
  current: Json,
): IgnoringPolicy | undefined {
  const isIgnored = (values: ManagedObject['drifted']) =>
    values?.[path] !== undefined &&
    (path === '' ? true : isSameValue(getField(kinds[kind], path), values[path], current))
  return isIgnored(drifted) ? 'report' : isIgnored(accepted) ? 'accept' : undefined
}

function toIgnoringPolicy(policy: DriftPolicy): IgnoringPolicy | undefined {
  return policy === 'report' || policy === 'accept' ? policy : undefined
}
