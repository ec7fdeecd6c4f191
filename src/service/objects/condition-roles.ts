// Roles in conditions of authentication flows: users who have them may skip a step, such as the second factor, or are denied access.
import { readTextMap } from '../../kinds/json.ts'
import type { Key } from '../../kinds/kind.ts'
import { selectKeys } from '../../store/objects.ts'
import { selectExpandedRoles } from '../../store/users/effective-roles.ts'
import { hasFullAccess } from '../context/admin-permissions.ts'
import type { Context, WriteContext } from '../context/context.ts'
import { parseRoleKeys, requireControlOfAllUsers } from '../permissions/privilege-escalation.ts'
import { listObjects } from './live-objects.ts'

/** Roles that a write changes. */
interface ChangedRoles {
  /** Keys of created, renamed and deleted roles; the key of a client means all of its roles. */
  readonly keys: readonly Key[]
  /** Ids of roles that composite roles get or lose, and of deleted roles. */
  readonly ids: readonly string[]
}

/**
 * Throws forbidden if the write changes for whom a condition of a flow holds, unless the caller may log in as any user of the realm.
 * Granting a role without admin permissions to a user is not checked. No statement with full access to the realm, else four at most.
 */
export async function requireControlOfConditionRoles(context: Context, { keys, ids }: ChangedRoles): Promise<void> {
  const { tx, realm, permissions } = context
  if (hasFullAccess(permissions, realm.name) || !(keys.length || ids.length)) return
  const conditionKeys = await listConditionRoles(context)
  if (!conditionKeys.length) return
  const isPrefixOf = (key: Key, other: Key) => key.every((part, at) => part === other[at])
  if (keys.some((key) => conditionKeys.some((conditionKey) => isPrefixOf(key, conditionKey))))
    return requireControlOfAllUsers(context)
  if (!ids.length) return
  const conditionRoles = await selectKeys(tx, realm.number, { kind: 'role', filter: { keys: conditionKeys } })
  const conditionIds = new Set(conditionRoles.map(({ id }) => id))
  const contained = await selectExpandedRoles(tx, realm.number, { roles: ids, stop: undefined })
  if (contained.some(({ id }) => conditionIds.has(id))) await requireControlOfAllUsers(context)
}

/** Returns the keys that conditions may mean, except for conditions that this transaction creates. One statement. */
async function listConditionRoles(context: Context): Promise<Key[]> {
  const entries = isWriteContext(context) ? context.entries : []
  const created = new Set(entries.flatMap(({ operation, object }) => (operation === 'create' ? [object] : [])))
  const configs = await listObjects(context, 'authenticatorConfig', {})
  return configs
    .filter(({ id }) => !created.has(id))
    .flatMap(({ representation }) => {
      const { condUserRole } = readTextMap(representation.config)
      return condUserRole ? parseRoleKeys(condUserRole) : []
    })
}

const isWriteContext = (context: Context): context is WriteContext => 'entries' in context
