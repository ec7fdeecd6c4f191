// Roles: the one that comes with authorization services may be stated beside them.
import type { Json } from '../../kinds/json.ts'
import type { Key } from '../../kinds/kind.ts'
import { selectEffectiveRoles } from '../../store/users/effective-roles.ts'
import { UMA_PROTECTION } from '../clients/resource-servers.ts'
import type { Context, WriteContext } from '../context/context.ts'
import type { NamedRole } from '../context/power.ts'
import { createOrUpdate } from '../objects/already-there.ts'
import { type LiveObject, listObjects } from '../objects/live.ts'
import { plain } from '../objects/objects.ts'
import type { NewObject, Writers } from '../objects/writers.ts'
import { demandTitles, roleKeysOf } from '../permissions/privilege.ts'

const writers = plain('role')

/** The writers of roles. */
export const roles: Writers = {
  ...writers,
  async create(context, objects) {
    demandTitles(
      context,
      objects.map(({ parent, representation }) => titleOf(parent?.key[0], representation.name)),
    )
    return createOrUpdate(
      objects,
      await madeBefore(context, objects),
      (fresh) => writers.create(context, fresh),
      (updates) => writers.update(context, updates),
    )
  },
  async update(context, updates) {
    const renamed = updates.filter(({ live, set }) => 'name' in set && set.name !== live.key.at(-1))
    demandTitles(
      context,
      renamed.map(({ live, set }) => titleOf(live.key.length > 1 ? live.key[1] : undefined, set.name)),
    )
    return writers.update(context, updates)
  },
}

/** What a role is known by: whoever has it administers as its name says. */
function titleOf(client: string | undefined, name: Json | undefined): NamedRole {
  return { client: client ?? null, name: String(name) }
}

/** The roles that their clients got earlier in this transaction. One statement, or none. */
async function madeBefore(
  context: WriteContext,
  objects: readonly NewObject[],
): Promise<ReadonlyMap<NewObject, LiveObject>> {
  const stated = objects.filter(({ parent, representation }) => parent && representation.name === UMA_PROTECTION)
  if (!stated.length) return new Map()
  const keyOf = ({ parent }: NewObject): Key => ['client', ...parent!.key, UMA_PROTECTION]
  const found = await listObjects(context, 'role', { keys: stated.map(keyOf) })
  const fresh = found.filter(({ version }) => version === context.version)
  return new Map(
    stated.flatMap((one) => {
      const live = fresh.find(({ parent }) => parent?.id === one.parent!.id)
      return live ? [[one, live] as const] : []
    }),
  )
}

/** Whether a user holds the role in effect; undefined: there is no such role. Keycloak: `role`, or `client.role`. Two statements. */
export async function holdsRole(context: Context, user: string, named: string): Promise<boolean | undefined> {
  const roles = await listObjects(context, 'role', { keys: roleKeysOf(named) })
  if (!roles.length) return undefined
  const held = await selectEffectiveRoles(context.tx, context.realm.number, { holders: { users: [user] } })
  return roles.some(({ id }) => held.some((one) => one.id === id))
}
