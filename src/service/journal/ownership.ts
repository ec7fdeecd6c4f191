// Writes by REST to what sources manage: reported or refused, as the source's `ownership` setting says. Pure.
import { type FlatFields, getField, isSameValue, isWholeMap, readKeys, subtractKeys } from '../../kinds/compare.ts'
import { kinds } from '../../kinds/index.ts'
import type { Json } from '../../kinds/json.ts'
import type { Kind } from '../../kinds/kind.ts'
import { describeObject } from '../../kinds/tree.ts'
import type { JournalEntry } from '../../store/journal/journal.ts'
import type { ProtectedInventoryRow } from '../../store/sources/inventory.ts'
import type { OverwrittenDeclaration } from '../context/context.ts'
import { failure } from '../context/errors.ts'
import { getDriftPolicy } from './drift-policy.ts'

/** The new values of the fields in journal entries. Absent: they are not known. */
export type NewValues = ReadonlyMap<JournalEntry, FlatFields>

/**
 * Returns the declarations in the inventory rows that the entries overwrite. Not counted are fields whose drift the source does
 * not correct, and fields that are applied only once.
 */
export function findOverwrittenDeclarations(
  entries: readonly JournalEntry[],
  newValues: NewValues,
  rows: readonly ProtectedInventoryRow[],
): OverwrittenDeclaration[] {
  const entriesByObject = Map.groupBy(entries, ({ kind, object }) => `${kind} ${object}`)
  return rows.flatMap((row) =>
    (entriesByObject.get(`${row.kind} ${row.object}`) ?? []).flatMap((entry) => {
      const paths = entry.operation === 'delete' ? [undefined] : listOverwrittenPaths(entry, newValues.get(entry), row)
      return paths.filter((path) => isCorrected(row, path)).map((path) => toOverwrittenDeclaration(row, path))
    }),
  )
}

/** Throws managed if a source refuses one of the changes. */
export function refuseOverwrites(declarations: readonly OverwrittenDeclaration[]): void {
  const [first, ...further] = declarations.filter(({ refused }) => refused)
  if (!first) return
  const { object, path, source, position } = first
  const subject = path === undefined ? object : `${object}: ${path}`
  const more = further.length ? `, and ${further.length} more,` : ''
  throw failure(
    'managed',
    `${subject}${more} is managed by the source ${source} (${position}), which refuses other changes. Change it there. ` +
      'In an emergency, an administrator of the realm may send the header Regent-Allow-Drift: true',
  )
}

/** Returns the declared paths of a row whose value an entry changes. */
function listOverwrittenPaths(
  { kind: name, fields }: JournalEntry,
  after: FlatFields | undefined,
  row: ProtectedInventoryRow,
): string[] {
  const kind = kinds[name]
  return Object.keys(row.fields).filter((path) => {
    if (path in fields)
      return isOverwritten(kind, path, { declared: row.fields[path]!, before: fields[path]!, after: after?.[path] })
    return isWholeMap(kind, path) && Object.keys(fields).some((changedPath) => changedPath.startsWith(`${path}.`))
  })
}

/** Whether a relation loses declared elements that it had, or another field gets another value than the declared one. */
function isOverwritten(
  kind: Kind,
  path: string,
  { declared, before, after }: { readonly declared: Json; readonly before: Json; readonly after: Json | undefined },
): boolean {
  if (after === undefined) return true
  const field = getField(kind, path)
  if (!field.relation) return !isSameValue(field, declared, after)
  const keysBefore = readKeys(declared).filter((key) => subtractKeys([key], readKeys(before)).length === 0)
  return subtractKeys(keysBefore, readKeys(after)).length > 0
}

/** Whether the source corrects drift of the field, or of the object if there is no path. */
function isCorrected({ kind, settings }: ProtectedInventoryRow, path: string | undefined): boolean {
  if (path !== undefined && getField(kinds[kind], path).appliedOnChange) return false
  const policy = getDriftPolicy([settings], { kind, path, by: { kind: 'administrator' } })
  return policy === 'correct' || policy === 'selfHeal'
}

function toOverwrittenDeclaration(row: ProtectedInventoryRow, path?: string): OverwrittenDeclaration {
  const { source, kind, key, file, line, lines, settings } = row
  return {
    source,
    object: describeObject(kind, key),
    ...(path !== undefined && { path }),
    position: `${file}:${line + (path === undefined ? 0 : (lines?.[path] ?? 0))}`,
    refused: settings.ownership === 'refuse',
  }
}
