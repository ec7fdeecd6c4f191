// Finds the declared values that Regent does not enforce.
import { findNearestWord } from '../../lib/nearest-word.ts'
import { memoizeByObject } from '../../lib/timing/memoize.ts'
import { type FlatFields, flatten, isDeepEqual, resolveField } from '../compare.ts'
import type { Field } from '../fields.ts'
import { isEmpty, isList, type Json, readObjects } from '../json.ts'
import type { Kind, KindName } from '../kind.ts'
import type { FieldEffect, UnenforcedEffect } from './field-effect.ts'
import { effects, findEffect } from './index.ts'
import { settingForms } from './setting-forms.ts'

/** A declared value that is not enforced. */
export interface UnenforcedValue extends Pick<UnenforcedEffect, 'effect' | 'reason'> {
  /** The path of the field. */
  readonly field: string
  /** The path of the value: that of the field, or of a member of its elements, `field.member`. */
  readonly path: string
  /** The id of a provider, with the word for it. Absent for other values. */
  readonly provider?: { readonly label: string; readonly id: string; readonly similar?: string }
}

/**
 * Returns the values among the fields of an object that are not enforced. Values that ask for nothing are left out: absent and empty ones, false,
 * defaults, and those of objects and elements that are disabled.
 *
 * @param builtIn the fields of the object in a new realm; undefined if a new realm has no such object
 */
export function listUnenforced(
  kind: Kind,
  fields: Iterable<readonly [string, Json]>,
  builtIn?: () => FlatFields | undefined,
): UnenforcedValue[] {
  const entries = [...fields]
  if (isDisabled(entries)) return []
  let existing: FlatFields | undefined
  return entries.flatMap(([field, value]) => {
    const values = findInField(kind, field, value).filter((unenforced) => !hasFields(entries, unenforced.unlessFields))
    if (!values.length || isDefault(kind, field, value)) return []
    existing ??= builtIn?.() ?? {}
    return isDeepEqual(existing[field], value)
      ? []
      : values.map(({ unlessFields: _, ...unenforced }) => ({ ...unenforced, field }))
  })
}

/** Whether the fields of an object disable it. */
export const isDisabled = (fields: readonly (readonly [string, Json])[]): boolean =>
  fields.some(([path, value]) => path === 'enabled' && value === false)

type FoundValue = Omit<UnenforcedValue, 'field'> & Pick<UnenforcedEffect, 'unlessFields'>

/** Whether the fields of an object have all of the values. */
function hasFields(fields: readonly (readonly [string, Json])[], values: UnenforcedEffect['unlessFields']): boolean {
  if (!values) return false
  const declared = new Map(fields)
  return Object.entries(values).every(([path, value]) => isDeepEqual(declared.get(path) ?? null, value))
}

function findInField(kind: Kind, path: string, value: Json): FoundValue[] {
  const { field } = resolveField(kind, path)
  if (field.members) return findInElements(kind.name, { path, field, value })
  const form = settingForms[kind.name]?.[path]
  if (form && typeof value === 'string' && value !== '' && !form.accepts(value))
    return [{ path, effect: form.effect, reason: form.reason }]
  const effect = findEffect(kind.name, path)
  return effect ? findInValue(effect, path, value) : []
}

function findInElements(
  kind: KindName,
  { path, field, value }: { readonly path: string; readonly field: Field; readonly value: Json },
): FoundValue[] {
  const members = Object.entries(field.members!)
  return readObjects(value)
    .filter(({ requirement, enabled }) => requirement !== 'DISABLED' && enabled !== false)
    .flatMap((element) =>
      members.flatMap(([name, member]) => {
        const memberPath = `${path}.${name}`
        const memberValue = element[name] ?? null
        if (member.members) return findInElements(kind, { path: memberPath, field: member, value: memberValue })
        const effect = effects[kind][memberPath]
        return effect ? findInValue(effect, memberPath, memberValue) : []
      }),
    )
}

function findInValue(effect: FieldEffect, path: string, value: Json): FoundValue[] {
  if (effect.effect === 'enforced' || (isInert(value) && !hasListedValue(effect, value))) return []
  if (effect.effect !== 'provider') return asksForNothing(effect, value) ? [] : [{ path, ...pick(effect) }]
  const { label, providers, unlisted } = effect
  const ids = (isList(value) ? value : [value]).filter((id) => typeof id === 'string')
  return ids.flatMap((id) => {
    const provider = Object.hasOwn(providers, id) ? providers[id]! : unlisted
    return provider.effect === 'enforced' || asksForNothing(provider, id)
      ? []
      : [{ path, ...pick(provider), provider: { label, id, ...(provider === unlisted && findSimilar(id, providers)) } }]
  })
}

/** Returns the provider whose id was probably meant. */
function findSimilar(id: string, providers: object): { readonly similar?: string } {
  const similar = findNearestWord(id, Object.keys(providers))
  return similar === undefined ? {} : { similar }
}

const pick = ({ effect, reason, unlessFields }: UnenforcedEffect) => ({
  effect,
  reason,
  ...(unlessFields && { unlessFields }),
})

const isInert = (value: Json): boolean =>
  value === false || value === 'false' || value === '' || isEmpty(value) || (isList(value) && value.every(isInert))

const hasListedValue = (effect: FieldEffect, value: Json): boolean =>
  effect.effect !== 'enforced' &&
  effect.effect !== 'provider' &&
  effect.values?.some((listed) => isDeepEqual(listed, value)) === true

const asksForNothing = (effect: UnenforcedEffect, value: Json): boolean =>
  effect.unless?.some((inert) => isDeepEqual(inert, value)) === true ||
  (effect.values !== undefined && !hasListedValue(effect, value))

function isDefault(kind: Kind, path: string, value: Json): boolean {
  const { name, field } = resolveField(kind, path)
  return isDeepEqual(field.default, value) || (path === name && isDeepEqual(getDefaults(kind)[path], value))
}

const getDefaults = memoizeByObject((kind: Kind): FlatFields => flatten(kind, kind.defaults({})))
