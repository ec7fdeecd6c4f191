// The inventory rows that a source writes and removes after an apply.
import { isDeepStrictEqual } from 'node:util'
import { kinds } from '../../kinds/index.ts'
import { formatAddress } from '../../kinds/tree.ts'
import type { InventoryRow } from '../../service/context/store-types.ts'
import type { InventoryEntry } from '../../service/sources/source-records.ts'
import type { AppliedObjects } from '../execute/apply.ts'
import type { DesiredObject } from '../merge/desired-object.ts'
import type { SourcePart } from '../merge/merge-parts.ts'
import type { IgnoredDrift } from '../model/action.ts'
import { digestDeclaration, NOT_DECLARED, toFlatFields } from '../model/declared-digest.ts'
import type { ObservedRealm } from '../model/plan-input.ts'
import { bindLiveObjects } from '../plan/binding.ts'
import { findRetainedObjects } from '../plan/retained-objects.ts'
import { createRemovalLookup, isUnread } from '../read/removals.ts'

/** An applied realm: its input, the drift that was ignored, and its objects. */
export interface AppliedRealm {
  readonly input: ObservedRealm
  readonly ignoredDrift: readonly IgnoredDrift[]
  readonly applied: AppliedObjects
}

/** The changes to write to the inventory of a source. */
export interface InventoryChanges {
  /** The rows to write, created on demand. */
  readonly inventory: Iterable<InventoryEntry>
  readonly removedObjects: readonly { readonly kind: string; readonly object: string }[]
  /** The removed objects that the source releases deliberately. */
  readonly releasedObjects: readonly { readonly kind: string; readonly object: string }[]
}

/** Returns the inventory rows of a source that differ from the stored ones, and the objects that it no longer manages. */
export function findInventoryChanges(
  part: Pick<SourcePart, 'source' | 'desired' | 'settings' | 'removals'>,
  realm: AppliedRealm,
): InventoryChanges {
  const { input } = realm
  const { objects } = part.desired
  const getId = createIdLookup(realm)
  const rows = input.rows.filter((row) => row.source === part.source)
  // A source that declares nothing of the realm any more releases all objects.
  const retainedObjects = part.settings.prune === 'none' && objects.size ? findRetainedObjects(input) : []
  const retained = rows.filter((row) =>
    retainedObjects.some(({ kind, object }) => kind === row.kind && object === row.object),
  )
  const changed = rows.length ? [...objects].filter(([address]) => !input.isUnchanged(address)) : []
  const declared = new Set(changed.map(([address, { kind }]) => `${kind} ${getId(address)}`))
  const removedObjects = rows.filter((row) => !declared.has(`${row.kind} ${row.object}`) && !retained.includes(row))
  const findRemoval = createRemovalLookup([part])
  return {
    inventory: concatenate(
      createChangedRows({ ...realm, getId, scope: part.removals?.scope }, objects, rows),
      retained.filter((row) => row.declaredDigest !== NOT_DECLARED).map(toUndeclaredRow),
    ),
    removedObjects,
    releasedObjects: removedObjects.filter((row) => findRemoval(row) === 'released'),
  }
}

/** Returns a lookup of object ids by address: bound, created, or managed and deleted objects. */
function createIdLookup({ input, applied }: AppliedRealm): (address: string) => string {
  const bound = bindLiveObjects(input)
  const managed = new Map(input.managed.map((row) => [formatAddress(row.kind, row.key), row.object]))
  return (address) => (bound.get(address)?.id ?? applied.get(address)?.id ?? managed.get(address))!
}

