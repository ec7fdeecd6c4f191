// Errors of names and ids: taken, or too long. The database checks uniqueness; its errors are translated here.
import type { Kind } from '../../kinds/kind.ts'
import { getErrorCode } from '../../lib/error-code.ts'
import { selectIdsOfOtherSources } from '../../store/sources/inventory.ts'
import { hasFullAccess } from '../context/admin-permissions.ts'
import type { Context } from '../context/context.ts'
import { duplicateResource, failure } from '../context/errors.ts'

/** Keycloak: the longest name that its database stores. Here a name must fit into a URL and an index. */
export const MAX_NAME_LENGTH = 255

/** Throws invalid if an id or a name is too long; each step of a path is a name. */
export function checkNameLength({ naturalKey }: Kind, id: string, key: string): void {
  const names = [id, ...(naturalKey === 'path' ? key.split('/') : [key])]
  if (names.some(({ length }) => length > MAX_NAME_LENGTH))
    throw failure('invalid', `A name or an id has ${MAX_NAME_LENGTH} characters at most`)
}

/** SQLSTATE program_limit_exceeded: a value does not fit into an index, such as a path of very many steps. */
const PROGRAM_LIMIT_EXCEEDED = '54000'
/** SQLSTATE unique_violation. */
const UNIQUE_VIOLATION = '23505'

/** Runs a write of objects of a kind. Throws conflict if a natural key, a unique field or an id is taken, invalid if a key is too long. */
export async function withConflictErrors(
  kind: Pick<Kind, 'title' | 'conflict'>,
  operation: 'create' | 'update',
  write: () => Promise<void>,
): Promise<void> {
  try {
    await write()
  } catch (error) {
    const code = getErrorCode(error)
    if (code === PROGRAM_LIMIT_EXCEEDED)
      throw failure('invalid', `The name of the ${kind.title} is too long`, { cause: error })
    if (code !== UNIQUE_VIOLATION || !isDatabaseError(error)) throw error
    const { constraint = '', detail = '' } = error
    const name = parseTakenName(detail)
    // Constraints of unique fields are named table_sole_field.
    const [, field = ''] = /_sole_(\w+)$/.exec(constraint) ?? []
    const message = kind.conflict.fields?.[field] ?? kind.conflict[operation]
    if (message === undefined || constraint.endsWith('_pkey'))
      throw duplicateResource({ detail: `${kind.title} ${name}`, cause: error })
    throw failure('conflict', message.replace('{name}', name), { cause: error })
  }
}

/**
 * Throws conflict if a requested id is that of an object which a source applied, even if it was deleted: the source would then manage
 * the new object. Callers with full access to the realm may request it, as a rollback does. One statement, or none.
 */
export async function checkRequestedIds(context: Context, kind: Kind, ids: readonly string[]): Promise<void> {
  const { tx, realm, permissions, actor } = context
  if (!ids.length || hasFullAccess(permissions, realm.name)) return
  const except = actor.source?.split(', ') ?? []
  const [applied] = await selectIdsOfOtherSources(tx, realm.number, { kind: kind.name, ids, except })
  if (applied !== undefined) throw duplicateResource({ detail: `${kind.title} ${applied}: a source applied it` })
}

/** Whether an error can have the members of errors of PostgreSQL. */
const isDatabaseError = (error: unknown): error is { readonly constraint?: string; readonly detail?: string } =>
  typeof error === 'object' && error !== null

/** Returns the last of the values in `Key (realm, name)=(1, a) already exists.`. */
function parseTakenName(detail: string): string {
  const [start, end] = [detail.indexOf('=('), detail.lastIndexOf(') already exists')]
  return start < 0 || end < start
    ? ''
    : detail
        .slice(start + 2, end)
        .split(', ')
        .at(-1)!
}
