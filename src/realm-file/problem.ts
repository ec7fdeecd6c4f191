// What is wrong in documents, and where: for every refusal of a file.
import type { Path, Position } from '../lib/position.ts'

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
