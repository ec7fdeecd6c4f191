// Names and ids that are taken, in words: the database knows, and says so in its own.
import type { Kind } from '../kinds/kind.ts'
import { failure } from './errors.ts'

/** SQLSTATE unique_violation, told in words: the natural key or the id is taken. */
export async function unlessTaken(
  kind: Kind,
  operation: 'create' | 'update',
  write: () => Promise<void>,
): Promise<void> {
  try {
    await write()
  } catch (error) {
    const { code, constraint, detail } = error as { code?: string; constraint?: string; detail?: string }
    if (code !== '23505') throw error
    const name = /=\((?:.*, )?(.*)\) already exists/.exec(detail ?? '')?.[1] ?? ''
    const message = kind.conflict[operation]
    if (message === undefined || constraint?.endsWith('_pkey')) {
      throw failure('duplicate', 'Duplicate resource error', { detail: `${kind.title} ${name}`, cause: error })
    }
    throw failure('conflict', message.replace('{name}', name), { cause: error })
  }
}
