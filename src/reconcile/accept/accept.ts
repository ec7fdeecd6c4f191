// Taking over what was done by REST: the document that states what nobody states, and where what is stated must say otherwise.
import { type FlatFields, resolve } from '../../kinds/compare.ts'
import { kinds } from '../../kinds/index.ts'
import type { Json, Representation } from '../../kinds/json.ts'
import type { Key, KindName } from '../../kinds/kind.ts'
import { relationValue } from '../../kinds/relations.ts'
import { address, describe } from '../../kinds/tree.ts'
import type { WrittenObject } from '../../realm-file/export/minimal.ts'
import { documentOf } from '../../realm-file/export/written.ts'
import { escapeVariables, mapTexts } from '../../realm-file/substitute.ts'
import type { Context } from '../../service/context/context.ts'
import { failure } from '../../service/context/errors.ts'
import type { InventoryRow } from '../../service/context/store-types.ts'
import { inventoryOf } from '../../service/journal/source-inventory.ts'
import { demand } from '../../service/permissions/administrators.ts'
import { type Drift, driftOf } from '../drift/drift.ts'
import { type Scope, scopeOf } from '../history/scope.ts'
import type { Attribution } from '../model/action.ts'
import { type OfNobody, ofNobody, parentOf } from './unmanaged.ts'

/** A place in a document that states what is not so any more. */
export interface Edit {
  readonly source: string
  readonly file: string
  readonly line: number
  readonly kind: KindName
  readonly key: Key
  /** Absent: the object is gone, and is to be stated no more. */
  readonly path?: string
  /** What is stated, and what to state instead; absent for secrets. */
  readonly stated?: Json
  readonly live?: Json
  readonly by?: Attribution
}

/** What makes documents say what is live. */
export interface AcceptedDrift {
  /** To be added to a source: what nobody states, in the smallest form. Absent: there is nothing. */
  readonly document?: Representation
  readonly edits: readonly Edit[]
}

/**
 * What to commit so that what is live is stated: what nobody states, as a document, and the places that state something else.
 * `paths`: only what stands there or below, of an object also fields that nobody states; users only where a path or `users`
 * names them. Throws invalid, not_found. A few statements per kind.
 */
export async function accept(
  context: Context,
  { paths, users }: { paths: readonly string[]; users: boolean },
): Promise<AcceptedDrift> {
  demand(context, 'administer-realm')
  const scope = scopeOf(context.realm.name, paths, users)
  const found = await ofNobody(context, scope.people)
  const { rows } = await inventoryOf(context, [])
  const objects = [...wholeObjects(found, scope), ...unstatedFields(found, scope, rows)]
  const drift = (await driftOf(context)).filter(
    ({ kind, key, path }) =>
      scope.holds(kind, key) && (path === undefined || scope.fields(kind, key)?.(path) !== false),
  )
  const known = new Set([...found.live.keys(), ...drift.map(({ kind, key }) => address(kind, key))])
  const unknown = scope.objects.find(({ kind, key }) => !known.has(address(kind, key)))
  if (unknown) throw failure('not_found', `${describe(unknown.kind, unknown.key)} is not there`)
  const edits = drift.map(editOf)
  return objects.length ? { document: documentIn(context.realm.name, objects, found), edits } : { edits }
}

function wholeObjects({ of }: OfNobody, scope: Scope): WrittenObject[] {
  return of.filter(({ kind, key }) => scope.holds(kind, key) && !isPart(scope, kind, key))
}

/** Whether only fields of the object are asked for. */
function isPart(scope: Scope, kind: KindName, key: Key): boolean {
  const asked = scope.fields(kind, key)
  return asked !== undefined && !asked(kinds[kind].naturalKey)
}

/** Of objects that are asked for by themselves, what no source states of them. */
function unstatedFields({ of, needed, written, live }: OfNobody, scope: Scope, rows: readonly InventoryRow[]) {
  const whole = new Set(of.map(({ kind, key }) => address(kind, key)))
  const stated = Map.groupBy(rows, ({ kind, object }) => `${kind} ${object}`)
  return [...written].flatMap(([id, one]): WrittenObject[] => {
    const { kind, key } = one
    const asked = scope.holds(kind, key) ? scope.fields(kind, key) : undefined
    const isWhole = whole.has(id) && !isPart(scope, kind, key)
    if (!asked || isWhole) return []
    const known = new Set(stated.get(`${kind} ${live.get(id)!.id}`)?.flatMap(({ fields }) => Object.keys(fields)))
    // A field that is named is stated also where it has its default.
    const least = needed.find((other) => address(other.kind, other.key) === id)?.fields ?? {}
    const from = isPart(scope, kind, key) ? one.fields : least
    const { naturalKey } = kinds[kind]
    const fields = Object.entries(from).filter(([path]) => asked(path) && !known.has(path) && path !== naturalKey)
    return fields.length
      ? [{ kind, key, fields: { [naturalKey]: one.fields[naturalKey]!, ...Object.fromEntries(fields) } }]
      : []
  })
}

function documentIn(realm: string, objects: readonly WrittenObject[], { written }: OfNobody): Representation {
  const all = new Map(objects.map((one) => [address(one.kind, one.key), one]))
  const named = (kind: KindName, key: Key, fields: FlatFields) => {
    const { naturalKey } = kinds[kind]
    return { kind, key, fields: { [naturalKey]: fields[naturalKey]! } }
  }
  // What an object stands in is named, and the realm.
  for (const { kind, key } of objects) {
    const stands = key.length > 1 && Object.values(kinds[key[0] as KindName].children).includes(kind)
    const above = stands ? written.get(parentOf(key)) : undefined
    if (above && !all.has(parentOf(key))) all.set(parentOf(key), named(above.kind, above.key, above.fields))
  }
  if (!all.has(address('realm', [realm]))) all.set(address('realm', [realm]), named('realm', [realm], { realm }))
  const inOrder = [...written.keys()].flatMap((id) => all.get(id) ?? [])
  return mapTexts(documentOf(inOrder), [], escapeVariables) as Representation
}

function editOf({ source, file, line, kind, key, path, applied, live, by }: Drift): Edit {
  return {
    source,
    file,
    line,
    kind,
    key,
    ...(path !== undefined && { path }),
    ...(applied !== undefined && { stated: asWritten(kind, path!, applied) }),
    ...(live !== undefined && { live: asWritten(kind, path!, live) }),
    ...(by && { by }),
  }
}

/** A value of a field as a document has it: relations by the names of what they lead to. */
function asWritten(kind: KindName, path: string, value: Json): Json {
  const { field } = resolve(kinds[kind], path)
  return field.relation && value !== null ? relationValue(field, value as readonly Key[]) : value
}
