// A plan and its consequences as text for people. Pure; colours are the caller's.
import { isSecret, resolve, sameElement } from '../kinds/compare.ts'
import type { Field, Json } from '../kinds/fields.ts'
import { kinds } from '../kinds/index.ts'
import type { Key, KindName } from '../kinds/kind.ts'
import { describe } from '../kinds/tree.ts'
import type { Position } from '../lib/position.ts'
import type { Action, Attribution, Change, LeftAlone, Note, RealmPlan } from './action.ts'

/** Puts a colour on a text, or not. */
export type Paint = (style: 'green' | 'yellow' | 'red' | 'dim' | 'bold', text: string) => string

/** No colours. */
export const plainly: Paint = (_style, text) => text

/** What an outcome looks like, whether it was planned or applied. */
export interface Shown {
  readonly realms: readonly {
    readonly plan: RealmPlan
    readonly consequences: readonly Consequence[]
    readonly held?: { readonly revision: number; readonly by: string; readonly at: string }
  }[]
  readonly notes: readonly Note[]
}

/** Something that follows without being stated. */
export interface Consequence {
  readonly operation: 'create' | 'update' | 'delete'
  readonly kind: string
  readonly key: Key
}

const SIGNS = { create: ['green', '+'], update: ['yellow', '~'], delete: ['red', '-'] } as const
/** Words of the design: what was done, by operation. */
const OUTCOMES = { create: 'created', update: 'configured', delete: 'deleted' } as const

/** The text of an outcome: object by object, field by field, with the place of each stated value. */
export function renderOutcome(shown: Shown, how: 'planned' | 'applied', paint: Paint = plainly): string {
  return [...outcomeLines(shown, how, paint)].join('\n')
}

/** The same, each piece made when it is asked for: of many people it is long. */
export function* outcomeLines(shown: Shown, how: 'planned' | 'applied', paint: Paint): Generator<string> {
  for (const realm of shown.realms) yield* realmLines(realm, paint)
  for (const note of shown.notes) yield renderNote(note, paint)
  yield summary(shown, how)
}

function* realmLines({ plan, consequences, held }: Shown['realms'][number], paint: Paint): Generator<string> {
  const name = paint('bold', `realm ${plan.realm}${plan.creates ? ' (new)' : ''}`)
  const unchanged = !plan.actions.length && !plan.creates
  yield unchanged ? `${name}: unchanged` : name
  for (const action of plan.actions) yield* renderAction(action, signOf(plan, action), paint)
  for (const { operation, kind, key } of unchanged ? [] : consequences)
    yield paint('dim', `  ${SIGNS[operation][1]} ${describe(kind as KindName, key)} follows`)
  for (const one of plan.leftAlone) yield paint('yellow', `  ! ${leftAlone(one)}`)
  for (const note of plan.notes) yield renderNote(note, paint)
  if (held) {
    const back = `${held.by} went back to r${held.revision} at ${held.at}`
    yield paint(
      'yellow',
      `  held: ${back}; this is not applied until "regent source resume" or the documents say so too`,
    )
  }
}

/** What leads from one revision to another, object by object, as text. */
export function renderActions(actions: readonly Action[], paint: Paint = plainly): string {
  return actions.flatMap((action) => renderAction(action, action.operation, paint)).join('\n')
}

/** A new realm is made with its built-in content, and then changed: people see something new. */
function signOf({ creates }: RealmPlan, { kind, operation }: Action): Action['operation'] {
  return creates && kind === 'realm' ? 'create' : operation
}

function renderAction(action: Action, operation: Action['operation'], paint: Paint): string[] {
  const [colour, sign] = SIGNS[operation]
  const place = action.position ? paint('dim', `  ${at(action.position)}`) : ''
  const lost = action.lost
    ? paint('yellow', `  was deleted by ${by(action.lost)}; its id and what hung on it are lost`)
    : ''
  return [
    `  ${paint(colour, `${sign} ${describe(action.kind, action.key)}`)}${place}${lost}`,
    ...action.changes
      .filter((change) => !repeatsName(action, change))
      .map((change) => renderChange(action, change, paint)),
  ]
}

