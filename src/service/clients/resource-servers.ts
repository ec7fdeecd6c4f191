// Authorization services: what is created and deleted when a client becomes a resource server or stops being one.
import { isAdminPermissions } from '../../kinds/admin-permissions.ts'
import { defaultAuthorizationSettings } from '../../kinds/client.ts'
import { flatten } from '../../kinds/compare.ts'
import { kinds } from '../../kinds/index.ts'
import type { Representation } from '../../kinds/json.ts'
import type { Key } from '../../kinds/kind.ts'
import { UMA_PROTECTION } from '../../kinds/role.ts'
import {
  authorizationPolicies,
  authorizationResources,
  authorizationScopes,
} from '../authorization/authorization-writers.ts'
import type { WriteContext } from '../context/context.ts'
import { type LiveObject, listObjects, type ObjectRepresentation } from '../objects/live-objects.ts'
import { createObjects } from '../objects/plain-writers.ts'
import type { CreatedObject, ObjectUpdate } from '../objects/writers.ts'
import { users } from '../users/users.ts'
import { listServiceAccounts } from './service-accounts.ts'

const defaults = flatten(kinds.client, { authorizationSettings: defaultAuthorizationSettings })

/** Returns an update with the fields of the client that follow from turning authorization services on or off. */
export function withAuthorizationSettings(update: ObjectUpdate): ObjectUpdate {
  const { live, set } = update
  if (!('authorizationServicesEnabled' in set)) return update
  if (set.authorizationServicesEnabled !== true) {
    return { ...update, set: { ...set, ...Object.fromEntries(Object.keys(defaults).map((path) => [path, null])) } }
  }
  if (live.representation.authorizationServicesEnabled === true) return update
  return { ...update, set: { ...defaults, serviceAccountsEnabled: true, ...set } }
}

/**
 * Creates the protection role of clients that lack it, and grants it to their service accounts. Keycloak: a client that only holds admin
 * permissions is bearer-only and does not have the role.
 */
export async function enableAuthorization(context: WriteContext, enabled: readonly LiveObject[]): Promise<void> {
  const clients = enabled.filter(({ representation }) => representation.bearerOnly !== true)
  if (!clients.length) return
  const keyOf = (clientId: string): Key => ['client', clientId, UMA_PROTECTION]
  const roles = await listObjects(context, 'role', { keys: clients.map(({ key }) => keyOf(key[0]!)) })
  const owners = new Set(roles.map(({ parent }) => parent!.id))
  const lacking = clients.filter(({ id }) => !owners.has(id))
  if (lacking.length) {
    await createObjects(
      context,
      'role',
      lacking.map(({ kind, id, key }) => ({ parent: { kind, id, key }, representation: { name: UMA_PROTECTION } })),
    )
  }
  const accounts = await listServiceAccounts(context, clients)
  await users.update(
    context,
    accounts.map((live) => {
      const add = [keyOf(String(live.representation.serviceAccountClientId))]
      return { live, set: {}, relations: { clientRoles: { add } } }
    }),
  )
}

/** Lists the roles that are created with a client: the protection role, or none. */
export function listRolesCreatedWith(client: ObjectRepresentation): CreatedObject[] {
  if (!hasProtectionRole(client)) return []
  return [{ kind: 'role', parentKey: [client.kind, ...client.key], representation: { name: UMA_PROTECTION } }]
}

/** Whether a client is created with the protection role. */
export function hasProtectionRole({ representation }: Pick<ObjectRepresentation, 'representation'>): boolean {
  return representation.authorizationServicesEnabled === true && !isAdminPermissions(representation)
}

/** Returns the role mappings, as fields of a user, of a service account that is created with a client. */
export function getServiceAccountRoles(client: ObjectRepresentation): Representation {
  return hasProtectionRole(client) ? { clientRoles: { [client.key[0]!]: [UMA_PROTECTION] } } : {}
}

/** Deletes the policies, resources and scopes of clients. Keycloak: the protection role is retained. */
export async function disableAuthorization(context: WriteContext, clients: readonly LiveObject[]): Promise<void> {
  if (!clients.length) return
  const parents = { kind: 'client', ids: clients.map(({ id }) => id) } as const
  for (const writers of [authorizationPolicies, authorizationResources, authorizationScopes]) {
    await writers.delete(context, await writers.list(context, { parents }))
  }
}
