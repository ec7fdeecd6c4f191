// Changed values, and effects on users, as text. Pure.
import { isSameElement, isSecret, readKeys, resolveField, subtractKeys } from '../../kinds/compare.ts'
import type { Field } from '../../kinds/fields.ts'
import { kinds } from '../../kinds/index.ts'
import { isList, isObject, type Json } from '../../kinds/json.ts'
import type { Key, KindName } from '../../kinds/kind.ts'
import { type Action, type FieldChange, isRelationChange } from '../model/action.ts'
import { isLongValue, renderValueChange } from './value-diff.ts'
import { formatCount, renderValue, TEXT_LIMITS, type ValueLimits } from './whole-value.ts'

/** A change of a live value that is not one of a plan, such as drift. Values of secrets are absent. */
export interface LiveChange {
  readonly kind: KindName
  readonly path: string
  readonly from?: Json | undefined
  readonly to?: Json | undefined
}

/** Renders the change of a live value in one line, or as a list of lines. */
export function renderLiveChange(
  { kind, path, from = null, to = null }: LiveChange,
  limits: ValueLimits = TEXT_LIMITS,
): string | readonly string[] {
  const { field } = resolveField(kinds[kind], path)
  const base = { path, reason: 'drift' } as const
  const change: FieldChange = field.relation
    ? { ...base, add: subtractKeys(readKeys(to), readKeys(from)), remove: subtractKeys(readKeys(from), readKeys(to)) }
    : { ...base, from, to }
  return renderChange(change, { kind, operation: 'update', limits })
}

/** Renders a change in one line, or as a list of lines. Secrets are never shown. */
export function renderChange(
  change: FieldChange,
  {
    kind: name,
    operation,
    limits,
  }: { readonly kind: KindName; readonly operation: Action['operation']; readonly limits: ValueLimits },
): string | readonly string[] {
  const kind = kinds[name]
  if (isRelationChange(change)) {
    const { add, remove } = change
    return [...add.map((key) => `+${renderKey(key)}`), ...remove.map((key) => `-${renderKey(key)}`)].join(' ')
  }
  const { path, from, to } = change
  const { field } = resolveField(kind, path)
  if (isSecret(kind, path))
    return operation === 'create' ? '(secret)' : to === null ? '(secret) → none' : '(secret changes)'
  if (isList(to) && field.type !== 'json')
    return renderListChange({ field, from: isList(from) ? from : [], to }, limits)
  return operation === 'create' ? renderValue(to, limits) : renderValueChange(from, to, limits)
}

/** A list before and after a change. */
interface ListChange {
  readonly field: Field
  readonly from: readonly Json[]
  readonly to: readonly Json[]
}

/**
 * Renders a list by its added and removed elements, or by the differences inside long ones. Objects, such as the executions of a flow,
 * get a line each.
 */
function renderListChange({ field, from, to }: ListChange, limits: ValueLimits): string | readonly string[] {
  const subtract = (list: readonly Json[], other: readonly Json[]) => {
    const texts = new Set(other.map((element) => JSON.stringify(element)))
    const isInOther = (element: Json) =>
      texts.has(JSON.stringify(element)) ||
      (field.optionalMembers && other.some((candidate) => isSameElement(field, element, candidate)))
    return list.filter((element) => !isInOther(element))
  }
  const [added, removed] = [subtract(to, from), subtract(from, to)]
  if (added.length && removed.length && [...added, ...removed].some(isLongElement))
    return from.length === 1 && to.length === 1
      ? renderValueChange(from[0]!, to[0]!, limits)
      : renderValueChange(from, to, limits)
  const render = (element: Json) => renderElement(element, limits)
  const changes = [...added.map((element) => `+${render(element)}`), ...removed.map((element) => `-${render(element)}`)]
  if (!changes.length) {
    const all = to.map(render).join(', ')
    return from.length === to.length && all ? `in another order: ${all}` : all || 'none'
  }
  return to.some((element) => element !== null && typeof element === 'object') ? changes : changes.join(' ')
}

const isLongElement = (element: Json): boolean =>
  isObject(element) ? Object.values(element).some(isLongValue) : isLongValue(element)

function renderElement(value: Json, limits: ValueLimits): string {
  if (value === null || typeof value !== 'object' || isList(value)) return renderValue(value, limits)
  const { authenticator, flowAlias, ...rest } = value
  const members = Object.entries(rest).map(([name, member]) => `${name}=${renderValue(member, limits)}`)
  const step = authenticator ?? flowAlias
  return [...(step === undefined ? [] : [renderValue(step, limits)]), ...members].join(' ')
}

/** Returns a key without the kind of the parent. A path in it begins with a slash. */
function renderKey(key: Key): string {
  return key.length === 1 ? key[0]! : key.slice(1).join('/').replace('//', '/')
}

/** Texts of effects on users, for one and for several. `#` is the number. */
const EFFECTS: Readonly<Record<string, [singular: string, plural: string]>> = {
  unlinksUsers: ['unlinks 1 user', 'unlinks # users'],
  blocksLogins: ['prevents 1 user from logging in through it', 'prevents # users from logging in through it'],
  locksOutUsers: ['1 user has no other way to log in', '# users have no other way to log in'],
  removesRoleFromUsers: ['removes roles from 1 user', 'removes roles from # users'],
  removesRoleFromGroups: ['removes roles from 1 group', 'removes roles from # groups'],
  removesMembers: ['removes 1 member', 'removes # members'],
  endsSessions: ['ends 1 session', 'ends # sessions'],
  disablesSessions: ['disables 1 session', 'disables # sessions'],
  removesConsents: ['removes 1 consent', 'removes # consents'],
  orphansUsers: ['leaves 1 user without their user store', 'leaves # users without their user store'],
}

/** Renders an effect on users: `ends 12 sessions`. */
export function renderUserEffect({ effect, count }: { readonly effect: string; readonly count: number }): string {
  const [singular, plural] = EFFECTS[effect]!
  return count === 1 ? singular : plural.replace('#', formatCount(count))
}
