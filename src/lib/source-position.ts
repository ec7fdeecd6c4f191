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

/** From this number of places, a message of a file is returned once. */
const MANY_PLACES = 6
/** The number of further places that are listed for a message. */
const MAX_FURTHER_PLACES = 20

/**
 * Returns messages as `file:line:column: message`. A message that many places of a file have, such as that of a missing variable, is returned
 * once, with its further places as `(also at line:column)`.
 */
export function formatMessages(messages: readonly LocatedMessage[]): string[] {
  const lines = new Map(messages.map((located) => [formatMessage(located), located]))
  const groups = Map.groupBy(lines.keys(), (line) => {
    const { position, message } = lines.get(line)!
    return JSON.stringify([position.file, message])
  })
  const furtherPlaces = new Map<string, readonly string[]>()
  for (const [first, ...further] of groups.values())
    if (further.length + 1 >= MANY_PLACES) furtherPlaces.set(first!, further)
  const merged = new Set([...furtherPlaces.values()].flat())
  return [...lines.keys()]
    .filter((line) => !merged.has(line))
    .map((line) => `${line}${formatFurtherPlaces((furtherPlaces.get(line) ?? []).map((place) => lines.get(place)!))}`)
}

function formatMessage({ position, message }: LocatedMessage): string {
  return `${formatPosition(position)}: ${message}`
}

/** Returns the further places of a message; an empty text for none. */
function formatFurtherPlaces(messages: readonly LocatedMessage[]): string {
  if (!messages.length) return ''
  const places = messages.slice(0, MAX_FURTHER_PLACES).map(({ position: { line, column } }) => `${line}:${column}`)
  const remaining = messages.length - places.length
  const listed = remaining ? [...places, `${remaining} more places`] : places
  return ` (also at ${listed.slice(0, -1).join(', ')} and ${listed.at(-1)})`
}
