// Nobody is left without an administrator unawares: a change of master after which no one administers every realm must be meant.
import { MASTER } from '../kinds/built-in/index.ts'
import { isHeld } from '../store/standing.ts'
import type { Context, JournalEntry, WriteContext } from './context.ts'
import { failure } from './errors.ts'
import { ADMIN } from './power.ts'

/** By kind, the fields that decide whether somebody administers every realm and can log in. */
const decisive: Readonly<Record<string, readonly string[]>> = {
  user: ['enabled', 'credentials', 'realmRoles', 'clientRoles', 'groups'],
  group: ['path', 'realmRoles', 'clientRoles'],
  role: ['composites'],
  client: ['enabled'],
}

/** Whether somebody who can log in administers every realm. One statement. */
export function isAdministered({ tx, realm }: Context): Promise<boolean> {
  return isHeld(tx, realm.number, ADMIN)
}

/**
 * Throws lock_out where nobody could administer every realm after what was written so far, unless the caller says that this is
 * meant. One statement, and none but in master, for changes that can matter.
 */
export async function demandAdministrator(context: WriteContext): Promise<void> {
  const { realm, mayLockOut, entries, people } = context
  if (mayLockOut || realm.name !== MASTER || ![...entries, ...people].some(mayMatter)) return
  if (await isAdministered(context)) return
  throw failure(
    'lock_out',
    'This would lock everyone out: no enabled user who can log in would have the role admin of the master realm. ' +
      'If you mean it, say so with the header Regent-Allow-Lock-Out: true (on the command line --allow-lock-out); ' +
      'then only "regent admin-password" on the store lets somebody in again',
  )
}

function mayMatter({ operation, kind, fields }: JournalEntry): boolean {
  const paths = decisive[kind]
  if (!paths || operation === 'create') return false
  return operation === 'delete' || paths.some((path) => path in fields)
}
