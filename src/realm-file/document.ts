// Reading documents: YAML or JSON text to values, with the place of every key for messages.
import {
  CORE_SCHEMA,
  constructFromEvents,
  EVENT_ID,
  type Event,
  floatJsonTag,
  getScalarValue,
  intJsonTag,
  type MappingTagDefinition,
  mapTag,
  mergeTag,
  NOT_RESOLVED,
  nullCoreTag,
  parseEvents,
  SCALAR_STYLE,
  type ScalarTagDefinition,
  YAMLException,
} from 'js-yaml'
import type { Json } from '../kinds/fields.ts'
import type { Path, Position } from '../lib/position.ts'

/** One document of a file, or one element of a document that is a list. */
export interface Document {
  readonly file: string
  /** Always an object: a document that is anything else is refused. */
  readonly value: Json
  readonly start: Position
  /**
   * The position of the key (or list element) at the path, or of its nearest ancestor that stands in the file. What an
   * alias or a merge key brings in is found where it is written.
   */
  locate(path: Path): Position
}

/** One thing that is wrong in a document. */
export interface Problem {
  readonly position: Position
  /** What is wrong, and what would be right. Never holds a secret. */
  readonly message: string
  /** Where in the document, as a JSON pointer: `/clients/0/secret`. */
  readonly path?: string
}

/** Documents that cannot be used. Its message lists the problems, one a line, as `file:line:column: message`. */
export class DocumentError extends Error {
  override readonly name = 'DocumentError'
  readonly problems: Problem[]

  constructor(problems: Problem[]) {
    super(problems.map(({ position, message }) => `${renderPosition(position)}: ${message}`).join('\n'))
    this.problems = problems
  }
}

/** `file:line:column`, as editors and terminals understand it. */
export function renderPosition({ file, line, column }: Position): string {
  return `${file}:${line}:${column}`
}

