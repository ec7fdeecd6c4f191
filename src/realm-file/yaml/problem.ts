// Problems in documents, with their positions.
import { type Json, readPath } from '../../kinds/json.ts'
import { type DocumentPath, formatMessages, type SourcePosition } from '../../lib/source-position.ts'

/** A problem in a document, which prevents its use. */
export interface DocumentProblem {
  readonly position: SourcePosition
  /** The problem and how to fix it. Never contains a secret. */
  readonly message: string
  /** The path in the document, as a JSON pointer: `/clients/0/secret`. */
  readonly path?: string
  /** The position of the other declaration, for a conflict between two. */
  readonly otherPosition?: SourcePosition
  /** Whether something is missing that another document may declare. */
  readonly isMissing?: true
  /** Whether the permissions of the source forbid it. */
  readonly isForbidden?: true
}

/** A warning about a document, which does not prevent its use. */
export interface DocumentWarning {
  readonly position: SourcePosition
  readonly message: string
  /** Of a field that is ignored. */
  readonly effect?: 'dropped'
}

/** The error for documents with problems. Its message lists them, one per line, as `file:line:column: message`, and once if several places have the same. */
export class DocumentError extends Error {
  override readonly name = 'DocumentError'
  readonly problems: DocumentProblem[]

  constructor(problems: readonly DocumentProblem[]) {
    // A line break in a name from a document would look like another problem.
    const lines = problems.map((problem) => ({
      ...problem,
      message: problem.message.replaceAll(/\p{Cc}/gu, '\uFFFD'),
    }))
    super(formatMessages(lines).join('\n'))
    this.problems = lines
  }
}

/** Runs a step. Returns its result in a list; if it throws a DocumentError, adds its problems to the list and returns none. */
export function collectProblems<T>(problems: DocumentProblem[], step: () => T): T[] {
  try {
    return [step()]
  } catch (error) {
    if (!(error instanceof DocumentError)) throw error
    problems.push(...error.problems)
    return []
  }
}

/** Returns the problems in the order of the files, and by position within a file. */
export function sortByPosition(
  problems: readonly DocumentProblem[],
  documents: readonly { readonly file: string }[],
): DocumentProblem[] {
  const files = new Map([...new Set(documents.map(({ file }) => file))].map((file, index) => [file, index]))
  const order = ({ position: { file } }: DocumentProblem) => files.get(file) ?? files.size
  return problems.toSorted(
    (a, b) => order(a) - order(b) || a.position.line - b.position.line || a.position.column - b.position.column,
  )
}

/** Formats a path as a JSON pointer (RFC 6901): `/clients/0/secret`. */
export function toJsonPointer(path: DocumentPath): string {
  return path.map((step) => `/${String(step).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')
}

/** Returns the value at a JSON pointer; null if there is none. */
export function getAtPointer(value: Json, pointer: string): Json {
  const steps = pointer
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
  return readPath(value, steps) ?? null
}
