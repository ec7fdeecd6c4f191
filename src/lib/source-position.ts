/** A position in a file. Lines and columns count from 1; a column is a Unicode character, so an emoji is one. */
export interface SourcePosition {
  readonly file: string
  readonly line: number
  readonly column: number
}

/** The path to a value in a document: keys of mappings and indexes of lists. */
export type DocumentPath = readonly (string | number)[]

/** Returns a position as `file:line:column`, which editors and terminals recognize. */
export function formatPosition({ file, line, column }: SourcePosition): string {
  return `${file}:${line}:${column}`
}
