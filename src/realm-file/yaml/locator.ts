// Finds positions: of a path in a document, and of an offset in a file.
import { EVENT_ID } from 'js-yaml'
import type { DocumentPath, SourcePosition } from '../../lib/source-position.ts'
import { createLruCache } from '../../lib/timing/lru-cache.ts'
import { isMergeKey, listElements, listPairs, resolveLinks, type YamlSource } from './events.ts'

/** Creates a function that finds the position of a path from a root. It indexes collections on first use. */
export function createLocator(source: YamlSource): (root: number, path: DocumentPath) => SourcePosition {
  const toPosition = createPositionLookup(source)
  const children = new ChildFinder(source)
  return (root, path) => {
    let node = root
    let offset = source.events.offsetOf(root)
    for (const step of path) {
      const child = children.find(node, String(step))
      if (!child) break
      if (child.offset >= 0) offset = child.offset
      node = child.node
    }
    return toPosition(Math.max(offset, 0))
  }
}

interface Child {
  /** The offset of the key, or of the list element; -1 if it is empty. */
  readonly offset: number
  readonly node: number
}

/** Number of mappings whose children are retained. The fields of an object are looked up one after the other. */
const MAX_INDEXED_MAPPINGS = 16

class ChildFinder {
  readonly #source: YamlSource
  /** The index after each node. */
  readonly #ends: Int32Array
  /** The nodes that aliases refer to. */
  readonly #targets: ReadonlyMap<number, number>
  readonly #elements = new Map<number, Int32Array>()
  readonly #children = createLruCache<number, ReadonlyMap<string, Child>>(MAX_INDEXED_MAPPINGS)

  constructor(source: YamlSource) {
    this.#source = source
    const { ends, targets } = resolveLinks(source)
    this.#ends = ends
    this.#targets = targets
  }

  /** Returns the child of a collection by key or index, also through aliases and merge keys. */
  find(parent: number, step: string): Child | undefined {
    const node = this.#targets.get(parent) ?? parent
    const type = this.#source.events.typeOf(node)
    if (type === EVENT_ID.SEQUENCE) return this.#findElement(node, Number(step))
    if (type !== EVENT_ID.MAPPING) return undefined
    return this.#index(node).get(step)
  }

  #findElement(list: number, index: number): Child | undefined {
    const { events } = this.#source
    const elements = this.#elements.get(list) ?? Int32Array.from(listElements(events, this.#ends, list))
    this.#elements.set(list, elements)
    const node = elements[index]
    return node === undefined ? undefined : { offset: events.offsetOf(node), node }
  }

  #index(mapping: number): ReadonlyMap<string, Child> {
    return this.#children(mapping, 1, () => new Map(this.#listChildren(mapping)))
  }

  /** Returns the children of a mapping. Its own keys take precedence over merged ones. */
  #listChildren(mapping: number, ancestors: readonly number[] = []): [key: string, child: Child][] {
    const { events } = this.#source
    const merged: number[] = []
    const children = new Map<string, Child>()
    for (const [key, value] of listPairs(events, this.#ends, mapping)) {
      if (isMergeKey(this.#source, key)) merged.push(value)
      else children.set(this.#readKey(key), { offset: events.offsetOf(key), node: value })
    }
    for (const [key, child] of merged.flatMap((value) => this.#listMerged(value, [...ancestors, mapping])))
      if (!children.has(key)) children.set(key, child)
    return [...children]
  }

  #listMerged(value: number, ancestors: readonly number[]): [key: string, child: Child][] {
    const { events } = this.#source
    const node = this.#targets.get(value) ?? value
    const type = events.typeOf(node)
    if (type === EVENT_ID.SEQUENCE)
      return listElements(events, this.#ends, node).flatMap((element) => this.#listMerged(element, ancestors))
    return type === EVENT_ID.MAPPING && !ancestors.includes(node) ? this.#listChildren(node, ancestors) : []
  }

  #readKey(key: number): string {
    return this.#source.events.textOf(this.#source.text, this.#targets.get(key) ?? key) ?? ''
  }
}

/** Creates a function that converts offsets to positions. Its tables make it fast even if the file is one long line. */
export function createPositionLookup({
  file,
  text,
}: Pick<YamlSource, 'file' | 'text'>): (offset: number) => SourcePosition {
  const lineStarts = [0, ...Array.from(text.matchAll(/\r\n|\r|\n/g), (end) => end.index + end[0].length)]
  const surrogatePairs = Array.from(text.matchAll(/[\uD800-\uDBFF][\uDC00-\uDFFF]/g), (pair) => pair.index)
  return (offset) => {
    const line = countBelow(lineStarts, offset + 1)
    const lineStart = lineStarts[line - 1]!
    const surrogates = countBelow(surrogatePairs, offset) - countBelow(surrogatePairs, lineStart)
    return { file, line, column: offset - lineStart - surrogates + 1 }
  }
}

/** Returns how many of the ascending numbers are below the limit. */
function countBelow(numbers: readonly number[], limit: number): number {
  let low = 0
  let high = numbers.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (numbers[middle]! < limit) low = middle + 1
    else high = middle
  }
  return low
}

/** Creates a function that converts the positions of a file to offsets. */
export function createOffsetLookup(text: string): (position: SourcePosition) => number {
  const lineStarts = [0, ...Array.from(text.matchAll(/\r\n|\r|\n/g), (end) => end.index + end[0].length)]
  return ({ line, column }) => {
    const start = lineStarts[line - 1] ?? text.length
    // A character outside of the basic plane has two code units.
    return start + [...text.slice(start, start + 2 * column)].slice(0, column - 1).join('').length
  }
}
