// The client that decides what administrators may do with single objects comes with a switch of the realm.
import { ADMIN_PERMISSIONS, permissionTypes } from '../kinds/admin-permissions.ts'
import { authorizationPolicies, authorizationResources, authorizationScopes } from './authorization.ts'
import { clients } from './clients.ts'
import type { WriteContext } from './context.ts'

/** Makes the client with all that there are permissions on, unless it is there. Statements: some, whatever it has. */
export async function addAdminPermissions(context: WriteContext): Promise<void> {
  const [there] = await clients.list(context, { keys: [[ADMIN_PERMISSIONS]] })
  if (there) return
  const representation = {
    clientId: ADMIN_PERMISSIONS,
    serviceAccountsEnabled: true,
    authorizationServicesEnabled: true,
    directAccessGrantsEnabled: false,
    fullScopeAllowed: false,
  }
  const [client] = await clients.create(context, [{ representation }])
  const parent = { kind: 'client', id: client!.id, key: client!.key } as const
  const types = Object.entries(permissionTypes)
  const names = [...new Set(types.flatMap(([, { scopes }]) => scopes))]
  await authorizationScopes.create(
    context,
    names.map((name) => ({ parent, representation: { name } })),
  )
  await authorizationResources.create(
    context,
    types.map(([name, { scopes }]) => ({ parent, representation: { name, type: name, scopes: [...scopes] } })),
  )
}

/** Deletes the client unless somebody has said what administrators may do: that counts again when the switch is on. */
export async function removeAdminPermissions(context: WriteContext): Promise<void> {
  const found = await clients.list(context, { keys: [[ADMIN_PERMISSIONS]] })
  if (!found.length) return
  const parents = { kind: 'client', ids: found.map(({ id }) => id) } as const
  if ((await authorizationPolicies.list(context, { parents })).length) return
  await clients.delete(context, found)
}
