// Names and ids that are taken, in words: the database knows, and says so in its own.
import type { Kind } from '../kinds/kind.ts'
import { failure } from './errors.ts'

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
    const name = /=\((?:.*, )?(.*)\) already exists/.exec(detail ?? '')?.[1] ?? ''
    const message = kind.conflict[operation]
    if (message === undefined || constraint?.endsWith('_pkey')) {
      throw failure('duplicate', 'Duplicate resource error', { detail: `${kind.title} ${name}`, cause: error })
    }
    throw failure('conflict', message.replace('{name}', name), { cause: error })
  }
}
