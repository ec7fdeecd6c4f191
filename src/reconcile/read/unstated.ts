// What becomes of what a source stated before and does not state now, where the source knows why it does not.
import type { InventoryRow } from '../../service/context/store-types.ts'
import { STATED_NO_MORE } from '../model/declared-digest.ts'
import type { ManagedObject } from '../model/plan-input.ts'

/** By the files that stated it. Of files that stand in none of the first three lists it goes, as guards let it. */
export interface Unstated {
  /** It stays, and is the source's: what is stated there now cannot be applied. */
  readonly kept?: readonly string[]
  /** It stays, and the source lets go of it. */
  readonly released?: readonly string[]
  /** It goes, and no guard asks: somebody has deleted just that. */
  readonly deleted?: readonly string[]
  /** Of a source that would know who deleted it: all other files that there are. What one stated that is not there waits for an approval. */
  readonly there?: readonly string[]
  /** What becomes of all that stands in none of the first three lists. */
  readonly rest?: 'deleted'
}

/** What becomes of a row of the inventory that is stated no more, where its source knows that. */
export type Fate = 'kept' | 'released' | 'deleted' | 'vanished'

/** A source of the run, with what it does not state now. */
interface Leaving {
  readonly source: string
  readonly unstated?: Unstated | undefined
}

/** What becomes of a row of the inventory by what its source says of the file that stated it. */
export function fates(
  parts: readonly Leaving[],
): (row: Pick<InventoryRow, 'source' | 'file' | 'stated'>) => Fate | undefined {
  const lists = ['kept', 'released', 'deleted'] as const
  const known = new Map(
    parts.flatMap(({ source, unstated = {} }) =>
      lists.flatMap((fate) => (unstated[fate] ?? []).map((file) => [JSON.stringify([source, file]), fate] as const)),
    ),
  )
  const complete = new Map(
    parts.flatMap(({ source, unstated }) => (unstated?.there ? [[source, new Set(unstated.there)] as const] : [])),
  )
  const rest = new Map(
    parts.flatMap(({ source, unstated }) => (unstated?.rest ? [[source, unstated.rest] as const] : [])),
  )
  if (!known.size && !complete.size && !rest.size) return () => undefined
  return ({ source, file, stated }) => {
    const fate = known.get(JSON.stringify([source, file])) ?? rest.get(source)
    if (fate || complete.get(source)?.has(file) !== false) return fate
    // What was let be when it went may go by now.
    return stated === STATED_NO_MORE ? undefined : 'vanished'
  }
}

/** The owned objects, less those that are let go of, and with those known that are meant to go, or vanished. */
export function withFates(
  rows: readonly InventoryRow[],
  fate: ReturnType<typeof fates>,
  together: (rows: readonly InventoryRow[]) => ManagedObject[],
): ManagedObject[] {
  const idOf = ({ kind, object }: Pick<ManagedObject, 'kind' | 'object'>) => `${kind} ${object}`
  const [meant, vanished] = (['deleted', 'vanished'] as const).map(
    (wanted) => new Set(rows.flatMap((row) => (fate(row) === wanted ? idOf(row) : []))),
  )
  const owned = together(rows.filter((row) => fate(row) !== 'released'))
  if (!meant!.size && !vanished!.size) return owned
  return owned.map((one) => {
    if (meant!.has(idOf(one))) return { ...one, meant: true }
    return vanished!.has(idOf(one)) ? { ...one, vanished: true } : one
  })
}
