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

/** A message about a place in a file. */
export interface LocatedMessage {
  readonly position: SourcePosition
  readonly message: string
}

/** The number of further places that are listed for a message. */
const MAX_FURTHER_PLACES = 5

/**
 * Returns messages as `file:line:column: message`. A message that several places of a file have is returned once, with its further places
 * as `(also at line:column)`.
 */
export function formatMessages(messages: readonly LocatedMessage[]): string[] {
  const groups = Map.groupBy(messages, ({ position, message }) => JSON.stringify([position.file, message]))
  return [...groups.values()].map(([first, ...further]) => {
    const { position, message } = first!
    const places = further.map(({ position: { line, column } }) => `${line}:${column}`)
    const furtherPlaces = [...new Set(places)].filter((place) => place !== `${position.line}:${position.column}`)
    return `${formatPosition(position)}: ${message}${furtherPlaces.length ? ` (also at ${formatPlaces(furtherPlaces)})` : ''}`
  })
}

function formatPlaces(places: readonly string[]): string {
  const remaining = places.length - MAX_FURTHER_PLACES
  const listed = remaining > 0 ? [...places.slice(0, MAX_FURTHER_PLACES), `${remaining} more places`] : places
  return listed.length === 1 ? listed[0]! : `${listed.slice(0, -1).join(', ')} and ${listed.at(-1)}`
}
