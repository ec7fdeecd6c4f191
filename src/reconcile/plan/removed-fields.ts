// Changes of fields that were removed from their source. Pure.
import { findRuledProperties, getTypeValues } from '../../kinds/client-types.ts'
import {
  addDefaults,
  type FlatFields,
  getField,
  isSameValue,
  isSecret,
  listMapPaths,
  readKeys,
  resolveField,
  subtractKeys,
  unflatten,
} from '../../kinds/compare.ts'
import { kinds } from '../../kinds/index.ts'
import type { Json } from '../../kinds/json.ts'
import { formatAddress } from '../../kinds/tree.ts'
import { declaresRoles } from '../../kinds/user.ts'
import type { FieldChange } from '../model/action.ts'
import { toFlatFields } from '../model/declared-digest.ts'
import type { ManagedObject, ObjectDeclaration, PlanInput } from '../model/plan-input.ts'
import { type BoundObject, markFormerlyEncrypted } from './binding.ts'

/**
 * Returns the changes of fields that were applied and are no longer declared: they return to the value that creation gives, unless
 * others have changed them. A secret stays, unless everything that it is for is removed. `declaration`: absent if the whole object is no
 * longer declared.
 */
export function findRemovedFieldChanges(object: BoundObject, declaration?: ObjectDeclaration): FieldChange[] {
  const { managed } = object
  if (!managed) return []
  const changes = findResetFields(object, managed, declaration)
  return [...changes, ...findUselessSecrets(object, managed, { declaration, changes })]
}

function findResetFields(
  { input, live }: BoundObject,
  managed: ManagedObject,
  declaration: ObjectDeclaration | undefined,
): FieldChange[] {
  let defaults: FlatFields | undefined
  // Created on demand: most objects have no removed field.
  const getDefaults = () => {
    defaults ??=
      input.builtIn.get(formatAddress(live.kind, live.key)) ?? getCreationValues({ input, live }, declaration)
    return defaults
  }
  return Object.entries(managed.fields).flatMap(([path, last]): FieldChange[] => {
    if (isStillManaged(live.kind, path, declaration) || isManagedByOthers(input, managed, path)) return []
    const kind = kinds[live.kind]
    const current = live.fields[path] ?? null
    if (resolveField(kind, path).field.relation) {
      const isRemovable = (key: readonly string[]) =>
        subtractKeys([key], readKeys(current)).length === 0 &&
        subtractKeys([key], readKeys(getDefaults()[path])).length > 0
      const remove = readKeys(last).filter(isRemovable)
      return remove.length ? [{ path, add: [], remove, reason: 'undeclared' }] : []
    }
    if (!isSameValue(getField(kind, path), last, current)) return []
    const to: Json = getDefaults()[path] ?? null
    const change = {
      path,
      from: current,
      to,
      reason: 'undeclared',
      ...markFormerlyEncrypted(managed, path, to),
    } as const
    return isSameValue(getField(kind, path), to, current) ? [] : [change]
  })
}

/** Removes secrets that were applied if no other setting of their destination remains, such as the password of a mail server. */
function findUselessSecrets(
  { input, live }: BoundObject,
  managed: ManagedObject,
  { declaration, changes }: { readonly declaration: ObjectDeclaration | undefined; readonly changes: FieldChange[] },
): FieldChange[] {
  const kind = kinds[live.kind]
  const removed = new Set(changes.filter((change) => 'to' in change && change.to === null).map(({ path }) => path))
  return Object.entries(kind.fields).flatMap(([map, { destination }]) => {
    if (!destination) return []
    const paths = listMapPaths(live.fields, map)
    const settings = paths.filter((path) => !isSecret(kind, path))
    if (!settings.length || !settings.every((path) => removed.has(path))) return []
    return paths.flatMap((path): FieldChange[] => {
      if (!isSecret(kind, path)) return []
      const isStillDeclared = declaration?.fields.has(path) || declaration?.masked.has(path)
      const isOwn = isSameValue(getField(kind, path), managed.fields[path] ?? null, live.fields[path] ?? null)
      if (isStillDeclared || !isOwn || isManagedByOthers(input, managed, path)) return []
      return [{ path, from: live.fields[path]!, to: null, reason: 'undeclared' }]
    })
  })
}

/** Whether a field is still declared, or is not reset by itself: names, secrets, and values that are only written once. */
function isStillManaged(
  name: ManagedObject['kind'],
  path: string,
  declaration: ObjectDeclaration | undefined,
): boolean {
  const kind = kinds[name]
  return (
    resolveField(kind, path).field.appliedOnChange === true ||
    declaration?.fields.has(path) === true ||
    declaration?.masked.has(path) === true ||
    path === kind.naturalKey ||
    isSecret(kind, path)
  )
}

function isManagedByOthers(input: PlanInput, { kind, object }: ManagedObject, path: string): boolean {
  return input.otherSources.some((other) => other.kind === kind && other.object === object && path in other.fields)
}

/** Returns the fields that creating the object with its remaining declaration would give. */
function getCreationValues(
  { input: { defaultRole, clientTypes }, live }: Pick<BoundObject, 'input' | 'live'>,
  declaration: ObjectDeclaration | undefined,
): FlatFields {
  const kind = kinds[live.kind]
  const fields = declaration ? toFlatFields(declaration) : {}
  const getsDefaultRole = kind.name === 'user' && defaultRole !== undefined && !declaresRoles(fields)
  const typeName = kind.name === 'client' ? fields.type : undefined
  const ruled = typeof typeName === 'string' ? findRuledProperties(typeName, clientTypes ?? []) : undefined
  return addDefaults(kind, {
    [kind.naturalKey]: live.key.at(-1)!,
    ...(getsDefaultRole && { realmRoles: [[defaultRole]] }),
    ...(ruled && getTypeValues(unflatten(kind, fields), ruled)),
    ...fields,
  })
}
