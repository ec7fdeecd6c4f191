// The default role of a realm, which is granted to new users.
import { findDefaultRole } from '../../store/users/role-mappings.ts'
import type { Context } from '../context/context.ts'
import { listObjects } from '../objects/live-objects.ts'

/** Returns the name of the default role, or undefined where the realm has none. One statement, or two. */
export async function findDefaultRoleName(context: Context): Promise<string | undefined> {
  const id = await findDefaultRole(context.tx, context.realm.number)
  if (id === undefined) return undefined
  const [role] = await listObjects(context, 'role', { ids: [id] })
  return role?.key[0]
}
