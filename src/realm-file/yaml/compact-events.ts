// The events of js-yaml as a few numbers each. As objects, they would take ten times the memory of the file's text.
import { EVENT_ID, type Event, getScalarValue, SCALAR_STYLE } from 'js-yaml'

type ScalarEvent = Extract<Event, { type: typeof EVENT_ID.SCALAR }>

/** The numbers of an event: its type and form as bits, the offset of its start, and the offset of its value's end. */
const WIDTH = 3
const SHIFT = { type: 0, style: 3, chomping: 6, fast: 9, tagged: 10, indent: 11 } as const
const MASK = 7

/** The events of a file: a flat list in which the nodes of a collection follow it, up to a pop. A node is the index of its event. */
export class CompactEvents {
  readonly length: number
  readonly #numbers: Int32Array
  readonly #anchors = new Map<number, readonly [start: number, end: number]>()

  constructor(events: readonly Event[]) {
    this.length = events.length
    this.#numbers = new Int32Array(events.length * WIDTH)
    events.forEach((event, index) => {
      const start = 'valueStart' in event ? event.valueStart : 'start' in event ? event.start : -1
      const end = 'valueEnd' in event ? event.valueEnd : -1
      this.#numbers.set([encodeForm(event), start, end], index * WIDTH)
      if ('anchorStart' in event && event.anchorStart >= 0)
        this.#anchors.set(index, [event.anchorStart, event.anchorEnd])
    })
  }

  /** Returns the type of an event: one of js-yaml's EVENT_ID. */
  typeOf(node: number): number {
    return this.#read(node, 'type')
  }

  /** Returns the offsets of the name of an anchor or alias. */
  anchorOf(node: number): readonly [start: number, end: number] | undefined {
    return this.#anchors.get(node)
  }

  /** Returns the offset of a node, including its quote; -1 for an empty scalar. */
  offsetOf(node: number): number {
    const type = this.typeOf(node)
    const start = this.#numbers[node * WIDTH + 1]!
    if (type === EVENT_ID.ALIAS) return (this.anchorOf(node)?.[0] ?? -1) - 1
    if (type === EVENT_ID.SEQUENCE || type === EVENT_ID.MAPPING) return start
    if (type !== EVENT_ID.SCALAR || start < 0) return -1
    const style = this.#read(node, 'style')
    return style === SCALAR_STYLE.SINGLE_QUOTED || style === SCALAR_STYLE.DOUBLE_QUOTED ? start - 1 : start
  }

  /** Whether a node is a scalar without quotes and without a tag. */
  isPlain(node: number): boolean {
    const hasTag = (this.#form(node) >> SHIFT.tagged) & 1
    return this.typeOf(node) === EVENT_ID.SCALAR && this.#read(node, 'style') === SCALAR_STYLE.PLAIN && !hasTag
  }

  /** Returns the text of a scalar; undefined for any other node. */
  textOf(text: string, node: number): string | undefined {
    if (this.typeOf(node) !== EVENT_ID.SCALAR) return undefined
    const [start, end] = [this.#numbers[node * WIDTH + 1]!, this.#numbers[node * WIDTH + 2]!]
    const isFast = (this.#form(node) >> SHIFT.fast) & 1
    return isFast ? text.slice(start, end) : getScalarValue(text, this.#toScalarEvent(node, start, end))
  }

  #form(node: number): number {
    return this.#numbers[node * WIDTH]!
  }

  #read(node: number, part: 'type' | 'style' | 'chomping'): number {
    return (this.#form(node) >> SHIFT[part]) & MASK
  }

  #toScalarEvent(node: number, valueStart: number, valueEnd: number): ScalarEvent {
    const [anchorStart, anchorEnd] = this.#anchors.get(node) ?? [-1, -1]
    const tagStart = (this.#form(node) >> SHIFT.tagged) & 1 ? 0 : -1
    return {
      type: EVENT_ID.SCALAR,
      valueStart,
      valueEnd,
      anchorStart,
      anchorEnd,
      tagStart,
      tagEnd: tagStart,
      style: this.#read(node, 'style') as ScalarEvent['style'],
      chomping: this.#read(node, 'chomping') as ScalarEvent['chomping'],
      fast: false,
      indent: (this.#form(node) >> SHIFT.indent) - 1,
    }
  }
}

function encodeForm(event: Event): number {
  const style = 'style' in event ? event.style : 0
  const isTagged = 'tagStart' in event && event.tagStart >= 0
  const form = event.type | (style << SHIFT.style) | (Number(isTagged) << SHIFT.tagged)
  if (event.type !== EVENT_ID.SCALAR) return form
  const { chomping, fast, indent } = event
  return form | (chomping << SHIFT.chomping) | (Number(fast) << SHIFT.fast) | ((indent + 1) << SHIFT.indent)
}
