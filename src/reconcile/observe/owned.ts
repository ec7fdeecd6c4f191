// What sources own, against what they state now: only what differs is read.
import { type FlatFields, keysOf, missing, resolve } from '../../kinds/compare.ts'
import { kinds } from '../../kinds/index.ts'
import type { Json } from '../../kinds/json.ts'
import { address } from '../../kinds/tree.ts'
import type { Context } from '../../service/context/context.ts'
import type { InventoryRow } from '../../service/context/store-types.ts'
import { inventoryOf, ownedOf } from '../../service/journal/source-inventory.ts'
import type { DesiredObject, DesiredRealm } from '../merge/desired-realm.ts'
import type { Part } from '../merge/merge-parts.ts'
import { statedDigest } from '../model/declared-digest.ts'
import type { ManagedObject } from '../model/plan-input.ts'
import { isStatedAgain } from '../model/references.ts'

/** A source, and what it states of the realm. */
export type Stating = Pick<Part, 'source' | 'desired' | 'settings' | 'resettled' | 'unstated'>

/**
 * The inventory without what a source states as it did before and nobody has changed since, and the addresses of what one
 * states otherwise, or where somebody did. Whoever changes an object marks its rows.
 */
export async function inventoryAgainst(
  context: Context,
  parts: readonly Stating[],
): Promise<{ rows: InventoryRow[]; open: ReadonlySet<string> }> {
  const stating = parts.map(({ source, desired, resettled, settings }) => ({
    source,
    resettled,
    whole: resettled && settings.prune === 'all',
    ...digestsIn(desired),
  }))
  const { rows, fresh } = await inventoryOf(
    context,
    stating.map(({ source, byDigest, resettled, whole }) => ({
      source,
      digests: [...byDigest.keys()],
      resettled,
      whole,
    })),
  )
  const digestsOf = new Map(stating.map(({ source, byDigest }) => [source, byDigest]))
  const open = new Set([
    ...stating.flatMap(({ masked }) => masked),
    ...fresh.flatMap(({ source, digests }) => digests.map((digest) => digestsOf.get(source)!.get(digest)!)),
    ...rows.filter(({ source }) => digestsOf.has(source)).map(({ kind, key }) => address(kind, key)),
  ])
  return { rows: [...rows, ...(await rowsBeside(context, parts, rows, open))], open }
}

/** Of objects that one source states otherwise, what the others state as they did: what was applied is known whole then. */
async function rowsBeside(
  context: Context,
  parts: readonly Stating[],
  rows: readonly InventoryRow[],
  open: ReadonlySet<string>,
): Promise<InventoryRow[]> {
  if (parts.length < 2) return []
  const read = new Set(rows.map(({ source, kind, key }) => `${source} ${address(kind, key)}`))
  const beside = parts.flatMap(({ source, desired }) =>
    [...open].flatMap((id) => (read.has(`${source} ${id}`) ? [] : (desired.objects.get(id) ?? []))),
  )
  if (!beside.length) return []
  const objects = new Map(beside.map(({ kind, key }) => [address(kind, key), { kind, key }]))
  const found = await ownedOf(
    context,
    parts.map(({ source }) => source),
    [...objects.values()],
  )
  return found.filter(({ source, kind, key }) => !read.has(`${source} ${address(kind, key)}`))
}

function digestsIn({ objects }: DesiredRealm): { masked: string[]; byDigest: Map<string, string> } {
  // A mask says that what is there stays: that has to be looked at.
  const masked = [...objects].filter(([, stated]) => stated.masked.length).map(([id]) => id)
  const byDigest = new Map<string, string>()
  for (const [id, stated] of objects) if (!stated.masked.length) byDigest.set(statedDigest(stated), id)
  return { masked, byDigest }
}

/** What the sources own together of each object: the same values, where several state one. */
export function ownedTogether(rows: readonly InventoryRow[], parts: readonly Stating[]): ManagedObject[] {
  const pruneNothing = new Set(parts.flatMap(({ source, settings }) => (settings.prune === 'none' ? source : [])))
  const together = new Map<string, ManagedObject>()
  for (const { source, stated: _, lines: __, ...kept } of rows) {
    const row: ManagedObject = pruneNothing.has(source) ? { ...kept, stays: true } : kept
    const id = `${row.object} ${address(row.kind, row.key)}`
    const known = together.get(id)
    together.set(
      id,
      known
        ? {
            ...known,
            fields: unitedFields(row, known),
            marked: known.marked || row.marked,
            drifted: row.drifted || known.drifted ? { ...row.drifted, ...known.drifted } : null,
            accepted: row.accepted || known.accepted ? { ...row.accepted, ...known.accepted } : null,
            ...((row.stays || known.stays) && { stays: true as const }),
          }
        : row,
    )
  }
  return [...together.values()]
}

/** Of a relation, each source owns elements. */
function unitedFields(one: ManagedObject, other: ManagedObject): FlatFields {
  const fields: Record<string, Json> = { ...one.fields }
  for (const [path, value] of Object.entries(other.fields)) {
    const more = resolve(kinds[one.kind], path).field.relation ? missing(keysOf(one.fields[path]), keysOf(value)) : []
    fields[path] = more.length ? [...keysOf(value), ...more] : value
  }
  return fields
}

/** What of the rows that were read is stated as it was applied after all, by address: it only stands elsewhere. */
export function settledRows(
  desired: DesiredRealm,
  owned: readonly ManagedObject[],
): ReadonlyMap<string, ManagedObject> {
  const settled = new Map<string, ManagedObject>()
  for (const row of owned) {
    const id = address(row.kind, row.key)
    const stated = desired.objects.get(id)
    const isAsApplied = !row.marked && !row.drifted && !row.accepted
    if (isAsApplied && stated && !stated.masked.length && statesAgain(stated.fields, row.fields)) settled.set(id, row)
  }
  return settled
}

function statesAgain(stated: DesiredObject['fields'], applied: FlatFields): boolean {
  return (
    stated.size === Object.keys(applied).length &&
    [...stated].every(([path, { value }]) => isStatedAgain(applied, path, value))
  )
}
