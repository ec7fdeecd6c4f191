// js-yaml's events in a few numbers each: as objects, those of a file of many people take ten times the room of its text.
import { EVENT_ID, type Event, getScalarValue } from 'js-yaml'

type ScalarEvent = Extract<Event, { type: typeof EVENT_ID.SCALAR }>

/** The events of a file, for places and messages. */
export interface Events {
  readonly length: number
  typeOf(index: number): number
  /** Where the name of an anchor or alias stands: from, to. */
  anchorOf(index: number): readonly [start: number, end: number] | undefined
  /** The event, made anew each time. */
  at(index: number): Event
  /** The text of a scalar; undefined for any other node. */
  textOf(text: string, index: number): string | undefined
}

/** What is kept of each: type and form in one number, where it begins, where its value ends. */
const WIDTH = 3
const FORM = { type: 0, style: 3, chomping: 6, fast: 9, tagged: 10, indent: 11 } as const
const MASK = 7

/** The events without their objects, which may go then. */
export function packed(events: readonly Event[]): Events {
  const numbers = new Int32Array(events.length * WIDTH)
  const anchors = new Map<number, readonly [number, number]>()
  events.forEach((event, index) => {
    const own = event as unknown as Partial<Record<string, number>> & { fast?: boolean }
    const { type, style = 0, chomping = 0, indent = 0, tagStart = -1, anchorStart = -1, anchorEnd = -1 } = own
    const flags = (Number(own.fast === true) << FORM.fast) | (Number(tagStart >= 0) << FORM.tagged)
    const form = type! | (style << FORM.style) | (chomping << FORM.chomping) | flags | ((indent + 1) << FORM.indent)
    numbers.set([form, own.valueStart ?? own.start ?? -1, own.valueEnd ?? -1], index * WIDTH)
    if (anchorStart >= 0) anchors.set(index, [anchorStart, anchorEnd])
  })
  const typeOf = (index: number) => numbers[index * WIDTH]! & MASK
  return {
    length: events.length,
    typeOf,
    anchorOf: (index) => anchors.get(index),
    textOf(text, index) {
      if (typeOf(index) !== EVENT_ID.SCALAR) return undefined
      const at = index * WIDTH
      // Most need no reading: what stands there is what it says.
      if ((numbers[at]! >> FORM.fast) & 1) return text.slice(numbers[at + 1], numbers[at + 2])
      return getScalarValue(text, this.at(index) as ScalarEvent)
    },
    at(index) {
      const [form, start, end] = numbers.subarray(index * WIDTH, (index + 1) * WIDTH) as unknown as [
        number,
        number,
        number,
      ]
      const [anchorStart, anchorEnd] = anchors.get(index) ?? [-1, -1]
      const tagStart = (form >> FORM.tagged) & 1 ? 0 : -1
      const style = (form >> FORM.style) & MASK
      const common = { type: typeOf(index), anchorStart, anchorEnd, tagStart, tagEnd: tagStart, style }
      if (common.type !== EVENT_ID.SCALAR) return { ...common, start } as Event
      return {
        ...common,
        valueStart: start,
        valueEnd: end,
        chomping: (form >> FORM.chomping) & MASK,
        fast: ((form >> FORM.fast) & 1) === 1,
        indent: (form >> FORM.indent) - 1,
      } as Event
    },
  }
}
