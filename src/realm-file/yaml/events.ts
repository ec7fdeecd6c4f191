// A file as js-yaml's events: a flat list, in which a collection is followed by its nodes and a pop.
// A node is named by the index of its event.
import { EVENT_ID, type Event, SCALAR_STYLE } from 'js-yaml'
import type { Events } from './packed-events.ts'

/** What is kept of a file while its documents live. */
export interface Source {
  readonly file: string
  readonly text: string
  readonly events: Events
}

/** The root node of each document. */
export function rootsOf(events: Events): number[] {
  const roots: number[] = []
  for (let index = 0; index < events.length; index++) {
    if (events.typeOf(index) === EVENT_ID.DOCUMENT) roots.push(index + 1)
  }
  return roots
}

/** Where each node ends (the index after it), and which node each alias stands for. */
export function linksOf(text: string, events: Events): { ends: Int32Array; targets: Map<number, number> } {
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

/** The nodes that stand in a collection: elements of a list; keys and values of a mapping in turn. */
export function elementsOf(events: Events, ends: Int32Array, collection: number): number[] {
  const elements: number[] = []
  for (let node = collection + 1; events.typeOf(node) !== EVENT_ID.POP; node = ends[node]!) elements.push(node)
  return elements
}

/** The nodes of a mapping in pairs. */
export function pairsOf(events: Events, ends: Int32Array, mapping: number): [key: number, value: number][] {
  const nodes = elementsOf(events, ends, mapping)
  return nodes.flatMap((node, index) => (index % 2 === 0 ? [[node, nodes[index + 1]!]] : []))
}

/** Whether the key of a mapping is `<<`, unquoted. */
export function isMergeKey(text: string, event: Event): boolean {
  if (event.type !== EVENT_ID.SCALAR || event.style !== SCALAR_STYLE.PLAIN) return false
  return event.tagStart < 0 && text.slice(event.valueStart, event.valueEnd) === '<<'
}

/** Where a node begins, its quote included; -1 when it is an empty scalar. */
export function offsetOf(event: Event): number {
  if (event.type === EVENT_ID.ALIAS) return event.anchorStart - 1
  if (event.type === EVENT_ID.SEQUENCE || event.type === EVENT_ID.MAPPING) return event.start
  if (event.type !== EVENT_ID.SCALAR || event.valueStart < 0) return -1
  const quoted = event.style === SCALAR_STYLE.SINGLE_QUOTED || event.style === SCALAR_STYLE.DOUBLE_QUOTED
  return quoted ? event.valueStart - 1 : event.valueStart
}
