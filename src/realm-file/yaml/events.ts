// Functions on the events of a file. A node is the index of its event.
import { EVENT_ID } from 'js-yaml'
import type { CompactEvents } from './compact-events.ts'

/** A file with its events. */
export interface YamlSource {
  readonly file: string
  readonly text: string
  readonly events: CompactEvents
}

/** Returns the root node of each document. */
export function listRoots(events: CompactEvents): number[] {
  const roots: number[] = []
  for (let index = 0; index < events.length; index++) {
    if (events.typeOf(index) === EVENT_ID.DOCUMENT) roots.push(index + 1)
  }
  return roots
}

/** Returns the end of each node, which is the index after it, and the target of each alias. */
export function resolveLinks({ text, events }: YamlSource): { ends: Int32Array; targets: Map<number, number> } {
  const ends = new Int32Array(events.length)
  const targets = new Map<number, number>()
  const anchors = new Map<string, number>()
  const open: number[] = []
  for (let index = 0; index < events.length; index++) {
    const type = events.typeOf(index)
    const anchor = events.anchorOf(index)
    ends[index] = index + 1
    if (type === EVENT_ID.POP) ends[open.pop()!] = index + 1
    else if (type === EVENT_ID.ALIAS) {
      const target = anchors.get(text.slice(...anchor!))
      if (target !== undefined) targets.set(index, target)
    } else {
      if (type === EVENT_ID.DOCUMENT) anchors.clear()
      else if (anchor) anchors.set(text.slice(...anchor), index)
      if (type !== EVENT_ID.SCALAR) open.push(index)
    }
  }
  return { ends, targets }
}

/** Returns the nodes of a collection: the elements of a list, or the keys and values of a mapping in turn. */
export function listElements(events: CompactEvents, ends: Int32Array, collection: number): number[] {
  const elements: number[] = []
  for (let node = collection + 1; events.typeOf(node) !== EVENT_ID.POP; node = ends[node]!) elements.push(node)
  return elements
}

/** Returns the nodes of a mapping as pairs. */
export function listPairs(events: CompactEvents, ends: Int32Array, mapping: number): [key: number, value: number][] {
  const nodes = listElements(events, ends, mapping)
  return nodes.flatMap((node, index) => (index % 2 === 0 ? [[node, nodes[index + 1]!]] : []))
}

/** Whether a key is the merge key of YAML 1.1, `<<` without quotes. */
export function isMergeKey({ text, events }: YamlSource, key: number): boolean {
  return events.isPlain(key) && events.textOf(text, key) === '<<'
}
