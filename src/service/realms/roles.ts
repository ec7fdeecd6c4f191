// The writers of roles. A document may declare the role that is created with authorization services.
import type { Json } from '../../kinds/json.ts'
import type { Key } from '../../kinds/kind.ts'
import { UMA_PROTECTION } from '../../kinds/role.ts'
import type { RoleName } from '../../store/roles.ts'
import { selectEffectiveRoles } from '../../store/users/effective-roles.ts'
import type { Context, WriteContext } from '../context/context.ts'
import { createOrUpdate } from '../objects/create-or-update.ts'
import { type LiveObject, listObjects } from '../objects/live-objects.ts'
import { createPlainWriters } from '../objects/plain-writers.ts'
import type { NewObject, Writers } from '../objects/writers.ts'
import { parseRoleKeys, requireGrantableRoleNames } from '../permissions/privilege-escalation.ts'

const writers = createPlainWriters('role')

/** The writers of roles. */
export const roles: Writers = {
  ...writers,
  async create(context, objects) {
    requireGrantableRoleNames(
      context,
      objects.map(({ parent, representation }) => toRoleName(parent?.key[0], representation.name)),
    )
    return createOrUpdate(objects, await findCreatedWithClient(context, objects), {
      create: (newRoles) => writers.create(context, newRoles),
      update: (updates) => writers.update(context, updates),
    })
  },
  async update(context, updates) {
    const renamed = updates.filter(({ live, set }) => 'name' in set && set.name !== live.key.at(-1))
    requireGrantableRoleNames(
      context,
      renamed.map(({ live, set }) => toRoleName(live.key.length > 1 ? live.key[1] : undefined, set.name)),
    )
    return writers.update(context, updates)
  },
}

/** Returns the name of a role with its client. Admin permissions are granted by roles of certain names. */
function toRoleName(client: string | undefined, name: Json | undefined): RoleName {
  return { client: client ?? null, name: String(name) }
}

/** Returns those roles that were created with their client, earlier in this transaction. One statement, or none. */
async function findCreatedWithClient(
  context: WriteContext,
  objects: readonly NewObject[],
): Promise<ReadonlyMap<NewObject, LiveObject>> {
  const protectionRoles = objects.filter(
    ({ parent, representation }) => parent && representation.name === UMA_PROTECTION,
  )
  if (!protectionRoles.length) return new Map()
  const toKey = ({ parent }: NewObject): Key => ['client', ...parent!.key, UMA_PROTECTION]
  const existing = await listObjects(context, 'role', { keys: protectionRoles.map(toKey) })
  const created = existing.filter(({ version }) => version === context.version)
  return new Map(
    protectionRoles.flatMap((role) => {
      const live = created.find(({ parent }) => parent?.id === role.parent!.id)
      return live ? [[role, live] as const] : []
    }),
  )
}

/**
 * Whether a user has a role, also through groups and composite roles; undefined if it does not exist. Keycloak: `name` is
 * `role` or `client.role`. Two statements.
 */
export async function hasEffectiveRole(context: Context, user: string, name: string): Promise<boolean | undefined> {
  const roles = await listObjects(context, 'role', { keys: parseRoleKeys(name) })
  if (!roles.length) return undefined
  const effective = await selectEffectiveRoles(context.tx, context.realm.number, { holders: { users: [user] } })
  return roles.some((role) => effective.some(({ id }) => id === role.id))
}
