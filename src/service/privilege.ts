// Nobody gives administrative power that they do not have: roles that somebody would give are looked through for it.
import { type RoleHolders, selectContainedRoles, selectEffectiveRoles } from '../store/effective-roles.ts'
import { wholePower } from './administrators.ts'
import type { Context } from './context.ts'
import { failure } from './errors.ts'
import { covers, powerFrom } from './power.ts'

/** The ids of those roles that the caller may give and take: what administers in them is in their own power. One statement, or none. */
export async function conferrable(context: Context, roles: readonly string[]): Promise<Set<string>> {
  const { tx, realm, power } = context
  if (power.all || !roles.length) return new Set(roles)
  const contained = Map.groupBy(
    await selectContainedRoles(tx, realm.number, roles, wholePower(realm.name)),
    ({ root }) => root,
  )
  return new Set(roles.filter((id) => covers(power, powerFrom(realm.name, contained.get(id) ?? []))))
}

/** Throws forbidden unless the caller may give and take all of the roles. */
export async function demandConferrable(context: Context, roles: readonly string[]): Promise<void> {
  if ((await conferrable(context, roles)).size < new Set(roles).size) throw failure('forbidden', 'HTTP 403 Forbidden')
}

/**
 * Throws forbidden unless the caller may give all the roles that these have in effect: who gets into a group, or takes the place of a user,
 * has them too. Two statements, or none.
 */
export async function demandNoStronger(context: Context, holders: RoleHolders): Promise<void> {
  const { tx, realm, power } = context
  if (power.all) return
  await demandConferrable(context, await selectEffectiveRoles(tx, realm.number, holders, wholePower(realm.name)))
}
