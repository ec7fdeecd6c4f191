// Positions: of a path in a document, and of an offset in a file.
import { EVENT_ID, getScalarValue } from 'js-yaml'
import type { Path, Position } from '../lib/position.ts'
import { elementsOf, isMergeKey, linksOf, offsetOf, pairsOf, type Source } from './events.ts'

interface Child {
  /** Offset of the key, or of the list element; -1 where nothing is written. */
  readonly offset: number
  readonly node: number
}

/** Finds the position of a path from a root; what it learns of the file on the way, it keeps. */
export function placeIn(source: Source): (root: number, path: Path) => Position {
  const positionOf = positionsIn(source)
  const childrenOf = childrenIn(source)
  return (root, path) => {
    let node = root
    let offset = offsetOf(source.events[root]!)
    for (const step of path) {
      const child = childrenOf(node)?.get(String(step))
      if (!child) break
      if (child.offset >= 0) offset = child.offset
      node = child.node
    }
    return positionOf(Math.max(offset, 0))
  }
}

/** The children of a collection by key or index, followed through aliases and merge keys; undefined for a scalar. */
function childrenIn({ text, events }: Source): (node: number) => Map<string, Child> | undefined {
  const { ends, targets } = linksOf(text, events)
  const known = new Map<number, Map<string, Child>>()

  function keyOf(node: number): string {
    const event = events[targets.get(node) ?? node]!
    return event.type === EVENT_ID.SCALAR ? getScalarValue(text, event) : ''
  }

  function childrenOf(at: number): Map<string, Child> | undefined {
    const node = targets.get(at) ?? at
    const type = events[node]!.type
    if (type !== EVENT_ID.MAPPING && type !== EVENT_ID.SEQUENCE) return undefined
    const before = known.get(node)
    if (before) return before
    const children = new Map<string, Child>()
    known.set(node, children)
    if (type === EVENT_ID.SEQUENCE) {
      elementsOf(events, ends, node).forEach((element, index) => {
        children.set(String(index), { offset: offsetOf(events[element]!), node: element })
      })
      return children
    }
    const merged: number[] = []
    for (const [key, value] of pairsOf(events, ends, node)) {
      if (isMergeKey(text, events[key]!)) merged.push(value)
      else children.set(keyOf(key), { offset: offsetOf(events[key]!), node: value })
    }
    for (const child of merged.flatMap(mergedChildren)) if (!children.has(child[0])) children.set(...child)
    return children
  }

  function mergedChildren(value: number): [string, Child][] {
    const node = targets.get(value) ?? value
    if (events[node]!.type === EVENT_ID.SEQUENCE) return elementsOf(events, ends, node).flatMap(mergedChildren)
    return [...(childrenOf(node) ?? [])]
  }

  return childrenOf
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
