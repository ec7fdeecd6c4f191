// Decides what happens to objects and fields that a source no longer declares, where the source knows why.
import type { InventoryRow } from '../../service/context/store-types.ts'
import { NOT_DECLARED } from '../model/declared-digest.ts'
import type { ManagedObject } from '../model/plan-input.ts'

/**
 * Files whose declarations were removed, by the consequence for the objects and fields that they declared. Those of files in none
 * of the first three lists are deleted, unless a guard blocks that.
 */
export interface Removals {
  /** Stays live and managed, since the file exists and cannot be applied now. */
  readonly retained?: readonly string[]
  /** Stays live and becomes unmanaged. */
  readonly released?: readonly string[]
  /** Is deleted without an approval, since a user deleted exactly this file. */
  readonly deleted?: readonly string[]
  /** All other files of a source that reports deletions. Objects of a missing file are deleted only with an approval. */
  readonly existing?: readonly string[]
  /** The consequence for files in none of the first three lists, without an approval. */
  readonly rest?: 'deleted'
  /** The only files and folders that were read. What other files declare stays live and managed. */
  readonly scope?: readonly string[]
}

/**
 * The consequence for an inventory row that is no longer declared. `missing`: its file disappeared without being deleted. `unread`:
 * a file that declares it was not read.
 */
export type Removal = 'retained' | 'released' | 'deleted' | 'missing' | 'unread'

type FileRow = Pick<InventoryRow, 'source' | 'file' | 'declaredDigest' | 'fields' | 'lines'>

/** Returns a function that finds what happens to an inventory row by the file that declared it. */
export function createRemovalLookup(
  parts: readonly { readonly source: string; readonly removals?: Removals | undefined }[],
): (row: FileRow) => Removal | undefined {
  const lists = ['retained', 'released', 'deleted'] as const
  const byFile = new Map(
    parts.flatMap(({ source, removals = {} }) =>
      lists.flatMap((list) => (removals[list] ?? []).map((file) => [JSON.stringify([source, file]), list] as const)),
    ),
  )
  const existing = new Map(
    parts.flatMap(({ source, removals }) =>
      removals?.existing ? [[source, new Set(removals.existing)] as const] : [],
    ),
  )
  const rest = new Map(
    parts.flatMap(({ source, removals }) => (removals?.rest ? [[source, removals.rest] as const] : [])),
  )
  const scopes = new Map(
    parts.flatMap(({ source, removals }) => (removals?.scope === undefined ? [] : [[source, removals.scope] as const])),
  )
  if (!byFile.size && !existing.size && !rest.size && !scopes.size) return () => undefined
  return (row) => {
    const { source, file, declaredDigest } = row
    const scope = scopes.get(source)
    if (
      scope !== undefined &&
      Object.keys(row.fields)
        .concat('')
        .some((path) => isUnread(row, path, scope))
    )
      return 'unread'
    const removal = byFile.get(JSON.stringify([source, file])) ?? rest.get(source)
    if (removal || existing.get(source)?.has(file) !== false) return removal
    // An object that was retained when its declaration was removed may be deleted now.
    return declaredDigest === NOT_DECLARED ? undefined : 'missing'
  }
}

/**
 * Whether a field of a row is declared in a file outside the scope of a run; without a path, the object itself. The line of a field is
 * stored only if it is in the file of its object.
 */
export function isUnread(row: Pick<FileRow, 'file' | 'lines'>, path: string, scope: readonly string[]): boolean {
  const isInScope = scope.some((part) => part === '' || row.file === part || row.file.startsWith(`${part}/`))
  return !isInScope || (path !== '' && row.lines !== null && !(path in row.lines))
}

/**
 * Returns the managed objects of the rows without released ones. Marks those whose file was deleted, or is missing.
 * `merge` makes managed objects of rows.
 */
export function markRemovals(
  rows: readonly InventoryRow[],
  findRemoval: ReturnType<typeof createRemovalLookup>,
  merge: (rows: readonly InventoryRow[]) => ManagedObject[],
): ManagedObject[] {
  const idOf = ({ kind, object }: Pick<ManagedObject, 'kind' | 'object'>) => `${kind} ${object}`
  const listIds = (removal: Removal) => new Set(rows.flatMap((row) => (findRemoval(row) === removal ? idOf(row) : [])))
  const deleted = listIds('deleted')
  const missing = listIds('missing')
  const managed = merge(rows.filter((row) => findRemoval(row) !== 'released'))
  if (!deleted.size && !missing.size) return managed
  return managed.map((object) => {
    if (deleted.has(idOf(object))) return { ...object, isDeletedFromSource: true }
    return missing.has(idOf(object)) ? { ...object, isMissingFromSource: true } : object
  })
}
