// Reading documents: YAML or JSON text to values, with the place of every key for messages.
import {
  CORE_SCHEMA,
  constructFromEvents,
  EVENT_ID,
  floatJsonTag,
  intJsonTag,
  type MappingTagDefinition,
  mapTag,
  mergeTag,
  NOT_RESOLVED,
  parseEvents,
  type ScalarTagDefinition,
} from 'js-yaml'
import type { Json } from '../kinds/fields.ts'
import { once } from '../lib/once.ts'
import type { Path, Position } from '../lib/position.ts'
import { writtenOut } from './aliases.ts'
import { rootsOf, type Source } from './events.ts'
import { maxAliases, maxDepth, maxLength, maxMergedKeys, megabyte } from './limits.ts'
import { packed } from './packed-events.ts'
import { placeIn } from './places.ts'
import { DocumentError } from './problem.ts'
import { explained } from './syntax-problems.ts'

/** One document of a file, or one element of a document that is a list. */
export interface Document {
  readonly file: string
  /** Always an object: a document that is anything else is refused. */
  readonly value: Json
  readonly start: Position
  /** Where the one object stands that the document states: what is above it says only where it belongs. Absent: all is stated. */
  readonly states?: Path
  /**
   * The position of the key (or list element) at the path, or of its nearest ancestor that stands in the file. What an
   * alias or a merge key brings in is found where it is written.
   */
  locate(path: Path): Position
}

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
  const { source, values } = read(file, text.replace(/^\uFEFF/, ''))
  const place = once(() => placeIn(source))
  return rootsOf(source.events).flatMap((root, index) => {
    const locate = (path: Path) => place()(root, path)
    const value = values[index]
    if (value === null) return []
    if (!Array.isArray(value)) return [documentOf(source, value, [], locate)]
    return value.flatMap((element, at) => (element === null ? [] : [documentOf(source, element, [at], locate)]))
  })
}

/** A document that says the value, with each of its paths where `pathOf` finds it in the document that was read. */
export function restated(read: Document, value: Json, pathOf: (path: Path) => Path = (path) => path): Document {
  return {
    file: read.file,
    value,
    get start() {
      return read.locate(pathOf([]))
    },
    locate: (path) => read.locate(pathOf(path)),
  }
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

/** The values of the documents, and what places are found with. The events themselves are large, and are not kept. */
function read(file: string, text: string): { source: Source; values: unknown[] } {
  // JSON may begin on an indented line; YAML would then want every line indented like the first.
  const input = text.replace(/^\s+(?=[[{])/, (space) => ' '.repeat(space.length))
  const events = explained(
    () => ({ file, text, events: packed([]) }),
    () => parseEvents(input, { maxDepth }),
  )
  const values = explained(
    () => ({ file, text, events: packed(events) }),
    () => constructFromEvents(events, { source: text, schema, maxAliases, maxTotalMergeKeys: maxMergedKeys }),
  )
  const source = { file, text, events: packed(events) }
  if (!events.some((event) => event.type === EVENT_ID.ALIAS)) return { source, values }
  return { source, values: rootsOf(source.events).map((root, index) => writtenOut(source, root, values[index])) }
}
