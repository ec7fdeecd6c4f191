// Values, places and people in words. Pure.
import { isSecret, resolve, sameElement } from '../../kinds/compare.ts'
import type { Field } from '../../kinds/fields.ts'
import { kinds } from '../../kinds/index.ts'
import { isList, type Json } from '../../kinds/json.ts'
import type { Key, KindName } from '../../kinds/kind.ts'
import type { Position } from '../../lib/position.ts'
import { type Action, type FieldChange, isRelationChange } from '../model/action.ts'

/** What becomes of a field, in one line; a list: what stands on lines of its own. Never a secret. */
export function values(
  name: KindName,
  operation: Action['operation'],
  change: FieldChange,
): string | readonly string[] {
  const kind = kinds[name]
  if (isRelationChange(change)) {
    const { add, remove } = change
    return [...add.map((key) => `+${keyText(key)}`), ...remove.map((key) => `-${keyText(key)}`)].join(' ')
  }
  const { path, from, to } = change
  const { field } = resolve(kind, path)
  if (isSecret(kind, path))
    return operation === 'create' ? '(secret)' : to === null ? '(secret) → none' : '(secret changes)'
  if (Array.isArray(to) && field.type !== 'json') return elements(field, Array.isArray(from) ? from : [], to)
  return operation === 'create' ? text(to) : `${text(from)} → ${text(to)}`
}

/** A list by what comes and what goes; the steps of a flow stand on lines of their own. */
function elements(field: Field, from: readonly Json[], to: readonly Json[]): string | readonly string[] {
  const without = (list: readonly Json[], others: readonly Json[]) => {
    const texts = new Set(others.map((one) => JSON.stringify(one)))
    const isThere = (one: Json) =>
      texts.has(JSON.stringify(one)) ||
      (field.optionalMembers && others.some((other) => sameElement(field, one, other)))
    return list.filter((one) => !isThere(one)).map(element)
  }
  const moved = [...without(to, from).map((one) => `+${one}`), ...without(from, to).map((one) => `-${one}`)]
  if (!moved.length) {
    const all = to.map(element).join(', ')
    return from.length === to.length && all ? `in another order: ${all}` : all || 'none'
  }
  return to.some((one) => one !== null && typeof one === 'object') ? moved : moved.join(' ')
}

function element(value: Json): string {
  if (value === null || typeof value !== 'object' || isList(value)) return text(value)
  const { authenticator, flowAlias, ...rest } = value
  const others = Object.entries(rest).map(([name, one]) => `${name}=${text(one)}`)
  const step = authenticator ?? flowAlias
  return [...(step === undefined ? [] : [text(step)]), ...others].join(' ')
}

/** A value in one line: long ones are cut, since the file has them in full. */
export function text(value: Json): string {
  if (value === null) return 'none'
  const json = typeof value === 'string' && /^[\w./:*@${} -]+$/.test(value) ? value : JSON.stringify(value)
  return json.length > 160 ? `${json.slice(0, 157)}…` : json
}

function keyText(key: Key): string {
  return key.length === 1 ? key[0]! : `${key.slice(1).join('/')}`
}

const LOSSES: Readonly<Record<string, [one: string, several: string]>> = {
  unlinksUsers: ['unlinks 1 user', 'unlinks # users'],
  hindersUsers: ['keeps 1 user from logging in through it', 'keeps # users from logging in through it'],
  locksOutUsers: ['1 user has no other way to log in', '# users have no other way to log in'],
  takesRoleFromUsers: ['takes roles from 1 user', 'takes roles from # users'],
  takesRoleFromGroups: ['takes roles from 1 group', 'takes roles from # groups'],
  removesMembers: ['removes 1 member', 'removes # members'],
  endsSessions: ['ends 1 session', 'ends # sessions'],
  stopsSessions: ['stops 1 session', 'stops # sessions'],
  removesConsents: ['forgets 1 consent', 'forgets # consents'],
  orphansUsers: ['leaves 1 user without their user store', 'leaves # users without their user store'],
}

/** What people lose. */
export function loss({ what, count }: { what: string; count: number }): string {
  const [one, several] = LOSSES[what]!
  return count === 1 ? one : several.replace('#', number(count))
}

/** `1,204`. */
export function number(count: number): string {
  return count.toLocaleString('en')
}

/** `file:line:column`. */
export function at({ file, line, column }: Position): string {
  return `${file}:${line}:${column}`
}
