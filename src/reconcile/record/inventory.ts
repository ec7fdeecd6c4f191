// What sources own after a run: the rows that the record writes and drops.

import { isDeepStrictEqual } from 'node:util'
import { kinds } from '../../kinds/index.ts'
import { address } from '../../kinds/tree.ts'
import type { InventoryRow } from '../../service/context/store-types.ts'
import type { Ownership } from '../../service/sources/sources.ts'
import type { Applied } from '../execute/apply.ts'
import type { DesiredObject, DesiredRealm } from '../merge/desired-realm.ts'
import type { Part } from '../merge/merge-parts.ts'
import type { IgnoredDrift } from '../model/action.ts'
import { STATED_NO_MORE, statedDigest, valuesOf } from '../model/declared-digest.ts'
import type { Observed } from '../observe/observed.ts'
import { bind } from '../plan/binding.ts'
import { keptObjects } from '../plan/kept.ts'

/** The rows of a source that differ from what is kept, made one by one, and those that it owns no more. */
export function ownership(
  { source, desired, settings }: Pick<Part, 'source' | 'desired' | 'settings'>,
  input: Observed,
  leftAlone: readonly IgnoredDrift[],
  applied: Applied,
): { owned: Iterable<Ownership>; dropped: { kind: string; object: string }[] } {
  // What no action is about is not loaded again: it is what was bound.
  const bound = bind(input)
  const ownedAt = new Map(input.managed.map((row) => [address(row.kind, row.key), row.object]))
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
  leftAlone: ReadonlyMap<string, readonly IgnoredDrift[]>,
  idOf: (address: string) => string,
  kept: ReadonlyMap<string, InventoryRow>,
): Generator<Ownership> {
  for (const [id, stated] of objects) {
    if (isSettled(id)) continue
    const { kind, key } = stated
    const { file, line } = stated.origin.position
    const object = idOf(id)
    const left = Map.groupBy(leftAlone.get(id) ?? [], ({ accepted }) => accepted === true)
    const [drifted, accepted] = [leftIn(left.get(false), stated), leftIn(left.get(true), stated)]
    const digest = statedDigest(stated)
    const fields = valuesOf(stated)
    const row = { kind, object, key, fields, file, line, marked: false, stated: digest, drifted, accepted }
    if (!isDeepStrictEqual(row, withoutSource(kept.get(`${kind} ${object}`)))) yield { ...row, lines: linesOf(stated) }
  }
}

function* chained<T>(...all: Iterable<T>[]): Generator<T> {
  for (const one of all) yield* one
}

/** What stays without being stated: whatever becomes of it is no drift. */
function statedNoMore({ source: _, ...row }: InventoryRow): Ownership {
  return { ...row, marked: false, stated: STATED_NO_MORE, drifted: null, accepted: null }
}

/** What of an object stays otherwise than this source states it. */
function leftIn(leftAlone: readonly IgnoredDrift[] | undefined, { fields }: DesiredObject): InventoryRow['drifted'] {
  const own = leftAlone?.filter(({ path }) => path === undefined || fields.has(path)) ?? []
  return own.length ? Object.fromEntries(own.map(({ path = '', live }) => [path, live])) : null
}

/** Of each field the line that states it, counted from that of the object. People are many: of theirs, that one is kept. */
function linesOf({ kind, fields, origin }: DesiredObject): InventoryRow['lines'] {
  if (kinds[kind].people) return null
  const { line } = origin.position
  return Object.fromEntries([...fields].map(([path, { origin }]) => [path, origin.locate(path).line - line]))
}

function withoutSource(row: InventoryRow | undefined): Omit<Ownership, 'lines'> | undefined {
  if (!row) return undefined
  const { source: _, lines: __, ...rest } = row
  return rest
}
