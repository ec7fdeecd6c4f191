// The client that decides what administrators may do with single objects comes with a switch of the realm.
import {
  ADMIN_PERMISSIONS,
  adminPermissionsClient,
  isAdminPermissions,
  permissionScopes,
  permissionTypes,
} from '../../kinds/admin-permissions.ts'
import { authorizationPolicies, authorizationResources, authorizationScopes } from '../authorization/authorization.ts'
import type { WriteContext } from '../context/context.ts'
import { failure } from '../context/errors.ts'
import type { Writers } from '../objects/writers.ts'
import { clients } from './clients.ts'

/**
 * Creates the client with all that there are permissions on, or what it lacks of that. Statements: some, whatever it has.
 *
 * @throws conflict where a client of that name decides nothing.
 */
export async function addAdminPermissions(context: WriteContext): Promise<void> {
  const [existing] = await clients.list(context, { keys: [[ADMIN_PERMISSIONS]] })
  if (existing && !isAdminPermissions(existing.representation))
    throw failure('conflict', `Client ${ADMIN_PERMISSIONS} already exists`)
  const client = existing ?? (await clients.create(context, [{ representation: adminPermissionsClient }]))[0]!
  const parent = { kind: 'client', id: client.id, key: client.key } as const
  const scopes = await lackingIn(context, authorizationScopes, permissionScopes)
  if (scopes.length)
    await authorizationScopes.create(
      context,
      scopes.map((name) => ({ parent, representation: { name } })),
    )
  const types = await lackingIn(context, authorizationResources, Object.keys(permissionTypes))
  if (types.length)
    await authorizationResources.create(
      context,
      types.map((name) => ({
        parent,
        representation: { name, type: name, scopes: [...permissionTypes[name]!.scopes] },
      })),
    )
}

/** Deletes the client unless it has policies: they count again when the switch is on. */
export async function removeAdminPermissions(context: WriteContext): Promise<void> {
  const found = await clients.list(context, { keys: [[ADMIN_PERMISSIONS]] })
  if (!found.length) return
  const parents = { kind: 'client', ids: found.map(({ id }) => id) } as const
  if ((await authorizationPolicies.list(context, { parents })).length) return
  await clients.delete(context, found)
}

/** The names of what the client lacks. One statement. */
async function lackingIn(context: WriteContext, { list }: Writers, names: readonly string[]): Promise<string[]> {
  const keys = names.map((name) => ['client', ADMIN_PERMISSIONS, name])
  const present = new Set((await list(context, { keys })).map(({ key }) => key.at(-1)))
  return names.filter((name) => !present.has(name))
}
