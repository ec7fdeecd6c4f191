// Who makes a realm without all power administers it: their account in master gets the roles that do.
import { type AdminRole, adminRoles } from '../../kinds/admin-roles.ts'
import { adminClientOf, MASTER } from '../../kinds/built-in/index.ts'
import type { WriteContext } from '../context/context.ts'
import type { Power } from '../context/power.ts'
import { listObjects } from '../objects/live.ts'
import { users } from '../users/users.ts'

/** Keycloak: all that `<realm>-realm` has but `impersonation`. */
const granted = adminRoles.filter((role) => !['create-realm', 'impersonation', 'realm-admin'].includes(role))

/** What an actor may administer once they have made a realm. */
export function powerOfCreator(power: Power, realm: string): Power {
  if (power.all) return power
  return { all: false, realms: new Map([...power.realms, [realm, new Set<AdminRole>(granted)]]) }
}

/** Gives the roles of a new realm's client in master to the actor, unless they have all power. Statements: some, or none. */
export async function grantToCreator(master: WriteContext, realm: string): Promise<void> {
  const { actor, power } = master
  if (power.all || actor.realm !== MASTER || actor.userId === undefined) return
  const creator = await listObjects(master, 'user', { ids: [actor.userId] })
  const add = granted.map((role) => ['client', adminClientOf(realm), role])
  await users.update(
    { ...master, power: powerOfCreator(power, realm) },
    creator.map((live) => ({ live, set: {}, relations: { clientRoles: { add } } })),
  )
}
