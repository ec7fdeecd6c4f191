// Changed values, and effects on users, as text. Pure.
import { isSameElement, isSecret, readKeys, resolveField, subtractKeys } from '../../kinds/compare.ts'
import type { Field } from '../../kinds/fields.ts'
import { kinds } from '../../kinds/index.ts'
import { isList, isObject, type Json } from '../../kinds/json.ts'
import type { Key, KindName } from '../../kinds/kind.ts'
import { type Action, type FieldChange, isRelationChange } from '../model/action.ts'
import { type Paint, withoutColors } from './paint.ts'
import { isLongValue, renderValueChange, type ValuePair } from './value-diff.ts'
import { formatCount, renderValue, TEXT_LIMITS, type ValueLimits } from './whole-value.ts'

/** A change of a live value that is not one of a plan, such as drift. Values of secrets are absent. */
export interface LiveChange {
  readonly kind: KindName
  readonly path: string
  readonly from?: Json | undefined
  readonly to?: Json | undefined
  /** Whether the declared value is encrypted in its file. */
  readonly encrypted?: true | undefined
}

/** A changed value as texts. */
export type ValueText =
  /** The value of a new object. */
  | { readonly form: 'value'; readonly to: string }
  | ({ readonly form: 'pair' } & ValuePair)
  /** Added and removed elements. `isLong`: whether each needs a line. */
  | {
      readonly form: 'elements'
      readonly added: readonly string[]
      readonly removed: readonly string[]
      readonly isLong: boolean
    }
  /** The differences inside a long value, or the elements of a new list of objects. */
  | { readonly form: 'lines'; readonly lines: readonly string[] }
  /** A remark instead of the value, such as that of a secret. */
  | { readonly form: 'remark'; readonly text: string }

/** Renders the change of a live value. */
export function renderLiveChange(
  { kind, path, from = null, to = null, encrypted }: LiveChange,
  limits: ValueLimits = TEXT_LIMITS,
): ValueText {
  if (encrypted) return { form: 'remark', text: '(encrypted value changed)' }
  const { field } = resolveField(kinds[kind], path)
  const base = { path, reason: 'drift' } as const
  const change: FieldChange = field.relation
    ? { ...base, add: subtractKeys(readKeys(to), readKeys(from)), remove: subtractKeys(readKeys(from), readKeys(to)) }
    : { ...base, from, to }
  return renderChange(change, { kind, operation: 'update', limits })
}

/** Renders a change. Secrets are never shown. `operation`: that of the object. */
export function renderChange(
  change: FieldChange,
  {
    kind: name,
    operation,
    limits,
  }: { readonly kind: KindName; readonly operation: Action['operation']; readonly limits: ValueLimits },
): ValueText {
  const kind = kinds[name]
  const isNew = operation === 'create'
  if (isRelationChange(change)) {
    const [added, removed] = [change.add.map(renderKey), change.remove.map(renderKey)]
    return isNew ? { form: 'value', to: added.join(', ') } : { form: 'elements', added, removed, isLong: false }
  }
  const { path, from, to, encrypted } = change
  const { field } = resolveField(kind, path)
  if (isSecret(kind, path))
    return { form: 'remark', text: isNew ? '(secret)' : to === null ? '(secret) → none' : '(secret changes)' }
  if (encrypted !== undefined)
    return {
      form: 'remark',
      text: isNew ? '(encrypted)' : to === null ? '(encrypted) → none' : '(encrypted value changes)',
    }
  if (isList(to) && field.type !== 'json')
    return isNew ? renderNewList(to, limits) : renderListChange({ field, from: isList(from) ? from : [], to }, limits)
  return isNew ? { form: 'value', to: renderValue(to, limits) } : toValueText(renderValueChange(from, to, limits))
}

/** Returns a value as lines: one, or those of its differences or elements. */
export function listValueLines(value: ValueText, paint: Paint = withoutColors): string[] {
  const [added, removed] = value.form === 'elements' ? paintElements(value, paint) : []
  switch (value.form) {
    case 'value':
      return [paint('green', value.to)]
    case 'pair':
      return [`${paint('red', value.from)} → ${paint('green', value.to)}`]
    case 'elements':
      return value.isLong ? [...added!, ...removed!] : [[...added!, ...removed!].join(' ')]
    case 'lines':
      return value.lines.map((line) => paintDifference(line, paint))
    case 'remark':
      return [value.text]
  }
}

/** Whether a value is shown below the name of its field instead of beside it. */
export const isBlock = (value: ValueText): boolean =>
  value.form === 'lines' || (value.form === 'elements' && value.isLong)

function paintElements({ added, removed }: Extract<ValueText, { form: 'elements' }>, paint: Paint): string[][] {
  return [added.map((element) => paint('green', `+${element}`)), removed.map((element) => paint('red', `-${element}`))]
}

function paintDifference(line: string, paint: Paint): string {
  const sign = line.trimStart()[0]
  return sign === '+' ? paint('green', line) : sign === '-' ? paint('red', line) : line
}

const toValueText = (change: ValuePair | readonly string[]): ValueText =>
  'from' in change ? { form: 'pair', ...change } : { form: 'lines', lines: change }

/** Renders the list of a new object: objects, such as the executions of a flow, in a line each. */
function renderNewList(list: readonly Json[], limits: ValueLimits): ValueText {
  const elements = list.map((element) => renderElement(element, limits))
  return list.some(isObjectOrList)
    ? { form: 'lines', lines: elements }
    : { form: 'value', to: elements.join(', ') || 'none' }
}

const isObjectOrList = (value: Json): boolean => value !== null && typeof value === 'object'

/** A list before and after a change. */
interface ListChange {
  readonly field: Field
  readonly from: readonly Json[]
  readonly to: readonly Json[]
}

/** Renders a list by its added and removed elements, or by the differences inside long ones. */
function renderListChange({ field, from, to }: ListChange, limits: ValueLimits): ValueText {
  const subtract = (list: readonly Json[], other: readonly Json[]) => {
    const texts = new Set(other.map((element) => JSON.stringify(element)))
    const isInOther = (element: Json) =>
      texts.has(JSON.stringify(element)) ||
      (field.optionalMembers && other.some((candidate) => isSameElement(field, element, candidate)))
    return list.filter((element) => !isInOther(element))
  }
  const [added, removed] = [subtract(to, from), subtract(from, to)]
  if (added.length && removed.length && [...added, ...removed].some(isLongElement))
    return toValueText(
      from.length === 1 && to.length === 1
        ? renderValueChange(from[0]!, to[0]!, limits)
        : renderValueChange(from, to, limits),
    )
  const render = (element: Json) => renderElement(element, limits)
  if (!added.length && !removed.length) {
    const all = to.map(render).join(', ')
    return {
      form: 'remark',
      text: from.length === to.length && all ? `in another order: ${all}` : all || 'none',
    }
  }
  return { form: 'elements', added: added.map(render), removed: removed.map(render), isLong: to.some(isObjectOrList) }
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
