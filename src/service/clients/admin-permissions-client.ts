// The client `admin-permissions`, which holds the fine-grained admin permissions of a realm (Keycloak: FGAP). It is
// created and deleted by the realm's switch `adminPermissionsEnabled`.
import {
  ADMIN_PERMISSIONS,
  adminPermissionsClient,
  isAdminPermissions,
  permissionScopes,
  permissionTypeNames,
  permissionTypes,
} from '../../kinds/admin-permissions.ts'
import {
  authorizationPolicies,
  authorizationResources,
  authorizationScopes,
} from '../authorization/authorization-writers.ts'
import { ALL_PERMISSIONS } from '../context/admin-permissions.ts'
import type { WriteContext } from '../context/context.ts'
import { failure } from '../context/errors.ts'
import type { Writers } from '../objects/writers.ts'
import { clients } from './clients.ts'

/**
 * Creates the client `admin-permissions` with its scopes and resource types, or those of them that are missing. The number of statements is constant.
 *
 * @throws conflict where another client has this client ID.
 */
export async function addAdminPermissionsClient(callerContext: WriteContext): Promise<void> {
  // Resources and scopes without policies give nothing.
  const context = { ...callerContext, permissions: ALL_PERMISSIONS }
  const [existing] = await clients.list(context, { keys: [[ADMIN_PERMISSIONS]] })
  if (existing && !isAdminPermissions(existing.representation))
    throw failure('conflict', `Client ${ADMIN_PERMISSIONS} already exists`)
  const client = existing ?? (await clients.create(context, [{ representation: adminPermissionsClient }]))[0]!
  const parent = { kind: 'client', id: client.id, key: client.key } as const
  const scopes = await listMissing(context, authorizationScopes, permissionScopes)
  if (scopes.length)
    await authorizationScopes.create(
      context,
      scopes.map((name) => ({ parent, representation: { name } })),
    )
  const types = await listMissing(context, authorizationResources, permissionTypeNames)
  if (types.length)
    await authorizationResources.create(
      context,
      types.map((name) => ({
        parent,
        representation: { name, type: name, scopes: [...permissionTypes[name].scopes] },
      })),
    )
}

/** Deletes the client `admin-permissions`, unless it has policies: these apply again once `adminPermissionsEnabled` is set. */
export async function removeAdminPermissionsClient(context: WriteContext): Promise<void> {
  const existing = await clients.list(context, { keys: [[ADMIN_PERMISSIONS]] })
  if (!existing.length) return
  const parents = { kind: 'client', ids: existing.map(({ id }) => id) } as const
  if ((await authorizationPolicies.list(context, { parents })).length) return
  await clients.delete(context, existing)
}

/** Returns those of the names that no object of the client has. One statement. */
async function listMissing<Name extends string>(
  context: WriteContext,
  { list }: Writers,
  names: readonly Name[],
): Promise<Name[]> {
  const keys = names.map((name) => ['client', ADMIN_PERMISSIONS, name])
  const present = new Set((await list(context, { keys })).map(({ key }) => key.at(-1)))
  return names.filter((name) => !present.has(name))
}
