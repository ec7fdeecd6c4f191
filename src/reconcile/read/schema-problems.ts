// Problems of a settings file that does not match its schema, with their positions.
import type * as z from 'zod'
import { findNearestWord } from '../../lib/nearest-word.ts'
import type { DocumentPath } from '../../lib/source-position.ts'
import type { Document } from '../../realm-file/yaml/document.ts'
import { type DocumentProblem, toJsonPointer } from '../../realm-file/yaml/problem.ts'

/** The words of the problems. */
interface SettingsSchema {
  /** The name of the whole document. */
  readonly name: string
  /** Returns the fields of the object at a path, one of which may be meant by an unknown field. */
  readonly listFields: (path: DocumentPath) => readonly string[]
  /** The advice for an unknown field that resembles no other. */
  readonly advice?: string
}

/** Returns the problems that the schema has found in a document. */
export function listSchemaProblems(
  document: Document,
  { issues }: z.ZodError,
  { name, listFields, advice }: SettingsSchema,
): DocumentProblem[] {
  const toProblem = (path: DocumentPath, message: string): DocumentProblem => ({
    position: document.locate(path),
    message,
    path: toJsonPointer(path),
  })
  return issues.flatMap((issue) => {
    const path = issue.path.map((step) => (typeof step === 'number' ? step : String(step)))
    if (issue.code !== 'unrecognized_keys') return [toProblem(path, `${path.join('.') || name}: ${issue.message}`)]
    return issue.keys.map((key) => {
      const near = findNearestWord(key, listFields(path))
      const hint = near ? `Did you mean ${near}?` : advice
      return toProblem([...path, key], `unknown field ${key}${hint ? `. ${hint}` : ''}`)
    })
  })
}
