// What becomes of what a source stated before and does not state now, where the source knows why it does not.
import type { InventoryRow } from '../service/context.ts'
import type { Owned } from './plan-input.ts'

/** By the files that stated it. Of files that stand in none of these lists it goes, as guards let it. */
export interface Unstated {
  /** It stays, and is the source's: what is stated there now cannot be applied. */
  readonly kept?: readonly string[]
  /** It stays, and the source lets go of it. */
  readonly released?: readonly string[]
  /** It goes, and no guard asks: somebody has deleted just that. */
  readonly deleted?: readonly string[]
}

/** A source of the run, with what it does not state now. */
interface Leaving {
  readonly source: string
  readonly unstated?: Unstated | undefined
}

/** Which of the lists names what a row of the inventory was stated by. */
export function fates(
  parts: readonly Leaving[],
): (row: Pick<InventoryRow, 'source' | 'file'>) => keyof Unstated | undefined {
  const lists = ['kept', 'released', 'deleted'] as const
  const known = new Map(
    parts.flatMap(({ source, unstated = {} }) =>
      lists.flatMap((fate) => (unstated[fate] ?? []).map((file) => [JSON.stringify([source, file]), fate] as const)),
    ),
  )
  return ({ source, file }) => (known.size ? known.get(JSON.stringify([source, file])) : undefined)
}

/** The owned objects, less those that are let go of, and with those known that are meant to go. */
export function withFates(
  rows: readonly InventoryRow[],
  fate: ReturnType<typeof fates>,
  together: (rows: readonly InventoryRow[]) => Owned[],
): Owned[] {
  const meant = new Set(rows.flatMap((row) => (fate(row) === 'deleted' ? `${row.kind} ${row.object}` : [])))
  const owned = together(rows.filter((row) => fate(row) !== 'released'))
  return meant.size
    ? owned.map((one) => (meant.has(`${one.kind} ${one.object}`) ? { ...one, meant: true as const } : one))
    : owned
}
