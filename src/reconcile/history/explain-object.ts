// Explains the fields of an object: which documents declare them, and who last changed them.
import { isSecret, valueAt } from '../../kinds/compare.ts'
import { kinds } from '../../kinds/index.ts'
import type { Json } from '../../kinds/json.ts'
import type { Key, KindName } from '../../kinds/kind.ts'
import type { Context } from '../../service/context/context.ts'
import { digestSecrets } from '../../service/context/secrets.ts'
import { findOldestEntry } from '../../service/journal/history.ts'
import { listLatestEntries } from '../../service/journal/journal.ts'
import { writers } from '../../service/kinds/index.ts'
import type { LiveObject } from '../../service/objects/live-objects.ts'
import { requirePermissions } from '../../service/permissions/require-permissions.ts'
import { listInventoryOfObject, listRealmSources } from '../../service/sources/source-records.ts'
import type { Attribution } from '../model/action.ts'
import { blame } from '../model/attribution.ts'
import { createMissingObjectError, parseObjectPath, requireExistingField } from './object-path.ts'

/** Position of a declaration of a field. */
export interface DeclarationPosition {
  readonly source: string
  /** The last applied revision of the source. */
  readonly revision: string
  readonly file: string
  readonly line: number
}

/** The value of a field, with its declarations and its last change. */
export interface FieldExplanation {
  readonly path: string
  /** The live value; absent for secrets and encrypted values. */
  readonly value?: Json
  /** Whether the value is encrypted in the file of a source. */
  readonly encrypted?: true
  readonly declarations: readonly DeclarationPosition[]
  /** The last change, or the creation of the object. */
  readonly by?: Attribution
}

/** An object with its creator and the explanations of its fields. */
export interface ObjectExplanation {
  readonly kind: KindName
  readonly key: Key
  readonly id: string
  readonly by?: Attribution
  readonly fields: readonly FieldExplanation[]
  /** Whether the journal goes back to the creation of the realm. Otherwise the author of a value may be unknown. */
  readonly isJournalComplete: boolean
}

/**
 * Explains the object or field at a path: all fields of the object that are declared or were changed, or the given one.
 * Throws not_found where the object does not exist, invalid where the path is not valid. A few statements.
 */
export async function explainObject(context: Context, path: string): Promise<ObjectExplanation> {
  requirePermissions(context, 'administer-realm')
  const { name: realm } = context.realm
  const target = parseObjectPath(realm, path)
  const { kind, key, field } = target
  const [live] = await writers[kind].list(context, { keys: [key] })
  if (!live) throw createMissingObjectError(realm, target)
  requireExistingField(realm, target)
  return explainLiveObject(context, live, field)
}

/** Explains the fields of a live object that are declared or were changed, or the given one. A few statements. */
export async function explainLiveObject(
  context: Context,
  live: LiveObject,
  field?: string,
): Promise<ObjectExplanation> {
  const { kind } = live
  const fields = digestSecrets(context.vault, kinds[kind], live.representation)
  const rows = await listInventoryOfObject(context, kind, live.id)
  const entries = await listLatestEntries(context, [{ kind, object: live.id }])
  const revisions = new Map((await listRealmSources(context)).map(({ source, revision }) => [source, revision]))
  const encrypted = new Set(rows.flatMap((row) => row.encrypted ?? []))
  const changed = new Set(entries.flatMap((entry) => (entry.operation === 'update' ? Object.keys(entry.fields) : [])))
  const declaredOrChanged = [...new Set([...rows.flatMap((row) => Object.keys(row.fields)), ...changed])].sort()
  const paths =
    field === undefined ? declaredOrChanged : listPaths(field, [...declaredOrChanged, ...Object.keys(fields)])
  const changedBy = blame(entries)
  const isJournalComplete = (await findOldestEntry(context)) === 1
  const creation = entries.findLast(({ operation }) => operation === 'create')
  const creator = creation && blame([creation])(kind, live.id)
  return {
    kind,
    key: live.key,
    id: live.id,
    ...(creator && { by: creator }),
    isJournalComplete,
    fields: paths.map((path): FieldExplanation => {
      const by = changed.has(path) ? changedBy(kind, live.id, path) : creator
      return {
        path,
        ...(!isSecret(kinds[kind], path) && !encrypted.has(path) && { value: valueAt(kinds[kind], fields, path) }),
        ...(encrypted.has(path) && { encrypted: true }),
        declarations: rows
          .filter((row) => path in row.fields)
          .map(({ source, file, line, lines }) => ({
            source,
            revision: revisions.get(source) ?? '',
            file,
            line: line + (lines?.[path] ?? 0),
          })),
        ...(by && { by }),
      }
    }),
  }
}

/** Returns the paths of the keys if the field is a map, otherwise the field. */
function listPaths(field: string, paths: readonly string[]): string[] {
  const keyPaths = [...new Set(paths)].filter((path) => path.startsWith(`${field}.`)).sort()
  return keyPaths.length ? keyPaths : [field]
}
