// Differences between two lists of texts. Pure.
import { diffArrays } from 'diff'

/** The most edits that are looked for, since the time grows with their square. Beyond, everything between the common ends has changed. */
const MAX_EDITS = 500

/** A place where two lists differ. */
export interface SequenceDifference {
  /** The index of the first removed element, and that of the first added one. */
  readonly from: number
  readonly to: number
  readonly removed: readonly string[]
  readonly added: readonly string[]
}

/** Returns the places where two lists differ, in order. */
export function diffSequences(from: readonly string[], to: readonly string[]): SequenceDifference[] {
  const start = countCommon(from, to)
  const end = countCommon(from.slice(start).reverse(), to.slice(start).reverse())
  const [before, after] = [from.slice(start, from.length - end), to.slice(start, to.length - end)]
  const changes = diffArrays(before, after, { maxEditLength: MAX_EDITS }) ?? [
    { value: before, removed: true, added: false },
    { value: after, removed: false, added: true },
  ]
  const differences: SequenceDifference[] = []
  let [fromIndex, toIndex] = [start, start]
  let open: { from: number; to: number; removed: string[]; added: string[] } | undefined
  for (const { value, removed, added } of changes) {
    if (removed || added) {
      if (!open) {
        open = { from: fromIndex, to: toIndex, removed: [], added: [] }
        differences.push(open)
      }
      ;(removed ? open.removed : open.added).push(...value)
    } else open = undefined
    if (!added) fromIndex += value.length
    if (!removed) toIndex += value.length
  }
  return differences.filter(({ removed, added }) => removed.length || added.length)
}

/** Returns the number of equal elements at the start. */
function countCommon(from: readonly string[], to: readonly string[]): number {
  let count = 0
  while (count < from.length && count < to.length && from[count] === to[count]) count++
  return count
}
