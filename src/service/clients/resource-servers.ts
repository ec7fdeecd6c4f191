// Authorization services of clients: what comes with them, and what goes.
import { isAdminPermissions } from '../../kinds/admin-permissions.ts'
import { newAuthorizationSettings } from '../../kinds/client.ts'
import { flatten } from '../../kinds/compare.ts'
import { kinds } from '../../kinds/index.ts'
import type { Representation } from '../../kinds/json.ts'
import type { Key } from '../../kinds/kind.ts'
import { authorizationPolicies, authorizationResources, authorizationScopes } from '../authorization/authorization.ts'
import type { WriteContext } from '../context/context.ts'
import { type LiveObject, listObjects, type SaidObject } from '../objects/live.ts'
import { createObjects } from '../objects/objects.ts'
import type { Brought, Update } from '../objects/writers.ts'
import { users } from '../users/users.ts'
import { accountsOf } from './service-accounts.ts'

/** Keycloak: the role with which a client may manage its resources; its own account has it. */
export const UMA_PROTECTION = 'uma_protection'

const given = flatten(kinds.client, { authorizationSettings: newAuthorizationSettings })

/** A change with all that turning authorization services on or off changes in the client itself. */
export function withAuthorization(update: Update): Update {
  const { live, set } = update
  if (!('authorizationServicesEnabled' in set)) return update
  const settings = Object.keys(given)
  if (set.authorizationServicesEnabled !== true) {
    return { ...update, set: { ...set, ...Object.fromEntries(settings.map((path) => [path, null])) } }
  }
  if (live.representation.authorizationServicesEnabled === true) return update
  return { ...update, set: { ...given, serviceAccountsEnabled: true, ...set } }
}

/** Gives clients the role that comes with authorization services, and their accounts too. Statements: some, or none. */
export async function addAuthorization(context: WriteContext, clients: readonly LiveObject[]): Promise<void> {
  if (!clients.length) return
  const keyOf = (clientId: string): Key => ['client', clientId, UMA_PROTECTION]
  const roles = await listObjects(context, 'role', { keys: clients.map(({ key }) => keyOf(key[0]!)) })
  const owners = new Set(roles.map(({ parent }) => parent!.id))
  const without = clients.filter(({ id }) => !owners.has(id))
  if (without.length) {
    await createObjects(
      context,
      'role',
      without.map(({ kind, id, key }) => ({ parent: { kind, id, key }, representation: { name: UMA_PROTECTION } })),
    )
  }
  const accounts = await accountsOf(context, clients)
  await users.update(
    context,
    accounts.map((live) => {
      const add = [keyOf(String(live.representation.serviceAccountClientId))]
      return { live, set: {}, relations: { clientRoles: { add } } }
    }),
  )
}

/** The role, as it comes with a client that decides permissions. */
export function roleBrought(client: SaidObject): Brought[] {
  if (!comesWithRole(client)) return []
  return [{ kind: 'role', under: [client.kind, ...client.key], representation: { name: UMA_PROTECTION } }]
}

/** Whether the client has the role from its creation on. */
export function comesWithRole({ representation }: Pick<SaidObject, 'representation'>): boolean {
  return representation.authorizationServicesEnabled === true && !isAdminPermissions(representation)
}

/** The roles that the account of a client has through its authorization services. */
export function accountRoles(client: SaidObject): Representation {
  return comesWithRole(client) ? { clientRoles: { [client.key[0]!]: [UMA_PROTECTION] } } : {}
}

/** Deletes what clients had for their authorization services. Keycloak: the role stays. */
export async function removeAuthorization(context: WriteContext, clients: readonly LiveObject[]): Promise<void> {
  if (!clients.length) return
  const parents = { kind: 'client', ids: clients.map(({ id }) => id) } as const
  for (const writers of [authorizationPolicies, authorizationResources, authorizationScopes]) {
    await writers.delete(context, await writers.list(context, { parents }))
  }
}
