/** A place in a file. Line and column count from 1; a column is a character, so an emoji is one. */
export interface Position {
  readonly file: string
  readonly line: number
  readonly column: number
}

/** The way to a value inside a document: keys of mappings and indexes of lists. */
export type Path = readonly (string | number)[]
