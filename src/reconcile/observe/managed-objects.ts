// The objects that sources manage, compared with what they declare: only inventory rows that differ are read.
import { type FlatFields, readKeys, resolveField, subtractKeys } from '../../kinds/compare.ts'
import { kinds } from '../../kinds/index.ts'
import type { Json } from '../../kinds/json.ts'
import { formatAddress } from '../../kinds/tree.ts'
import type { Context } from '../../service/context/context.ts'
import type { InventoryRow } from '../../service/context/store-types.ts'
import { getInventoryDifference, listManagedByKeys } from '../../service/journal/source-inventory.ts'
import type { DesiredObject } from '../merge/desired-object.ts'
import type { DesiredRealm } from '../merge/desired-realm.ts'
import type { SourcePart } from '../merge/merge-parts.ts'
import { digestDeclaration, NOT_DECLARED } from '../model/declared-digest.ts'
import type { ManagedObject } from '../model/plan-input.ts'
import { isUnchangedValue } from '../model/references.ts'
import { createRemovalLookup, isUnread, markRemovals } from '../read/removals.ts'

/** The part of a realm that one source declares, as far as observing needs it. */
export type DeclaredPart = Pick<
  SourcePart,
  'source' | 'desired' | 'settings' | 'tenant' | 'hasNewSettings' | 'removals'
>

/** The inventory of a realm, sorted by whether this run decides about it. */
export interface Inventory {
  /** All rows that were read. */
  readonly all: readonly InventoryRow[]
  /** The rows of sources of the run. */
  readonly rows: readonly InventoryRow[]
  /** The rows of sources that are not read in this run, or whose declarations cannot be applied now. They only veto. */
  readonly otherSources: readonly InventoryRow[]
  /** The tenants among them, if no source of the run is one. */
  readonly tenants: ReadonlySet<string>
  /** The objects of `rows`. */
  readonly managed: readonly ManagedObject[]
  /** The addresses of objects whose declaration or live state has changed since the last apply. */
  readonly changed: ReadonlySet<string>
}

/** Reads the inventory without the rows whose declaration is unchanged and unmarked. One statement, or two. */
export async function readInventory(context: Context, parts: readonly DeclaredPart[]): Promise<Inventory> {
  const { all, changed, tenants } = await readChangedRows(context, parts)
  const sources = new Set(parts.map(({ source }) => source))
  const findRemoval = createRemovalLookup(parts)
  const isDecided = (row: InventoryRow) => {
    if (!sources.has(row.source)) return false
    const removal = findRemoval(row)
    return removal === 'unread' ? findDeclaration(row, parts) !== undefined : removal !== 'retained'
  }
  const rows = all.filter(isDecided)
  return {
    all,
    rows,
    otherSources: all.filter((row) => !isDecided(row) && row.declaredDigest !== NOT_DECLARED),
    managed: markRemovals(rows, findRemoval, (remaining) =>
      mergeManagedObjects(
        remaining.map((row) => withoutUnreadFields(row, parts)),
        parts,
      ),
    ),
    changed,
    tenants: parts.some(({ tenant }) => tenant) ? new Set() : tenants,
  }
}

/** Returns what the source of a row declares of its object in this run. */
function findDeclaration(
  { source, kind, key }: InventoryRow,
  parts: readonly DeclaredPart[],
): DesiredObject | undefined {
  return parts.find((part) => part.source === source)?.desired.objects.get(formatAddress(kind, key))
}

/** Returns a row without the fields that only files outside the scope of the run declare: they are as they were applied. */
function withoutUnreadFields(row: InventoryRow, parts: readonly DeclaredPart[]): InventoryRow {
  const scope = parts.find(({ source }) => source === row.source)?.removals?.scope
  if (scope === undefined) return row
  const declaration = findDeclaration(row, parts)
  const fields = Object.entries(row.fields).filter(
    ([path]) => !isUnread(row, path, scope) || declaration?.fields.has(path) === true,
  )
  return { ...row, fields: Object.fromEntries(fields) }
}

async function readChangedRows(
  context: Context,
  parts: readonly DeclaredPart[],
): Promise<Pick<Inventory, 'changed' | 'tenants'> & { readonly all: InventoryRow[] }> {
  const digested = parts.map((part) => ({ part, ...digestDeclarations(part.desired) }))
  const { rows, newDigests, tenants } = await getInventoryDifference(
    context,
    digested.map(({ part: { source, hasNewSettings, settings }, byDigest }) => ({
      source,
      digests: [...byDigest.keys()],
      hasNewSettings,
      hasNewAuthoritativeLists: hasNewSettings && settings.prune === 'all',
    })),
  )
  const bySource = new Map(digested.map(({ part, byDigest }) => [part.source, byDigest]))
  const changed = new Set([
    ...digested.flatMap(({ masked }) => masked),
    ...newDigests.flatMap(({ source, digests }) => digests.map((digest) => bySource.get(source)!.get(digest)!)),
    ...rows.filter(({ source }) => bySource.has(source)).map(({ kind, key }) => formatAddress(kind, key)),
  ])
  return { all: [...rows, ...(await readRowsOfOtherParts(context, { parts, rows, changed }))], changed, tenants }
}