/** The path as a JSON pointer (RFC 6901): `/clients/0/secret`; the document itself is the empty text. */
export function pointerOf(path: Path): string {
  return path.map((step) => `/${String(step).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')
}

const megabyte = 1024 * 1024
const maxLength = 64 * megabyte
const maxDepth = 100
const maxAliases = 100_000
// js-yaml's 10,000 would stop a file of 2,000 clients that share five merged settings.
const maxMergedKeys = 1_000_000
/** How much longer than the file the values may be once aliases are written out. */
const maxGrowth = 16 * megabyte

// A number is what JSON takes for one and what a number can hold: `007` and twenty digits stay the texts that they are.
const exactInteger: ScalarTagDefinition<number | string> = {
  ...intJsonTag,
  resolve: (source, isExplicit, tagName) => {
    const value = intJsonTag.resolve(source, isExplicit, tagName)
    if (value === NOT_RESOLVED) return NOT_RESOLVED
    return Number.isSafeInteger(value) || String(value) === source ? value : source
  },
}
// JSON has neither infinity nor NaN.
const finiteFloat: ScalarTagDefinition<number> = {
  ...floatJsonTag,
  resolve: (source, isExplicit, tagName) => {
    const value = floatJsonTag.resolve(source, isExplicit, tagName)
    return Number.isFinite(value) ? value : NOT_RESOLVED
  },
}
const textKeys: MappingTagDefinition<Record<string, unknown>> = {
  ...mapTag,
  addPair: (mapping, key, value) => {
    if (key === null) return 'missing key'
    if (typeof key === 'object') return 'complex key'
    if (typeof key === 'number' && !Number.isSafeInteger(key)) return 'inexact key'
    return mapTag.addPair(mapping, key, value)
  },
}
const schema = CORE_SCHEMA.withTags(mergeTag, exactInteger, finiteFloat, textKeys)

/** What is kept of a file while its documents live. */
interface Source {
  readonly file: string
  readonly text: string
  readonly events: Event[]
}

/**
 * The documents of a file, YAML or JSON: one per YAML document (`---`), one per element where a document is a list;
 * empty ones are left out. Numbers are JSON's numbers, `no` and dates are texts, a merge key (`<<`) merges.
 * Throws DocumentError: broken syntax, keys stated twice, a document that is neither an object nor a list of them, more
 * than 64 MB, more than 100 levels, or aliases that would make it more than 16 MB longer.
 */
export function parseDocuments(file: string, text: string): Document[] {
  if (text.length > maxLength) {
    const message = `this file is larger than ${maxLength / megabyte} MB: split it into several files`
    throw new DocumentError([{ position: { file, line: 1, column: 1 }, message }])
  }
  const source = readEvents(file, text.replace(/^\uFEFF/, ''))
  const values = readValues(source)
  const place = once(() => placeIn(source))
  return rootsOf(source.events).flatMap((root, index) => {
    const locate = (path: Path) => place()(root, path)
    const value = values[index]
    if (value === null) return []
    if (!Array.isArray(value)) return [documentOf(source, value, [], locate)]
    return value.flatMap((element, at) => (element === null ? [] : [documentOf(source, element, [at], locate)]))
  })
}

function documentOf({ file }: Source, value: unknown, prefix: Path, locate: (path: Path) => Position): Document {
  if (typeof value !== 'object' || Array.isArray(value)) {
    const found = Array.isArray(value) ? 'a list in a list' : 'a single value'
    const message = `a document is an object (beginning, say, with "realm: my-realm") or a list of such, but this is ${found}`
    throw new DocumentError([{ position: locate(prefix), message }])
  }
  return {
    file,
    value: value as Json,
    get start() {
      return locate(prefix)
    },
    locate: (path) => locate([...prefix, ...path]),
  }
}

function readEvents(file: string, text: string): Source {
  // JSON may begin on an indented line; YAML would then want every line indented like the first.
  const input = text.replace(/^\s+(?=[[{])/, (space) => ' '.repeat(space.length))
  return explained({ file, text, events: [] }, () => ({ file, text, events: parseEvents(input, { maxDepth }) }))
}

function readValues(source: Source): unknown[] {
  const { text, events } = source
  const values = explained(source, () =>
    constructFromEvents(events, { source: text, schema, maxAliases, maxTotalMergeKeys: maxMergedKeys }),
  )
  if (!events.some((event) => event.type === EVENT_ID.ALIAS)) return values
  return rootsOf(events).map((root, index) => writtenOut(source, root, values[index]))
}

/** The value with a copy at every alias, so that a change of one is not a change of the others. */
function writtenOut(source: Source, root: number, value: unknown): unknown {
  const fail = (path: Path, message: string) => {
    throw new DocumentError([{ position: placeIn(source)(root, path), message }])
  }
  const { size } = extentOf(value, [], new Map(), (path) =>
    fail(
      path,
      `aliases nest this document deeper than ${maxDepth} levels, or an alias holds itself: write the value out`,
    ),
  )
  if (size > source.text.length + maxGrowth) {
    fail(
      [],
      `aliases make this document more than ${maxGrowth / megabyte} MB longer: use fewer, or a script that writes it`,
    )
  }
  return JSON.parse(JSON.stringify(value))
}

interface Extent {
  /** About the length of its text, aliases written out. */
  readonly size: number
  readonly height: number
}

function extentOf(
  value: unknown,
  path: (string | number)[],
  known: Map<object, Extent>,
  tooDeep: (path: Path) => void,
): Extent {
  if (path.length > maxDepth) tooDeep(path)
  if (typeof value !== 'object' || value === null) return { size: String(value).length + 1, height: 0 }
  const before = known.get(value)
  if (before && path.length + before.height > maxDepth) tooDeep(path)
  if (before) return before
  let size = 2
  let height = 0
  for (const [key, child] of Object.entries(value)) {
    path.push(key)
    const inner = extentOf(child, path, known, tooDeep)
    path.pop()
    size += inner.size + (Array.isArray(value) ? 0 : key.length + 1)
    height = Math.max(height, inner.height + 1)
  }
  const extent = { size, height }
  known.set(value, extent)
  return extent
}

// Places. Events are a flat list: a collection, its nodes, a pop. A node is named by the index of its event.

function rootsOf(events: Event[]): number[] {
  const roots: number[] = []
  events.forEach((event, index) => {
    if (event.type === EVENT_ID.DOCUMENT) roots.push(index + 1)
  })
  return roots
}

interface Child {
  /** Offset of the key, or of the list element; -1 where nothing is written. */
  readonly offset: number
  readonly node: number
}

/** Finds the position of a path from a root; what it learns of the file on the way, it keeps. */
function placeIn(source: Source): (root: number, path: Path) => Position {
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

/** Where each node ends (the index after it), and which node each alias stands for. */
function linksOf(text: string, events: Event[]): { ends: Int32Array; targets: Map<number, number> } {
  const ends = new Int32Array(events.length)
  const targets = new Map<number, number>()
  const anchors = new Map<string, number>()
  const open: number[] = []
  events.forEach((event, index) => {
    ends[index] = index + 1
    if (event.type === EVENT_ID.POP) ends[open.pop()!] = index + 1
    else if (event.type === EVENT_ID.ALIAS) {
      const target = anchors.get(text.slice(event.anchorStart, event.anchorEnd))
      if (target !== undefined) targets.set(index, target)
    } else {
      if (event.type === EVENT_ID.DOCUMENT) anchors.clear()
      else if (event.anchorStart >= 0) anchors.set(text.slice(event.anchorStart, event.anchorEnd), index)
      if (event.type !== EVENT_ID.SCALAR) open.push(index)
    }
  })
  return { ends, targets }
}

function elementsOf(events: Event[], ends: Int32Array, collection: number): number[] {
  const elements: number[] = []
  for (let node = collection + 1; events[node]!.type !== EVENT_ID.POP; node = ends[node]!) elements.push(node)
  return elements
}

function pairsOf(events: Event[], ends: Int32Array, mapping: number): [key: number, value: number][] {
  const nodes = elementsOf(events, ends, mapping)
  return nodes.flatMap((node, index) => (index % 2 === 0 ? [[node, nodes[index + 1]!]] : []))
}

function isMergeKey(text: string, event: Event): boolean {
  if (event.type !== EVENT_ID.SCALAR || event.style !== SCALAR_STYLE.PLAIN) return false
  return event.tagStart < 0 && text.slice(event.valueStart, event.valueEnd) === '<<'
}

/** Where a node begins, its quote included; -1 when it is an empty scalar. */
function offsetOf(event: Event): number {
  if (event.type === EVENT_ID.ALIAS) return event.anchorStart - 1
  if (event.type === EVENT_ID.SEQUENCE || event.type === EVENT_ID.MAPPING) return event.start
  if (event.type !== EVENT_ID.SCALAR || event.valueStart < 0) return -1
  const quoted = event.style === SCALAR_STYLE.SINGLE_QUOTED || event.style === SCALAR_STYLE.DOUBLE_QUOTED
  return quoted ? event.valueStart - 1 : event.valueStart
}

/** Turns offsets into positions. The tables make a look-up cheap even where the file is one long line. */
function positionsIn({ file, text }: Pick<Source, 'file' | 'text'>): (offset: number) => Position {
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

function once<T>(make: () => T): () => T {
  let made: { value: T } | undefined
  return () => {
    made ??= { value: make() }
    return made.value
  }
}

// Errors

/** Runs a step of the reader; what it refuses becomes a DocumentError in our words. */
function explained<T>(source: Source, read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (error instanceof YAMLException && error.mark)
      throw new DocumentError(explain(source, error.reason, error.mark.position))
    throw error
  }
}

function explain(source: Source, reason: string, offset: number): Problem[] {
  const faults = keyFaults.test(reason) ? faultyKeys(source) : []
  if (faults.length > 0) return faults
  const [, advice] = advices.find(([pattern]) => pattern.test(reason)) ?? []
  const message =
    advice === undefined ? `broken YAML: ${reason}` : advice.replace('{}', /!<.*>|".*"/.exec(reason)?.[0] ?? '')
  return [{ position: positionsIn(source)(offset), message }]
}

const keyFaults = /^(duplicated mapping|missing|complex) key$/

/** Every key that cannot be one, in the order of the file: js-yaml stops at the first, and often without its place. */
function faultyKeys(source: Source): Problem[] {
  const { text, events } = source
  const { ends, targets } = linksOf(text, events)
  const positionOf = positionsIn(source)

  function faultOf(node: number, seen: Map<string, number>): string | undefined {
    const key = events[targets.get(node) ?? node]!
    if (key.type !== EVENT_ID.SCALAR)
      return 'a key must be a text, not a list or an object: put it in quotes if the brackets belong to it'
    if (isMergeKey(text, key)) return undefined
    const name = getScalarValue(text, key)
    if (
      key.style === SCALAR_STYLE.PLAIN &&
      key.tagStart < 0 &&
      nullCoreTag.resolve(name, false, nullCoreTag.tagName) === null
    ) {
      return 'a key is missing before this ":": write one (a key that is called null needs quotes)'
    }
    const before = seen.get(name)
    seen.set(name, before ?? offsetOf(events[node]!))
    if (before === undefined) return undefined
    const { line, column } = positionOf(before)
    return `the key ${JSON.stringify(name)} stands twice, first at ${line}:${column}: keep one of them`
  }

  const faults = events.flatMap((event, mapping) => {
    if (event.type !== EVENT_ID.MAPPING) return []
    const seen = new Map<string, number>()
    return pairsOf(events, ends, mapping).flatMap(([key, value]) => {
      const message = faultOf(key, seen)
      const written = [key, value, mapping].map((node) => offsetOf(events[node]!)).find((offset) => offset >= 0)!
      return message === undefined ? [] : [{ offset: written, message }]
    })
  })
  return faults
    .sort((a, b) => a.offset - b.offset)
    .map(({ offset, message }) => ({ position: positionOf(offset), message }))
}

// What js-yaml says, and what helps; `{}` is what it quotes.
const advices: [reason: RegExp, advice: string][] = [
  [/^duplicated mapping key/, 'this key stands twice in one object: keep one of them'],
  [/^inexact key/, 'this key is a number that would change when it is read: put it in quotes'],
  [/^tab characters/, 'a tab indents this line: YAML is indented with spaces'],
  [
    /^bad indentation of a mapping entry/,
    'this does not fit what is above: indent the keys of one object alike, and put a text in quotes that holds ": " or begins with @, % or `',
  ],
  [/^bad indentation of a sequence entry/, 'this does not fit the list above: indent every "- " of one list alike'],
  [/^deficient indentation/, 'this line must be indented further, or a quote or bracket above is not closed'],
  [/^expected ':' after a mapping key|multiline key/, 'a ":" is missing after this key'],
  [/^a whitespace character is expected after/, 'a space is missing after the ":"'],
  [/^missed comma/, 'a comma or a closing bracket is missing just before this'],
  [/^expected the node content/, 'a value is missing before this comma: write it or remove the comma'],
  [
    /end of the (stream|document) within a (double|single) quoted/,
    'a quoted text is not closed: its last quote is missing',
  ],
  [/end of the stream within a flow/, 'a "{" or "[" is not closed: its "}" or "]" is missing'],
  [
    /^end of the stream or a document separator/,
    'this does not belong to what is above: a key needs a space after its ":", a new document a line "---" before it',
  ],
  [
    /^unknown escape|^expected hexadecimal/,
    'a backslash begins an escape here: double it, or put the text in single quotes',
  ],
  [
    /^expected valid JSON|non-printable|^null byte/,
    'a control character stands here: remove it, or write it as an escape (\\u0007) in double quotes',
  ],
  [
    /^unknown \w+ tag|^undeclared tag/,
    'the tag {} is not known here: remove it, or put the text in quotes if the "!" belongs to it',
  ],
  [/^cannot resolve a node with/, 'the value does not fit its tag {}: remove the tag or correct the value'],
  [
    /^unidentified alias/,
    'the alias {} has no anchor above it in this document: add one, or put the text in quotes if the "*" belongs to it',
  ],
  [/^name of an/, 'a name is missing here: put the text in quotes if the "&" or "*" belongs to it'],
  [/^aliases exceeded/, `this document uses more than ${maxAliases} aliases: write the values out`],
  [/^merge keys exceeded/, `merge keys ("<<") bring in more than ${maxMergedKeys} keys: write the values out`],
  [
    /^cannot merge|^abnormal merge/,
    'a merge key ("<<") takes an object, an alias of one, or a list of up to 100 of these',
  ],
  [/^nesting exceeded/, `this document is nested deeper than ${maxDepth} levels`],
]
