// A source as it travels: texts and, apart from them, the values of variables, which were looked up where it was read.
import type { Json } from '../../kinds/json.ts'
import type { Path } from '../../lib/position.ts'
import { openEnvelopes } from '../../realm-file/resources/envelopes.ts'
import type { SubstitutedDocument } from '../../realm-file/substitute.ts'
import { parseDocuments, varied } from '../../realm-file/yaml/document.ts'
import { at, pointerOf } from '../../realm-file/yaml/problem.ts'
import type { SourceState, SourceText } from './source-state.ts'

/** The source that came over the wire. Variables in the texts are not looked up here. Throws DocumentError. */
export function unpackSource({ name, revision, unknownFields, settings, files }: SourceText): SourceState {
  const documents = files.flatMap(({ file, text, values }) =>
    parseDocuments(file, text).map((document, at) => {
      const own = values[at] ?? {}
      return Object.keys(own).length ? varied(document, placed(document.value, [], own), Object.keys(own)) : document
    }),
  )
  return { name, revision, unknownFields, settings, files, ...openEnvelopes(documents, unknownFields) }
}

/** The values of variables in the documents of one file, for the wire. */
export function packValues(documents: readonly SubstitutedDocument[]): Record<string, string>[] {
  return documents.map(({ value, substituted }) =>
    Object.fromEntries([...substituted.keys()].map((pointer) => [pointer, String(at(value, pointer))])),
  )
}

function placed(value: Json, path: Path, values: Readonly<Record<string, string>>): Json {
  if (typeof value === 'string') return values[pointerOf(path)] ?? value
  if (Array.isArray(value)) return value.map((one, index) => placed(one, [...path, index], values))
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, placed(one, [...path, key], values)]))
}
