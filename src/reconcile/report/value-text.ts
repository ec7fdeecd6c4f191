// Changed values and counts as text. Pure.
import { isSameElement, isSecret, resolveField } from '../../kinds/compare.ts'
import type { Field } from '../../kinds/fields.ts'
import { kinds } from '../../kinds/index.ts'
import { isList, type Json } from '../../kinds/json.ts'
import type { Key, KindName } from '../../kinds/kind.ts'
import { type Action, type FieldChange, isRelationChange } from '../model/action.ts'

/** The longest value in a line, in characters. */
const MAX_LENGTH = 160

/** Renders a change in one line, or as a list of lines. Secrets are never shown. */
export function renderChange(
  name: KindName,
  operation: Action['operation'],
  change: FieldChange,
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
  if (isList(to) && field.type !== 'json') return renderListChange(field, isList(from) ? from : [], to)
  return operation === 'create' ? renderValue(to) : `${renderValue(from)} → ${renderValue(to)}`
}

/** Renders a list by its added and removed elements; objects, such as the executions of a flow, get a line each. */
function renderListChange(field: Field, from: readonly Json[], to: readonly Json[]): string | readonly string[] {
  const subtract = (list: readonly Json[], other: readonly Json[]) => {
    const texts = new Set(other.map((element) => JSON.stringify(element)))
    const isInOther = (element: Json) =>
      texts.has(JSON.stringify(element)) ||
      (field.optionalMembers && other.some((candidate) => isSameElement(field, element, candidate)))
    return list.filter((element) => !isInOther(element)).map(renderElement)
  }
  const changes = [...subtract(to, from).map((text) => `+${text}`), ...subtract(from, to).map((text) => `-${text}`)]
  if (!changes.length) {
    const all = to.map(renderElement).join(', ')
    return from.length === to.length && all ? `in another order: ${all}` : all || 'none'
  }
  return to.some((element) => element !== null && typeof element === 'object') ? changes : changes.join(' ')
}

function renderElement(value: Json): string {
  if (value === null || typeof value !== 'object' || isList(value)) return renderValue(value)
  const { authenticator, flowAlias, ...rest } = value
  const members = Object.entries(rest).map(([name, member]) => `${name}=${renderValue(member)}`)
  const step = authenticator ?? flowAlias
  return [...(step === undefined ? [] : [renderValue(step)]), ...members].join(' ')
}

/** Renders a value in one line. Long values are cut, since the document has them in full. */
export function renderValue(value: Json): string {
  if (value === null) return 'none'
  const json = typeof value === 'string' && /^[\w./:*@${} -]+$/.test(value) ? value : JSON.stringify(value)
  return json.length > MAX_LENGTH ? `${json.slice(0, MAX_LENGTH - 3)}…` : json
}

function renderKey(key: Key): string {
  return key.length === 1 ? key[0]! : `${key.slice(1).join('/')}`
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

/** Returns a number with separators of thousands: `1,204`. */
export function formatCount(count: number): string {
  return count.toLocaleString('en')
}
