// Reading documents: YAML or JSON text to values, with the place of every key for messages.
import { createHash } from 'node:crypto'
import {
  CORE_SCHEMA,
  constructFromEvents,
  EVENT_ID,
  type Event,
  floatJsonTag,
  intJsonTag,
  type MappingTagDefinition,
  mapTag,
  mergeTag,
  NOT_RESOLVED,
  parseEvents,
  type ScalarTagDefinition,
} from 'js-yaml'
import type { Json, Representation } from '../../kinds/json.ts'
import type { Path, Position } from '../../lib/position.ts'
import { once } from '../../lib/timing/once.ts'
import { recent } from '../../lib/timing/recent.ts'
import { tellsDefault } from '../template.ts'
import { writtenOut } from './aliases.ts'
import { rootsOf, type Source } from './events.ts'
import { maxAliases, maxDepth, maxLength, maxMergedKeys, megabyte } from './limits.ts'
import { packed } from './packed-events.ts'
import { placeIn } from './places.ts'
import { at, DocumentError, type Notice, pointerOf } from './problem.ts'
import { explained, isRepeatedKey, repeatedKeys } from './syntax-problems.ts'

/** One document of a file, or one element of a document that is a list. */
export interface Document {
  readonly file: string
  /** Always an object: a document that is anything else is refused. Of a long file it is read again when somebody asks. */
  readonly value: Json
  /** What tells what the document is about, without its value. */
  readonly head: Head
  /** Of the value. */
  readonly digest: string
  readonly start: Position
  /** What is told of the text. */
  readonly notices: readonly Notice[]
  /** Where the one object stands that the document states: what is above it says only where it belongs. Absent: all is stated. */
  readonly states?: Path
  /**
   * The position of the key (or list element) at the path, or of its nearest ancestor that stands in the file. What an
   * alias or a merge key brings in is found where it is written.
   */
  locate(path: Path): Position
  /** Whether a variable made the text at the path, which does not stand in the file then. */
  varies(path: Path): boolean
  /** A line of the file, from 1. */
  line(number: number): string
}

/** The members of a document that name it. */
export interface Head {
  readonly realm?: Json
  readonly apiVersion?: Json
  readonly kind?: Json
}

/** Characters of files whose values and events are kept: those of many people take several times the room of their texts. */
const KEPT = 4 * megabyte

const contents = recent<object, Content>(KEPT)

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
 * Of a key that JSON states several times the last one counts, and the first document tells so; YAML states each once.
 * Throws DocumentError: broken syntax, keys stated twice, a document that is neither an object nor a list of them, more
 * than 64 MB, more than 100 levels, or aliases that would make it more than 16 MB longer.
 */
export function parseDocuments(file: string, text: string): Document[] {
  if (text.length > maxLength) {
    const message = `this file is larger than ${maxLength / megabyte} MB: split it into several files`
    throw new DocumentError([{ position: { file, line: 1, column: 1 }, message }])
  }
  const content = reader(file, text.replace(/^\uFEFF/, ''))
  const { source, values, notices } = content()
  const documents: Document[] = []
  for (const [index, root] of rootsOf(source.events).entries()) {
    const value = values[index]
    const add = (prefix: Path) =>
      documents.push(documentAt(file, content, { root, index, prefix }, documents.length ? [] : notices))
    if (!Array.isArray(value)) {
      if (value !== null) add([])
    } else for (const [at, element] of value.entries()) if (element !== null) add([at])
  }
  return documents
}

/** Reads the file, again where its content was forgotten. Apart from those who look at a content: what they see must not be held. */
function reader(file: string, text: string): () => Content {
  const key = {}
  return () => contents(key, text.length, () => read(file, text))
}

function documentAt(
  file: string,
  content: () => Content,
  { root, index, prefix }: { root: number; index: number; prefix: Path },
  notices: readonly Notice[],
): Document {
  const value = () => prefix.reduce<unknown>(memberOf, content().values[index])
  const locate = (path: Path) => content().place(root, [...prefix, ...path])
  return documentOf(file, value, { locate, line: (number) => content().lines()[number - 1] ?? '', notices })
}

function memberOf(value: unknown, step: string | number): unknown {
  return (value as Record<string | number, unknown>)[step]
}

