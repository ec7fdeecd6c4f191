// Parses files in YAML or JSON into documents.
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
import { isList, isObject, type Json, readPath } from '../../kinds/json.ts'
import type { DocumentPath } from '../../lib/source-position.ts'
import { createLruCache } from '../../lib/timing/lru-cache.ts'
import { memoize } from '../../lib/timing/memoize.ts'
import { CompactEvents } from './compact-events.ts'
import { computeDigest, type Document, getHeader } from './document.ts'
import { listRoots, type YamlSource } from './events.ts'
import { expandAliases } from './expand-aliases.ts'
import { maxAliases, maxDepth, maxLength, maxMergedKeys, megabyte } from './limits.ts'
import { createLocator } from './locator.ts'
import { DocumentError, type DocumentWarning } from './problem.ts'
import {
  explainSyntaxErrors,
  isDuplicateKeyError,
  isJson,
  listDuplicateKeys,
  refuseJsonComments,
} from './syntax-problems.ts'

/** The total length of the files whose content is cached. The content of a file takes several times the memory of its text. */
const MAX_CACHED_CHARACTERS = 4 * megabyte

const cache = createLruCache<object, FileContent>(MAX_CACHED_CHARACTERS)

// Only integers of JSON that a number can represent: `007` and twenty digits stay strings.
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
 * Parses a file in YAML or JSON. Each YAML document (`---`) is a document, and so is each element of a document that is a list; empty ones
 * are omitted. Numbers are JSON's, `no` and dates are strings, and a merge key (`<<`) merges. If JSON repeats a key, its last value is used
 * and the first document has a warning.
 * @throws DocumentError for broken syntax, keys that YAML repeats, a document that is neither an object nor a list of objects, more than
 * 64 MB, more than 100 levels, or aliases that add more than 16 MB.
 */
export function parseDocuments(file: string, text: string): Document[] {
  if (text.length > maxLength) {
    const message = `this file is larger than ${maxLength / megabyte} MB: split it into several files`
    throw new DocumentError([{ position: { file, line: 1, column: 1 }, message }])
  }
  const getContent = createContentReader(file, text.replace(/^\uFEFF/, ''))
  const { source, values, warnings } = getContent()
  const documents: Document[] = []
  for (const [index, root] of listRoots(source.events).entries()) {
    const value = values[index]!
    const add = (prefix: DocumentPath) =>
      documents.push(
        createFileDocument(file, getContent, { root, index, prefix, warnings: documents.length ? [] : warnings }),
      )
    if (!isList(value)) {
      if (value !== null) add([])
    } else for (const [at, element] of value.entries()) if (element !== null) add([at])
  }
  return documents
}

/** Returns a function that parses the file, again after its content was evicted. A function of its own, so that it retains only the text. */
function createContentReader(file: string, text: string): () => FileContent {
  const key = {}
  return () => cache(key, text.length, () => parseContent(file, text))
}

/** The part of a file that is a document. */
interface DocumentPart {
  readonly root: number
  readonly index: number
  /** The index in a list; empty for a whole YAML document. */
  readonly prefix: DocumentPath
  readonly warnings: readonly DocumentWarning[]
}

function createFileDocument(
  file: string,
  getContent: () => FileContent,
  { root, index, prefix, warnings }: DocumentPart,
): Document {
  const readValue = () => readPath(getContent().values[index], prefix)
  const locate = (path: DocumentPath) => getContent().locate(root, [...prefix, ...path])
  const value = readValue()
  if (!isObject(value)) {
    const type = isList(value) ? 'a list in a list' : 'a single value'
    const message = `a document is an object (for example, beginning with "realm: my-realm") or a list of objects, not ${type}`
    throw new DocumentError([{ position: locate([]), message }])
  }
  return {
    file,
    // Computed now, since every run needs them and the file might have to be parsed again later.
    header: getHeader(value),
    digest: computeDigest(value),
    start: locate([]),
    get value() {
      return readValue()!
    },
    isFromVariable: () => false,
    isEncrypted: () => false,
    locate,
    getLine: (number) => getContent().getLines()[number - 1] ?? '',
    warnings,
  }
}

/** The content of a file: the values of its documents, and a function that locates paths in them. */
interface FileContent {
  readonly source: YamlSource
  readonly values: readonly Json[]
  readonly locate: ReturnType<typeof createLocator>
  readonly getLines: () => readonly string[]
  readonly warnings: readonly DocumentWarning[]
}

/** Parses a file. The events of js-yaml are large, and are not retained. */
function parseContent(file: string, text: string): FileContent {
  // JSON may begin on an indented line. YAML would then require the same indentation of every line.
  const input = text.replace(/^\s+(?=[[{])/, (space) => ' '.repeat(space.length))
  const unparsed = { file, text, events: new CompactEvents([]) }
  refuseJsonComments(unparsed)
  const events = explainSyntaxErrors(
    () => unparsed,
    () => parseEvents(input, { maxDepth }),
  )
  const source = { file, text, events: new CompactEvents(events) }
  const { values, warnings } = constructValues(source, events)
  const getLocator = memoize(() => createLocator(source))
  const content = {
    source,
    values,
    warnings,
    locate: (root: number, path: DocumentPath) => getLocator()(root, path),
    getLines: memoize(() => text.split('\n')),
  }
  if (!events.some((event) => event.type === EVENT_ID.ALIAS)) return content
  const expanded = listRoots(source.events).map((root, index) => expandAliases(source, root, values[index]!))
  return { ...content, values: expanded }
}

/** Constructs the values. Keycloak: JSON may repeat a key, and its last value is used. */
function constructValues(source: YamlSource, events: Event[]): Pick<FileContent, 'values' | 'warnings'> {
  const { text } = source
  // The schema above constructs only JSON values.
  const construct = (json: boolean) =>
    constructFromEvents(events, { source: text, schema, json, maxAliases, maxTotalMergeKeys: maxMergedKeys }) as Json[]
  return explainSyntaxErrors(
    () => source,
    () => {
      try {
        return { values: construct(false), warnings: [] }
      } catch (error) {
        if (!isDuplicateKeyError(error) || !isJson(text)) throw error
        return { values: construct(true), warnings: listDuplicateKeys(source) }
      }
    },
  )
}
