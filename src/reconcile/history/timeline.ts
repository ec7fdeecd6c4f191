// What objects were at a revision: what is live, with the values before that the journal keeps put back, newest first. Pure.
import { differences, type FlatFields, isSecret, keysOf, missing, resolve } from '../../kinds/compare.ts'
import { kinds } from '../../kinds/index.ts'
import type { Key, KindName } from '../../kinds/kind.ts'
import type { Action, FieldChange } from '../model/action.ts'
import { type Called, calledBy, namedNow } from '../model/renames.ts'

/** An entry of the journal, as far as the past is told from it. */
export interface PastEntry {
  readonly number: number
  readonly operation: 'create' | 'update' | 'delete'
  readonly kind: string
  readonly object: string
  readonly key: Key
  /** Values before. */
  readonly fields: FlatFields
}

/** An object as it is: its fields, secrets as digests. */
export interface Present {
  readonly key: Key
  readonly version: number
  readonly fields: FlatFields
}

/** What leads from one revision to another, object by object, in the order in which they were touched. */
export function changesBetween(
  entries: readonly PastEntry[],
  present: ReadonlyMap<string, Present>,
  from: number,
  to: number,
): Action[] {
  const touched = Map.groupBy(entries, ({ kind, object }) => `${kind} ${object}`)
  const all = [...touched].map(([id, own]): Between => {
    const { kind, object } = own[0]!
    const now = present.get(id)
    return { kind: kind as KindName, id: object, now, before: stateAt(own, now, from), after: stateAt(own, now, to) }
  })
  const calledThen = renames(all)
  return all.flatMap(({ kind, id, now, before, after }): Action[] => {
    const found = actionBetween(kind, before, after, calledThen)
    return found ? [{ ...found, id, ...(now && { version: now.version }) }] : []
  })
}

/** One object at two revisions. */
interface Between {
  readonly kind: KindName
  readonly id: string
  readonly now: Present | undefined
  readonly before: State | undefined
  readonly after: State | undefined
}

/** What objects are called at the later revision: what only names them changes nothing for that. */
function renames(all: readonly Between[]): Called {
  return calledBy(
    all.flatMap(({ kind, before, after }) =>
      before && after && before.key.at(-1) !== after.key.at(-1) ? [[kind, before.key, after.key] as const] : [],
    ),
  )
}

interface State {
  readonly key: Key
  readonly fields: FlatFields
}

/** One object at a revision; undefined: it was not there. */
function stateAt(entries: readonly PastEntry[], now: Present | undefined, revision: number): State | undefined {
  let state: State | undefined = now
  for (const { operation, kind, key, fields, number } of entries.toReversed()) {
    if (number <= revision) break
    if (operation === 'create') state = undefined
    else if (operation === 'delete') state = { key, fields }
    else if (state)
      state = { key: renamed(kind as KindName, state.key, fields), fields: { ...state.fields, ...fields } }
  }
  return state
}

function renamed(kind: KindName, key: Key, { [kinds[kind].naturalKey]: name }: FlatFields): Key {
  return typeof name === 'string' ? [...key.slice(0, -1), name] : key
}

function actionBetween(
  kind: KindName,
  before: State | undefined,
  after: State | undefined,
  calledThen: Called,
): Action | undefined {
  if (!before && !after) return undefined
  if (!after) return { operation: 'delete', kind, key: before!.key, changes: [] }
  const changes = fieldsBetween(kind, before ? namedNow(kind, before.key, before.fields, calledThen) : {}, after.fields)
  if (!before) return { operation: 'create', kind, key: after.key, changes }
  return changes.length ? { operation: 'update', kind, key: before.key, changes } : undefined
}

function fieldsBetween(name: KindName, before: FlatFields, after: FlatFields): FieldChange[] {
  const kind = kinds[name]
  const all = Object.fromEntries(
    [...new Set([...Object.keys(before), ...Object.keys(after)])].map((path) => [path, after[path] ?? null]),
  )
  return differences(kind, before, all).map(({ path, from, to }): FieldChange => {
    if (!resolve(kind, path).field.relation) return { path, from, to, reason: 'declared' }
    return {
      path,
      add: missing(keysOf(to), keysOf(from)),
      remove: missing(keysOf(from), keysOf(to)),
      reason: 'declared',
    }
  })
}

/** What of an action can be done again: the journal has digests of secrets only, so that those that are there stay. */
export function withoutSecrets(action: Action): { action: Action; kept: string[] } {
  const kind = kinds[action.kind]
  const isKept = ({ path }: FieldChange) => isSecret(kind, path)
  const changes = action.changes.filter((one) => !isKept(one) && !resolve(kind, one.path).field.computed)
  return { action: { ...action, changes }, kept: action.changes.filter(isKept).map(({ path }) => path) }
}
