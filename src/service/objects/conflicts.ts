// Names and ids that are taken, in words: the database knows, and says so in its own.
import type { Kind } from '../../kinds/kind.ts'
import { selectAppliedIds } from '../../store/sources/inventory.ts'
import type { Context } from '../context/context.ts'
import { failure } from '../context/errors.ts'
import { isWhole } from '../context/power.ts'

/** Keycloak: more characters its database does not keep. Here a name must fit into an address, and into an index. */
export const LONGEST_NAME = 255

/** Throws invalid where an id or a name is longer than such are; of a path, each step is a name. */
export function refuseLong({ naturalKey }: Kind, id: string, key: string): void {
  const names = [id, ...(naturalKey === 'path' ? key.split('/') : [key])]
  if (names.some(({ length }) => length > LONGEST_NAME))
    throw failure('invalid', `A name or an id has ${LONGEST_NAME} characters at most`)
}

/** SQLSTATE program_limit_exceeded: what is looked for by an index does not fit into it, such as a path of very many steps. */
const TOO_LONG = '54000'

/** SQLSTATE unique_violation, told in words: the natural key or the id is taken. */
export async function unlessTaken(
  kind: Pick<Kind, 'title' | 'conflict'>,
  operation: 'create' | 'update',
  write: () => Promise<void>,
): Promise<void> {
  try {
    await write()
  } catch (error) {
    const { code, constraint, detail } = error as { code?: string; constraint?: string; detail?: string }
    if (code === TOO_LONG) throw failure('invalid', `What the ${kind.title} is called by is too long`, { cause: error })
    if (code !== '23505') throw error
    const name = takenName(detail ?? '')
    // Constraints of unique fields are named table_sole_field.
    const [, field = ''] = /_sole_(\w+)$/.exec(constraint ?? '') ?? []
    const message = kind.conflict.fields?.[field] ?? kind.conflict[operation]
    if (message === undefined || constraint?.endsWith('_pkey')) {
      throw failure('duplicate', 'Duplicate resource error', { detail: `${kind.title} ${name}`, cause: error })
    }
    throw failure('conflict', message.replace('{name}', name), { cause: error })
  }
}

/**
 * Throws duplicate where a wished id is that of an object which a source applied, deleted or not: what is declared for that object would go
 * to the new one. Who has all of the realm may choose it, as a rollback does. One statement, or none.
 */
export async function refuseAppliedIds(context: Context, kind: Kind, ids: readonly string[]): Promise<void> {
  const { tx, realm, power, actor } = context
  if (!ids.length || isWhole(power, realm.name)) return
  const except = actor.source?.split(', ') ?? []
  const [applied] = await selectAppliedIds(tx, realm.number, { kind: kind.name, ids, except })
  if (applied !== undefined)
    throw failure('duplicate', 'Duplicate resource error', { detail: `${kind.title} ${applied}: a source applied it` })
}

/** The last of the values in `Key (realm, name)=(1, a) already exists.`. */
function takenName(detail: string): string {
  const [start, end] = [detail.indexOf('=('), detail.lastIndexOf(') already exists')]
  return start < 0 || end < start
    ? ''
    : detail
        .slice(start + 2, end)
        .split(', ')
        .at(-1)!
}
