// What sources own after a run: the rows that the record writes and drops.
import { hash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import type { FlatFields } from '../kinds/compare.ts'
import { kinds } from '../kinds/index.ts'
import { address } from '../kinds/tree.ts'
import type { InventoryRow } from '../service/context.ts'
import type { Ownership } from '../service/sources.ts'
import type { LeftAlone } from './action.ts'
import type { Applied } from './apply.ts'
import { bind } from './binding.ts'
import type { DesiredObject, DesiredRealm } from './desired.ts'
import { keptObjects, STATED_NO_MORE } from './kept.ts'
import type { Observed } from './observe.ts'
import type { Part } from './parts.ts'

/** The rows of a source that differ from what is kept, made one by one, and those that it owns no more. */
export function ownership(
  { source, desired, settings }: Pick<Part, 'source' | 'desired' | 'settings'>,
  input: Observed,
  leftAlone: readonly LeftAlone[],
  applied: Applied,
): { owned: Iterable<Ownership>; dropped: { kind: string; object: string }[] } {
  // What no action is about is not loaded again: it is what was bound.
  const bound = bind(input)
  const ownedAt = new Map(input.owned.map((row) => [address(row.kind, row.key), row.object]))
  const idOf = (id: string) => (bound.get(id)?.id ?? applied.get(id)?.id ?? ownedAt.get(id))!
  const rows = input.rows.filter((row) => row.source === source)
  const kept = new Map(rows.map((row) => [`${row.kind} ${row.object}`, row]))
  // Who states nothing of the realm any more lets go of all that it owned.
  const keeps = settings.prune === 'none' && desired.objects.size ? keptObjects(input) : []
  const staying = rows.filter((row) => keeps.some(({ kind, object }) => kind === row.kind && object === row.object))
  const open = rows.length ? [...desired.objects].filter(([id]) => !input.isSettled(id)) : []
  const now = new Set(open.map(([id, { kind }]) => `${kind} ${idOf(id)}`))
  return {
    owned: chained(
      differing(
        desired,
        input,
        Map.groupBy(leftAlone, ({ kind, key }) => address(kind, key)),
        idOf,
        kept,
      ),
      staying.filter((row) => row.stated !== STATED_NO_MORE).map(statedNoMore),
    ),
    dropped: rows.filter((row) => !now.has(`${row.kind} ${row.object}`) && !staying.includes(row)),
  }
}

function* differing(
  { objects }: DesiredRealm,
  { isSettled }: Observed,
  leftAlone: ReadonlyMap<string, readonly LeftAlone[]>,
  idOf: (address: string) => string,
  kept: ReadonlyMap<string, InventoryRow>,
): Generator<Ownership> {
  for (const [id, stated] of objects) {
    if (isSettled(id)) continue
    const { kind, key } = stated
    const { file, line } = stated.origin.position
    const object = idOf(id)
    const left = Map.groupBy(leftAlone.get(id) ?? [], ({ adopted }) => adopted === true)
    const [drifted, adopted] = [leftIn(left.get(false), stated), leftIn(left.get(true), stated)]
    const digest = statedDigest(stated)
    const fields = valuesOf(stated)
    const row = { kind, object, key, fields, file, line, marked: false, stated: digest, drifted, adopted }
    if (!isDeepStrictEqual(row, withoutSource(kept.get(`${kind} ${object}`)))) yield { ...row, lines: linesOf(stated) }
  }
}

function* chained<T>(...all: Iterable<T>[]): Generator<T> {
  for (const one of all) yield* one
}

/** What stays without being stated: whatever becomes of it is no drift. */
function statedNoMore({ source: _, ...row }: InventoryRow): Ownership {
  return { ...row, marked: false, stated: STATED_NO_MORE, drifted: null, adopted: null }
}

/** What of an object stays otherwise than this source states it. */
function leftIn(leftAlone: readonly LeftAlone[] | undefined, { fields }: DesiredObject): InventoryRow['drifted'] {
  const own = leftAlone?.filter(({ path }) => path === undefined || fields.has(path)) ?? []
  return own.length ? Object.fromEntries(own.map(({ path = '', live }) => [path, live])) : null
}

/** Of each field the line that states it, counted from that of the object. People are many: of theirs, that one is kept. */
function linesOf({ kind, fields, origin }: DesiredObject): InventoryRow['lines'] {
  if (kinds[kind].people) return null
  const { line } = origin.position
  return Object.fromEntries([...fields].map(([path, { origin }]) => [path, origin.locate(path).line - line]))
}

/** A digest of what the inventory says of an object that is stated so, in whatever order. */
export function statedDigest(stated: DesiredObject): string {
  const { kind, key, origin } = stated
  const { file, line } = origin.position
  const fields = Object.entries(valuesOf(stated)).sort(([a], [b]) => (a < b ? -1 : 1))
  return hash('sha256', JSON.stringify([kind, key, fields, file, line]), 'base64url')
}

function valuesOf({ fields }: DesiredObject): FlatFields {
  return Object.fromEntries([...fields].map(([path, { value }]) => [path, value]))
}

function withoutSource(row: InventoryRow | undefined): Omit<Ownership, 'lines'> | undefined {
  if (!row) return undefined
  const { source: _, lines: __, ...rest } = row
  return rest
}
