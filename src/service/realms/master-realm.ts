// The master realm, in which every other realm has an admin client.
import { type AdminRole, adminRoles } from '../../kinds/admin-roles.ts'
import { getAdminClientId, MASTER } from '../../kinds/built-in/index.ts'
import { findLockedRealm, lockRealms } from '../../store/realms.ts'
import type { AdminPermissions } from '../context/admin-permissions.ts'
import type { Context, WriteContext } from '../context/context.ts'
import { flushJournal, toWriteContext } from '../journal/journal.ts'
import { listObjects } from '../objects/live-objects.ts'
import { users } from '../users/users.ts'

/** Locks the master realm, and runs work in it. Who holds the lock of another realm must have locked master before: it has the lowest number. */
export async function runInMaster(context: Context, work: (master: WriteContext) => Promise<void>): Promise<void> {
  const locked = await findLockedRealm(context.tx, { name: MASTER, lock: (tx) => lockRealms(tx, [MASTER]) })
  if (!locked?.realm) return
  const { realm, lastChangeAt } = locked
  const master = toWriteContext({ ...context, realm }, { lastChangeAt })
  await work(master)
  await flushJournal(master)
}

/** Keycloak: the creator of a realm gets all roles of its admin client except `impersonation`. */
const creatorRoles = adminRoles.filter((role) => !['create-realm', 'impersonation', 'realm-admin'].includes(role))

/** Returns the admin permissions of an actor after they have created a realm. */
export function addCreatorPermissions(permissions: AdminPermissions, realm: string): AdminPermissions {
  if (permissions.all) return permissions
  return { all: false, realms: new Map([...permissions.realms, [realm, new Set<AdminRole>(creatorRoles)]]) }
}

/** Grants the roles of a new realm's admin client to the user who created the realm, unless they administer all realms. */
export async function grantCreatorRoles(master: WriteContext, realm: string): Promise<void> {
  const { actor, permissions } = master
  if (permissions.all || actor.realm !== MASTER || actor.userId === undefined) return
  const creator = await listObjects(master, 'user', { ids: [actor.userId] })
  const add = creatorRoles.map((role) => ['client', getAdminClientId(realm), role])
  await users.update(
    { ...master, permissions: addCreatorPermissions(permissions, realm) },
    creator.map((live) => ({ live, set: {}, relations: { clientRoles: { add } } })),
  )
}