/** A document that says the value, with each of its paths where `pathOf` finds it in the document that was read. */
export function restated(read: Document, value: Json, pathOf: (path: Path) => Path = (path) => path): Document {
  // What says the same is not kept a second time.
  const own = value === read.value ? undefined : held(value)
  return {
    file: read.file,
    head: own ? headOf(value) : read.head,
    get value() {
      return own ? own.value : read.value
    },
    get digest() {
      return own ? own.digest() : read.digest
    },
    get start() {
      return read.locate(pathOf([]))
    },
    locate: (path) => read.locate(pathOf(path)),
    varies: (path) => read.varies(pathOf(path)),
    notices: read.notices,
    line: read.line,
  }
}

/** A document that says the value, in which variables made the texts at these JSON pointers; a default stands in the document. */
export function varied(read: Document, value: Json, pointers: Iterable<string>): Document {
  const written = read.value
  const texts = new Set([...pointers].filter((pointer) => !tellsDefault(at(written, pointer))))
  return Object.assign(restated(read, value), { varies: (path: Path) => texts.has(pointerOf(path)) })
}

function held(value: Json): { value: Json; digest: () => string } {
  return { value, digest: once(() => digestOf(value)) }
}

/** What tells what a value is about. */
export function headOf(value: Json): Head {
  const { realm, apiVersion, kind } = value as Representation
  return {
    ...(realm !== undefined && { realm }),
    ...(apiVersion !== undefined && { apiVersion }),
    ...(kind !== undefined && { kind }),
  }
}

/** A digest of a value, as it stands there. */
export function digestOf(value: Json): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex')
}

function documentOf(file: string, read: () => unknown, text: Pick<Document, 'locate' | 'line' | 'notices'>): Document {
  const value = read()
  const { locate } = text
  if (typeof value !== 'object' || Array.isArray(value)) {
    const found = Array.isArray(value) ? 'a list in a list' : 'a single value'
    const message = `a document is an object (beginning, say, with "realm: my-realm") or a list of such, but this is ${found}`
    throw new DocumentError([{ position: locate([]), message }])
  }
  return {
    file,
    // What every run asks for is found now: later, the file may have to be read again for it.
    head: headOf(value as Json),
    digest: digestOf(value as Json),
    start: locate([]),
    get value() {
      return read() as Json
    },
    varies: () => false,
    ...text,
  }
}

/** What was read of a file: the values of its documents, and what finds their places. */
interface Content {
  readonly source: Source
  readonly values: readonly unknown[]
  readonly place: ReturnType<typeof placeIn>
  readonly lines: () => readonly string[]
  readonly notices: readonly Notice[]
}

/** Reads a file. The reader's own events are large, and are not kept. */
function read(file: string, text: string): Content {
  // JSON may begin on an indented line; YAML would then want every line indented like the first.
  const input = text.replace(/^\s+(?=[[{])/, (space) => ' '.repeat(space.length))
  const events = explained(
    () => ({ file, text, events: packed([]) }),
    () => parseEvents(input, { maxDepth }),
  )
  const source = { file, text, events: packed(events) }
  const { values, notices } = construct(source, events)
  const content = { source, values, notices, place: finderIn(source), lines: once(() => text.split('\n')) }
  if (!events.some((event) => event.type === EVENT_ID.ALIAS)) return content
  const written = rootsOf(source.events).map((root, index) => writtenOut(source, root, values[index]))
  return { ...content, values: written }
}

/** Constructs the values. Keycloak: JSON may state a key several times, and the last one counts. */
function construct(source: Source, events: Event[]): Pick<Content, 'values' | 'notices'> {
  const { text } = source
  const valuesOf = (json: boolean) =>
    constructFromEvents(events, { source: text, schema, json, maxAliases, maxTotalMergeKeys: maxMergedKeys })
  return explained(
    () => source,
    () => {
      try {
        return { values: valuesOf(false), notices: [] }
      } catch (error) {
        if (!isRepeatedKey(error) || !isJson(text)) throw error
        return { values: valuesOf(true), notices: repeatedKeys(source) }
      }
    },
  )
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

function finderIn(source: Source): Content['place'] {
  const finder = once(() => placeIn(source))
  return (root, path) => finder()(root, path)
}

/** A value that was read from no file as a document: it has no lines, so places are paths below the name. */
export function valueDocument(name: string, value: Json): Document {
  const start = { file: name, line: 1, column: 1 }
  const locate = (path: Path) => ({ ...start, file: [name, ...path].join('/') })
  const own = { file: name, value, head: headOf(value), digest: digestOf(value), start, locate }
  return { ...own, notices: [], varies: () => false, line: () => '' }
}
