// What sources state, and who else changes it by REST: told, or refused, as the source settles it. Pure, but for the question who may.
import { type FlatFields, isWholeMap, keysOf, missing, resolve, same } from '../../kinds/compare.ts'
import { kinds } from '../../kinds/index.ts'
import type { Json } from '../../kinds/json.ts'
import type { Kind, KindName } from '../../kinds/kind.ts'
import { describe } from '../../kinds/tree.ts'
import type { JournalEntry } from '../../store/journal/journal.ts'
import type { OwnedRow } from '../../store/sources/inventory.ts'
import type { Overwritten } from '../context/context.ts'
import { failure } from '../context/errors.ts'
import { driftPolicy } from './drift-policy.ts'
import type { SourceSettings } from './source-settings.ts'

/** What an entry says of the fields that it names, once it is done; absent where that is not known. */
export type Became = ReadonlyMap<JournalEntry, FlatFields>

/**
 * What of the rows the entries change. What the source lets drift it does not claim: fields whose drift stays as it is, and what
 * is applied once.
 */
export function overwritten(
  entries: readonly JournalEntry[],
  became: Became,
  rows: readonly OwnedRow[],
): Overwritten[] {
  const about = Map.groupBy(entries, ({ kind, object }) => `${kind} ${object}`)
  return rows.flatMap((row) =>
    (about.get(`${row.kind} ${row.object}`) ?? []).flatMap((entry) => {
      const paths = entry.operation === 'delete' ? [undefined] : changedPaths(entry, became.get(entry), row)
      return paths.filter((path) => isClaimed(row, path)).map((path) => overwrittenAt(row, path))
    }),
  )
}

/** Throws owned where a source refuses the change of something, naming the first and where it is stated. */
export function refuseOverwriting(found: readonly Overwritten[]): void {
  const [first, ...others] = found.filter(({ refused }) => refused)
  if (!first) return
  const { object, path, source, at } = first
  const more = others.length ? `, and ${others.length} more,` : ''
  throw failure(
    'owned',
    `${path === undefined ? object : `${object}: ${path}`}${more} is stated by the source ${source} at ${at}, which refuses ` +
      'other changes: change it there. In an emergency, whoever administers the realm may send the header Regent-Allow-Drift: true',
  )
}

/** The paths of a row that say something else after the entry. */
function changedPaths({ kind: name, fields }: JournalEntry, after: FlatFields | undefined, row: OwnedRow): string[] {
  const kind = kinds[name as KindName]
  return Object.keys(row.fields).filter((path) => {
    if (path in fields) return isLost(kind, path, row.fields[path]!, fields[path]!, after?.[path])
    return isWholeMap(kind, path) && Object.keys(fields).some((one) => one.startsWith(`${path}.`))
  })
}

/** Of a relation, elements that are stated and go; of other fields, whatever is not what is stated. */
function isLost(kind: Kind, path: string, stated: Json, before: Json, after: Json | undefined): boolean {
  if (after === undefined) return true
  if (!resolve(kind, path).field.relation) return !same(kind, path, stated, after)
  const had = keysOf(stated).filter((key) => missing([key], keysOf(before)).length === 0)
  return missing(had, keysOf(after)).length > 0
}

function isClaimed({ kind, settings }: OwnedRow, path: string | undefined): boolean {
  if (path !== undefined && resolve(kinds[kind], path).field.once) return false
  const policy = driftPolicy([settings as SourceSettings], kind, path, { kind: 'administrator' })
  return policy === 'correct' || policy === 'selfHeal'
}

function overwrittenAt({ source, kind, key, file, line, lines, settings }: OwnedRow, path?: string): Overwritten {
  return {
    source,
    object: describe(kind, key),
    ...(path !== undefined && { path }),
    at: `${file}:${line + (path === undefined ? 0 : (lines?.[path] ?? 0))}`,
    refused: (settings as SourceSettings).ownership === 'refuse',
  }
}