/** Reads the unchanged rows of objects that another source declares differently now: merging needs the rows of all sources. */
async function readRowsOfOtherParts(
  context: Context,
  {
    parts,
    rows,
    changed,
  }: { parts: readonly DeclaredPart[]; rows: readonly InventoryRow[]; changed: ReadonlySet<string> },
): Promise<InventoryRow[]> {
  if (parts.length < 2) return []
  const read = new Set(rows.map(({ source, kind, key }) => `${source} ${formatAddress(kind, key)}`))
  const unread = parts.flatMap(({ source, desired }) =>
    [...changed].flatMap((id) => (read.has(`${source} ${id}`) ? [] : (desired.objects.get(id) ?? []))),
  )
  if (!unread.length) return []
  const objects = new Map(unread.map(({ kind, key }) => [formatAddress(kind, key), { kind, key }]))
  const selected = await listManagedByKeys(
    context,
    parts.map(({ source }) => source),
    [...objects.values()],
  )
  return selected.filter(({ source, kind, key }) => !read.has(`${source} ${formatAddress(kind, key)}`))
}

function digestDeclarations({ objects }: DesiredRealm): { masked: string[]; byDigest: Map<string, string> } {
  // A mask retains the live value, so the live object has to be read.
  const masked = [...objects].filter(([, object]) => object.masked.size).map(([id]) => id)
  const byDigest = new Map<string, string>()
  for (const [id, object] of objects) if (!object.masked.size) byDigest.set(digestDeclaration(object), id)
  return { masked, byDigest }
}

/** Merges the rows of each object. Sources that manage the same field have applied the same value. */
function mergeManagedObjects(rows: readonly InventoryRow[], parts: readonly DeclaredPart[]): ManagedObject[] {
  const prunesNothing = new Set(parts.flatMap(({ source, settings }) => (settings.prune === 'none' ? source : [])))
  const merged = new Map<string, ManagedObject>()
  for (const { source, declaredDigest: _, lines: __, ...fields } of rows) {
    const row: ManagedObject = prunesNothing.has(source) ? { ...fields, isRetained: true } : fields
    const id = `${row.object} ${formatAddress(row.kind, row.key)}`
    const before = merged.get(id)
    merged.set(id, before ? mergeRows(row, before) : row)
  }
  return [...merged.values()]
}

function mergeRows(row: ManagedObject, before: ManagedObject): ManagedObject {
  return {
    ...before,
    fields: mergeFields(row, before),
    marked: before.marked || row.marked,
    drifted: row.drifted || before.drifted ? { ...row.drifted, ...before.drifted } : null,
    accepted: row.accepted || before.accepted ? { ...row.accepted, ...before.accepted } : null,
    ...((row.encrypted || before.encrypted) && {
      encrypted: [...new Set([...(row.encrypted ?? []), ...(before.encrypted ?? [])])],
    }),
    ...((row.isRetained || before.isRetained) && { isRetained: true as const }),
  }
}

/** Merges fields; of a relation, each source manages some elements. */
function mergeFields(row: ManagedObject, before: ManagedObject): FlatFields {
  const fields: Record<string, Json> = { ...row.fields }
  for (const [path, value] of Object.entries(before.fields)) {
    const isRelation = resolveField(kinds[row.kind], path).field.relation
    const added = isRelation ? subtractKeys(readKeys(row.fields[path]), readKeys(value)) : []
    fields[path] = added.length ? [...readKeys(value), ...added] : value
  }
  return fields
}

/** Returns the managed objects whose declaration only moved within its source: its values are the applied ones. By address. */
export function findUnchangedObjects(
  desired: DesiredRealm,
  managed: readonly ManagedObject[],
): ReadonlyMap<string, ManagedObject> {
  const unchanged = new Map<string, ManagedObject>()
  for (const row of managed) {
    const id = formatAddress(row.kind, row.key)
    const object = desired.objects.get(id)
    const isAsApplied = !row.marked && !row.drifted && !row.accepted
    if (isAsApplied && object && !object.masked.size && hasSameValues(object.fields, row.fields)) unchanged.set(id, row)
  }
  return unchanged
}

function hasSameValues(declared: DesiredObject['fields'], applied: FlatFields): boolean {
  return (
    declared.size === Object.keys(applied).length &&
    [...declared].every(([path, { value }]) => isUnchangedValue(applied, path, value))
  )
}
