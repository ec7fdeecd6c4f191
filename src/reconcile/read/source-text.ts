// Deserializes sources, and lists the values of variables for serialized ones. Values are looked up only where the files are.
import { createHash } from 'node:crypto'
import type { Json } from '../../kinds/json.ts'
import type { DocumentPath } from '../../lib/source-position.ts'
import { unwrapResources } from '../../realm-file/resources/unwrap-resources.ts'
import type { SubstitutedDocument } from '../../realm-file/substitute-variables.ts'
import { createCachingParser } from '../../realm-file/yaml/caching-parser.ts'
import { markVariables, toOverlayDocument } from '../../realm-file/yaml/document.ts'
import { getAtPointer, toJsonPointer } from '../../realm-file/yaml/problem.ts'
import type { SerializedSource, SourceContent } from './source-content.ts'

/** A source in a request, which may omit what follows from its files. */
export type DeclaredSource = Omit<SerializedSource, 'revision' | 'files'> & {
  readonly revision?: string | undefined
  readonly files: readonly (Omit<SerializedSource['files'][number], 'values'> &
    Partial<Pick<SerializedSource['files'][number], 'values'>>)[]
}

/** An apply usually follows a plan of the same files, and a pipeline sends mostly the files of its last run. */
const parseFile = createCachingParser()

/** Parses a serialized source. Variables get the values that it contains. Throws DocumentError where documents are invalid. */
export function deserializeSource(declared: DeclaredSource): SourceContent {
  const { name, unknownFields, settings, scope, origin, ...source } = declared
  const files = source.files.map((file) => ({ values: [], ...file }))
  const revision = source.revision ?? createRevision(source.files)
  const documents = files.flatMap(({ file, text, values, overlay }) =>
    parseFile(file, text).map((parsed, index) => {
      const document = toOverlayDocument(parsed, overlay)
      const substituted = values[index] ?? {}
      const pointers = Object.keys(substituted)
      return pointers.length
        ? markVariables(document, replaceTexts(document.value, [], substituted), pointers)
        : document
    }),
  )
  const opened = unwrapResources(documents, unknownFields)
  const removals = scope === undefined ? undefined : { scope }
  return { name, revision, unknownFields, settings, origin, removals, files, ...opened }
}

/** Returns the revision of files that have no other one: a digest of them. */
export function createRevision(
  files: readonly Pick<SerializedSource['files'][number], 'file' | 'text' | 'overlay'>[],
): string {
  const hash = createHash('sha256')
  for (const { file, text, overlay } of files)
    hash.update(`${file}\0${text}\0${overlay === undefined ? '' : `${overlay}\0`}`)
  return `sha256:${hash.digest('hex').slice(0, 12)}`
}

/** Lists, for each document of a file, the values of its texts with variables, by JSON pointer. */
export function listVariableValues(documents: readonly SubstitutedDocument[]): Record<string, string>[] {
  return documents.map(({ value, substituted }) =>
    Object.fromEntries([...substituted.keys()].map((pointer) => [pointer, String(getAtPointer(value, pointer))])),
  )
}

function replaceTexts(value: Json, path: DocumentPath, values: Readonly<Record<string, string>>): Json {
  if (typeof value === 'string') return values[toJsonPointer(path)] ?? value
  if (Array.isArray(value)) return value.map((element, index) => replaceTexts(element, [...path, index], values))
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [key, replaceTexts(member, [...path, key], values)]),
  )
}
