// Positions: of a path in a document, and of an offset in a file.
import { EVENT_ID } from 'js-yaml'
import type { Path, Position } from '../../lib/position.ts'
import { elementsOf, isMergeKey, linksOf, offsetOf, pairsOf, type Source } from './events.ts'

interface Child {
  /** Offset of the key, or of the list element; -1 where nothing is written. */
  readonly offset: number
  readonly node: number
}

/** Finds the position of a path from a root; what it learns of long collections on the way, it keeps. */
export function placeIn(source: Source): (root: number, path: Path) => Position {
  const positionOf = positionsIn(source)
  const childOf = childrenIn(source)
  return (root, path) => {
    let node = root
    let offset = offsetOf(source.events.at(root))
    for (const step of path) {
      const child = childOf(node, String(step))
      if (!child) break
      if (child.offset >= 0) offset = child.offset
      node = child.node
    }
    return positionOf(Math.max(offset, 0))
  }
}

/** Of so many keys a mapping is looked through anew each time: most are short, and there are many of them. */
const SHORT = 64

/** The child of a collection by key or index, followed through aliases and merge keys; undefined where there is none. */
function childrenIn({ text, events }: Source): (node: number, step: string) => Child | undefined {
  const { ends, targets } = linksOf(text, events)
  const lists = new Map<number, Int32Array>()
  const mappings = new Map<number, Map<string, Child>>()

  function keyOf(node: number): string {
    return events.textOf(text, targets.get(node) ?? node) ?? ''
  }

  function childOf(at: number, step: string): Child | undefined {
    const node = targets.get(at) ?? at
    const type = events.typeOf(node)
    if (type === EVENT_ID.SEQUENCE) return elementOf(node, Number(step))
    if (type !== EVENT_ID.MAPPING) return undefined
    const known = mappings.get(node)
    if (known) return known.get(step)
    if ((ends[node]! - node) / 2 > SHORT) mappings.set(node, new Map(childrenOf(node)))
    return mappings.has(node) ? mappings.get(node)!.get(step) : found(node, step)
  }

  function found(mapping: number, step: string): Child | undefined {
    let merges = false
    let last: Child | undefined
    for (let key = mapping + 1; events.typeOf(key) !== EVENT_ID.POP; key = ends[ends[key]!]!) {
      const name = keyOf(key)
      if (name === '<<' && isMergeKey(text, events.at(key))) merges = true
      // JSON may state a key again: the last one counts.
      else if (name === step) last = { offset: offsetOf(events.at(key)), node: ends[key]! }
    }
    if (last) return last
    return merges ? childrenOf(mapping).find(([key]) => key === step)?.[1] : undefined
  }

  function elementOf(list: number, index: number): Child | undefined {
    if (!lists.has(list)) lists.set(list, Int32Array.from(elementsOf(events, ends, list)))
    const node = lists.get(list)![index]
    return node === undefined ? undefined : { offset: offsetOf(events.at(node)), node }
  }

  /** The children of a mapping; its own before those that merge keys bring, each key once. */
  function childrenOf(node: number, above: readonly number[] = []): [key: string, child: Child][] {
    const merged: number[] = []
    const children = new Map<string, Child>()
    for (const [key, value] of pairsOf(events, ends, node)) {
      if (isMergeKey(text, events.at(key))) merged.push(value)
      else children.set(keyOf(key), { offset: offsetOf(events.at(key)), node: value })
    }
    for (const [key, child] of merged.flatMap((value) => mergedChildren(value, [...above, node])))
      if (!children.has(key)) children.set(key, child)
    return [...children]
  }

  function mergedChildren(value: number, above: readonly number[]): [string, Child][] {
    const node = targets.get(value) ?? value
    if (events.typeOf(node) === EVENT_ID.SEQUENCE)
      return elementsOf(events, ends, node).flatMap((element) => mergedChildren(element, above))
    return events.typeOf(node) === EVENT_ID.MAPPING && !above.includes(node) ? childrenOf(node, above) : []
  }

  return childOf
}

/** Turns offsets into positions. The tables make a look-up cheap even where the file is one long line. */
export function positionsIn({ file, text }: Pick<Source, 'file' | 'text'>): (offset: number) => Position {
  const lineStarts = [0, ...Array.from(text.matchAll(/\r\n|\r|\n/g), (end) => end.index + end[0].length)]
  const pairs = Array.from(text.matchAll(/[\uD800-\uDBFF][\uDC00-\uDFFF]/g), (pair) => pair.index)
  return (offset) => {
    const line = countBelow(lineStarts, offset + 1)
    const lineStart = lineStarts[line - 1]!
    const surrogates = countBelow(pairs, offset) - countBelow(pairs, lineStart)
    return { file, line, column: offset - lineStart - surrogates + 1 }
  }
}

/** How many of the ascending numbers are less than the limit. */
function countBelow(numbers: number[], limit: number): number {
  let low = 0
  let high = numbers.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (numbers[middle]! < limit) low = middle + 1
    else high = middle
  }
  return low
}