function renderChange({ kind, operation }: Action, change: Change, paint: Paint): string {
  const { path, by: who, position, why } = change
  const place = position ? paint('dim', `  ${at(position)}`) : ''
  const reason =
    why === 'released'
      ? paint('dim', '  no longer stated')
      : who
        ? paint('yellow', `  ${why === 'drift' ? 'puts back' : 'overwrites'} a change by ${by(who)}`)
        : ''
  const value = values(kind, operation, change)
  return value.startsWith('\n') ? `      ${path}:${reason}${place}${value}` : `      ${path}: ${value}${reason}${place}`
}

/** A new object is named by its natural key already. */
function repeatsName({ operation, kind }: Action, { path }: Change): boolean {
  return operation === 'create' && path === kinds[kind].naturalKey
}

function values(
  name: KindName,
  operation: Action['operation'],
  { path, from = null, to = null, add = [], remove = [] }: Change,
): string {
  const kind = kinds[name]
  const { field } = resolve(kind, path)
  if (field.relation)
    return [...add.map((key) => `+${keyText(key)}`), ...remove.map((key) => `-${keyText(key)}`)].join(' ')
  if (isSecret(kind, path))
    return operation === 'create' ? '(secret)' : to === null ? '(secret) → none' : '(secret changes)'
  if (Array.isArray(to) && field.type !== 'json') return elements(field, Array.isArray(from) ? from : [], to)
  return operation === 'create' ? text(to) : `${text(from)} → ${text(to)}`
}

/** A list by what comes and what goes; the steps of a flow stand on lines of their own. */
function elements(field: Field, from: readonly Json[], to: readonly Json[]): string {
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
    return from.length === to.length ? `in another order: ${all}` : all || 'none'
  }
  const lines = to.some((one) => one !== null && typeof one === 'object')
  return lines ? moved.map((one) => `\n        ${one}`).join('') : moved.join(' ')
}

function element(value: Json): string {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) return text(value)
  const { authenticator, flowAlias, ...rest } = value
  const others = Object.entries(rest).map(([name, one]) => `${name}=${text(one)}`)
  return [text(authenticator ?? flowAlias ?? null), ...others].join(' ')
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

/** `file:line:column`. */
export function at({ file, line, column }: Position): string {
  return `${file}:${line}:${column}`
}

/** Who, of a source at which revision, through which client, from where, and when. */
export function by({ who, revision, client, address, at: when }: Attribution): string {
  return [who, revision && `(${revision})`, client && `by ${client}`, address && `from ${address}`, `at ${when}`]
    .filter(Boolean)
    .join(' ')
}

/** Drift that stays, and whose it is. */
function leftAlone({ kind, key, path, live, by: who }: LeftAlone): string {
  const name = describe(kind, key)
  const whose = who ? ` by ${by(who)}` : ''
  if (path === undefined) return `${name} was deleted${whose}; it is not made again`
  const value = isSecret(kinds[kind], path) || Array.isArray(live) ? '' : ` to ${text(live)}`
  return `${name}: ${path} was changed${value}${whose}; it stays so`
}

/** Something that is no change, as a line. */
export function renderNote({ message, position }: Note, paint: Paint = plainly): string {
  return paint('dim', `  note: ${message}${position ? `  ${at(position)}` : ''}`)
}

function summary({ realms }: Shown, how: 'planned' | 'applied'): string {
  const done = realms.flatMap(({ plan, held }) => {
    if (held && how === 'applied') return []
    const operations = plan.actions.map((action) => signOf(plan, action))
    const named = plan.actions.some(({ kind }) => kind === 'realm')
    return plan.creates && !named ? ['create' as const, ...operations] : operations
  })
  if (!done.length) return 'Nothing to do.'
  const parts = (['create', 'update', 'delete'] as const).map((operation) => {
    const count = done.filter((one) => one === operation).length
    return how === 'planned' ? `${count} to ${operation}` : `${count} ${OUTCOMES[operation]}`
  })
  return `${how === 'planned' ? 'Plan' : 'Applied'}: ${parts.join(', ')}.`
}