function* createChangedRows(
  {
    input,
    ignoredDrift,
    getId,
    scope,
  }: AppliedRealm & { readonly getId: (address: string) => string; readonly scope: readonly string[] | undefined },
  objects: ReadonlyMap<string, DesiredObject>,
  rows: readonly InventoryRow[],
): Generator<InventoryEntry> {
  const stored = new Map(rows.map((row) => [`${row.kind} ${row.object}`, row]))
  const ignored = Map.groupBy(ignoredDrift, ({ kind, key }) => formatAddress(kind, key))
  for (const [address, declaration] of objects) {
    if (input.isUnchanged(address)) continue
    const { kind, key } = declaration
    const { file, line } = declaration.origin.position
    const object = getId(address)
    const drift = Map.groupBy(ignored.get(address) ?? [], ({ accepted }) => accepted === true)
    const row = {
      kind,
      object,
      key,
      fields: toFlatFields(declaration),
      ...listEncryptedPaths(declaration),
      file,
      line,
      marked: false,
      declaredDigest: digestDeclaration(declaration),
      drifted: toDriftedValues(drift.get(false), declaration),
      accepted: toDriftedValues(drift.get(true), declaration),
    }
    const before = stored.get(`${kind} ${object}`)
    const changed = { ...row, lines: getLines(declaration) }
    const merged = addUnreadFields(changed, before, scope)
    if (merged) yield merged
    else if (!isDeepStrictEqual(row, toComparable(before))) yield changed
  }
}

/**
 * Returns a row of an object that files outside the scope of the run declare as well: their fields stay as they were applied. Returns
 * undefined if there are none. The next run over the whole source compares the declaration again.
 */
function addUnreadFields(
  row: InventoryEntry,
  before: InventoryRow | undefined,
  scope: readonly string[] | undefined,
): InventoryEntry | undefined {
  if (!before || scope === undefined) return undefined
  const paths = Object.keys(before.fields).filter((path) => isUnread(before, path, scope) && !(path in row.fields))
  const isOutside = isUnread(before, '', scope)
  if (!paths.length && !isOutside) return undefined
  const addUnread = <Values extends InventoryRow['drifted']>(values: Values, earlier: Values) => {
    const unread = Object.entries(earlier ?? {}).filter(([path]) => paths.includes(path))
    return unread.length ? { ...Object.fromEntries(unread), ...values } : values
  }
  return {
    ...row,
    ...(isOutside && { file: before.file, line: before.line, lines: before.lines }),
    fields: { ...row.fields, ...addUnread(null, before.fields) },
    encrypted: [...(row.encrypted ?? []), ...(before.encrypted ?? []).filter((path) => paths.includes(path))],
    marked: before.marked,
    declaredDigest: null,
    drifted: addUnread(row.drifted, before.drifted),
    accepted: addUnread(row.accepted, before.accepted),
  }
}

/**
 * Returns the paths of the encrypted values that the inventory seals. It does not seal names of objects, which plans show, and which the
 * erasure of users looks for.
 */
function listEncryptedPaths({ kind, encrypted }: DesiredObject): Pick<InventoryRow, 'encrypted'> {
  const { fields, naturalKey } = kinds[kind]
  const paths = [...(encrypted?.keys() ?? [])].filter((path) => path !== naturalKey && !fields[path]?.refersTo)
  return paths.length ? { encrypted: paths.sort() } : {}
}

function* concatenate<T>(...all: Iterable<T>[]): Generator<T> {
  for (const items of all) yield* items
}

/** Returns the row of an object that is retained without being declared: its changes are no drift. */
function toUndeclaredRow({ source: _, ...row }: InventoryRow): InventoryEntry {
  return { ...row, marked: false, declaredDigest: NOT_DECLARED, drifted: null, accepted: null }
}

/** Returns the live values of ignored drift that concerns a declaration, by path. */
function toDriftedValues(
  drift: readonly IgnoredDrift[] | undefined,
  { fields }: DesiredObject,
): InventoryRow['drifted'] {
  const declared = drift?.filter(({ path }) => path === undefined || fields.has(path)) ?? []
  return declared.length ? Object.fromEntries(declared.map(({ path = '', live }) => [path, live])) : null
}

/**
 * Returns the line of each field that is declared in the file of its object, counted from that of the object. Users may be many, so
 * only the line of the object is stored.
 */
function getLines({ kind, fields, origin }: DesiredObject): InventoryRow['lines'] {
  if (kinds[kind].isUserData) return null
  const { file, line } = origin.position
  return Object.fromEntries(
    [...fields].flatMap(([path, { origin }]) => {
      const position = origin.locate(path)
      return position.file === file ? [[path, position.line - line]] : []
    }),
  )
}

function toComparable(row: InventoryRow | undefined): Omit<InventoryEntry, 'lines'> | undefined {
  if (!row) return undefined
  const { source: _, lines: __, ...rest } = row
  return rest
}
