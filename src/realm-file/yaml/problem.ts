// What is wrong in documents, and where: for every refusal of a file.
import type { Json } from '../../kinds/json.ts'
import type { Path, Position } from '../../lib/position.ts'

/** One thing that is wrong in a document. */
export interface Problem {
  readonly position: Position
  /** What is wrong, and what would be right. Never holds a secret. */
  readonly message: string
  /** Where in the document, as a JSON pointer: `/clients/0/secret`. */
  readonly path?: string
  /** Of a contradiction: the other place, where what stands, or stood, there is as wrong. */
  readonly other?: Position
}

/** Something about a document that people should know, and that stops nothing. */
export interface Notice {
  readonly position: Position
  readonly message: string
}

/** Documents that cannot be used. Its message lists the problems, one a line, as `file:line:column: message`. */
export class DocumentError extends Error {
  override readonly name = 'DocumentError'
  readonly problems: Problem[]

  constructor(problems: readonly Problem[]) {
    // Names are quoted from documents: a line break in one would look like another problem.
    const lines = problems.map((one) => ({ ...one, message: one.message.replaceAll(/\p{Cc}/gu, '\uFFFD') }))
    super(lines.map(({ position, message }) => `${renderPosition(position)}: ${message}`).join('\n'))
    this.problems = lines
  }
}

/** Runs a step; what it refuses joins the problems, and it gives nothing. */
export function collect<T>(problems: Problem[], step: () => T): T[] {
  try {
    return [step()]
  } catch (error) {
    if (!(error instanceof DocumentError)) throw error
    problems.push(...error.problems)
    return []
  }
}

/** The problems as they stand: in the order of the files, then of the places in them. */
export function byPlace(problems: readonly Problem[], documents: readonly { readonly file: string }[]): Problem[] {
  const files = new Map([...new Set(documents.map(({ file }) => file))].map((file, at) => [file, at]))
  const order = ({ position: { file } }: Problem) => files.get(file) ?? files.size
  return problems.toSorted(
    (a, b) => order(a) - order(b) || a.position.line - b.position.line || a.position.column - b.position.column,
  )
}

/** `file:line:column`, as editors and terminals understand it. */
export function renderPosition({ file, line, column }: Position): string {
  return `${file}:${line}:${column}`
}

/** The path as a JSON pointer (RFC 6901): `/clients/0/secret`; the document itself is the empty text. */
export function pointerOf(path: Path): string {
  return path.map((step) => `/${String(step).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')
}

/** What stands at a JSON pointer; null: nothing. */
export function at(value: Json, pointer: string): Json {
  const steps = pointer
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
  return steps.reduce<Json>((node, step) => (node as { [key: string]: Json } | null)?.[step] ?? null, value)
}
