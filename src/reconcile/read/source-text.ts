// Deserializes sources, and lists the values of variables for serialized ones. Values are looked up only where the files are.
import { createHash } from 'node:crypto'
import type { Json } from '../../kinds/json.ts'
import type { DocumentPath } from '../../lib/source-position.ts'
import { createLruCache } from '../../lib/timing/lru-cache.ts'
import { removeSopsParts } from '../../realm-file/decrypt-documents.ts'
import { unwrapResources } from '../../realm-file/resources/unwrap-resources.ts'
import { type SubstitutedDocument, transformTextsByPath } from '../../realm-file/substitute-variables.ts'
import { type Document, markVariables, toOverlayDocument } from '../../realm-file/yaml/document.ts'
import { megabyte } from '../../realm-file/yaml/limits.ts'
import { parseDocuments } from '../../realm-file/yaml/parse-documents.ts'
import { getAtPointer, toJsonPointer } from '../../realm-file/yaml/problem.ts'
import type { SerializedSource, SourceContent } from './source-content.ts'

/** A source in a request, which may omit what follows from its files. */
export type DeclaredSource = Omit<SerializedSource, 'revision' | 'files'> & {
  readonly revision?: string | undefined
  readonly files: readonly (Omit<SerializedSource['files'][number], 'values'> &
    Partial<Pick<SerializedSource['files'][number], 'values'>>)[]
}

/** Total size of the files whose documents are cached, in characters. */
const CACHE_SIZE = 4 * megabyte
const parsedFiles = createLruCache<string, Document[]>(CACHE_SIZE)

/** Parses a file. An apply usually follows a plan of the same files, and a pipeline sends mostly the files of its last run. */
function parseFile(file: string, text: string): Document[] {
  const parse = () => parseDocuments(file, text)
  return text.length > CACHE_SIZE ? parse() : parsedFiles(`${file}\0${text}`, text.length, parse)
}

/** Parses a serialized source. Variables get the values that it contains. Throws DocumentError where documents are invalid. */
export function deserializeSource(declared: DeclaredSource): SourceContent {
  const { name, unknownFields, settings, scope, origin, ...source } = declared
  const files = source.files.map((file) => ({ values: [], ...file }))
  const revision = source.revision ?? createRevision(source.files)
  const documents = files.flatMap(({ file, text, values, overlay }) =>
    parseFile(file, text).map((parsed, index) => {
      const document = toOverlayDocument(removeSopsParts(parsed), overlay)
      const substituted = values[index] ?? {}
      const pointers = Object.keys(substituted)
      if (!pointers.length) return document
      const insertValue = (text: string, path: DocumentPath) => substituted[toJsonPointer(path)] ?? text
      return markVariables(document, transformTextsByPath(document.value, insertValue), pointers)
    }),
  )
  const opened = unwrapResources(documents, unknownFields)
  const removals = scope === undefined ? undefined : { scope }
  return { name, revision, unknownFields, settings, origin, removals, files, ...opened }
}

/** Returns the revision of files that have no other one: a digest of them, and of the variables of their environment. */
export function createRevision(
  files: readonly Pick<SerializedSource['files'][number], 'file' | 'text' | 'overlay'>[],
  variables: Readonly<Record<string, string>> = {},
): string {
  const hash = createHash('sha256')
  for (const { file, text, overlay } of files)
    hash.update(`${file}\0${text}\0${overlay === undefined ? '' : `${overlay}\0`}`)
  if (Object.keys(variables).length) hash.update(JSON.stringify(variables))
  return `sha256:${hash.digest('hex').slice(0, 12)}`
}

/** Lists, for each document of a file, the values of its texts with variables and of encrypted ones, by JSON pointer. */
export function listVariableValues(documents: readonly SubstitutedDocument[]): Record<string, Json>[] {
  return documents.map((document) => {
    const pointers = [...document.substituted.keys()]
    return Object.fromEntries(pointers.map((pointer) => [pointer, getAtPointer(document.value, pointer)]))
  })
}
