// The REST operations on fine-grained admin permissions of version 1. Keycloak: ManagementPermissionReference.
import type { Representation } from '../../../kinds/json.ts'
import { getManagementClientId } from '../../../kinds/management-permissions.ts'
import {
  disableManagementPermissions,
  enableManagementPermissions,
  findManagementPermissions,
  type ManagedTarget,
} from '../../authorization/management-permissions.ts'
import { ALL_PERMISSIONS } from '../../context/admin-permissions.ts'
import type { Context, WriteContext } from '../../context/context.ts'
import { failure } from '../../context/errors.ts'
import { writers } from '../../kinds/index.ts'
import { requirePermissions } from '../../permissions/require-permissions.ts'
import { getClient, refuseAdminClient } from '../common/client-lookup.ts'
import { getProvider } from '../identity-providers/identity-providers.ts'
import { getLiveGroup } from '../users/groups.ts'

type Purpose = 'view' | 'manage'

/** Returns all users of the realm as an object. Throws forbidden unless the caller may view or manage the realm. */
export async function getManagedUsers(context: Context, purpose: Purpose): Promise<ManagedTarget> {
  requirePermissions(context, `${purpose}-realm`)
  return { type: 'users', id: context.realm.id }
}

/** Returns a group. Throws not_found, and forbidden unless the caller may view or manage it. */
export async function getManagedGroup(context: Context, id: string, purpose: Purpose): Promise<ManagedTarget> {
  await getLiveGroup(context, id)
  requirePermissions(context, `${purpose}-users`)
  return { type: 'group', id }
}

/** Returns a client. Throws not_found, and forbidden unless the caller may view or manage it. */
export async function getManagedClient(context: Context, id: string, purpose: Purpose): Promise<ManagedTarget> {
  const live = await getClient(context, id)
  requirePermissions(context, `${purpose}-clients`)
  if (purpose === 'manage') refuseAdminClient(context, live)
  return { type: 'client', id }
}

/** Returns an identity provider. Throws not_found, and forbidden unless the caller may view or manage it. */
export async function getManagedIdentityProvider(
  context: Context,
  alias: string,
  purpose: Purpose,
): Promise<ManagedTarget> {
  requirePermissions(context, `${purpose}-identity-providers`)
  return { type: 'identityProvider', id: (await getProvider(context, alias)).id }
}

/** Whether the realm has the permissions of version 2, instead of these. One statement. */
export async function hasAdminPermissions(context: Context): Promise<boolean> {
  const [realm] = await writers.realm.list(context, {})
  return realm?.representation.adminPermissionsEnabled === true
}

/** Returns whether the permissions on an object are enabled; if so, the id of its resource and those of the permissions, by scope. */
export async function getManagementPermissions(context: Context, object: ManagedTarget): Promise<Representation> {
  const existing = await findManagementPermissions(context, object)
  if (!existing) return { enabled: false }
  const scopePermissions = Object.fromEntries([...existing.permissions].map(([scope, { id }]) => [scope, id]))
  return { enabled: true, resource: existing.resource.id, scopePermissions }
}

/** Enables or disables the permissions on an object, and returns them. */
export async function updateManagementPermissions(
  context: WriteContext,
  object: ManagedTarget,
  enabled: boolean,
): Promise<Representation> {
  if (enabled) await enablePermissions(context, object)
  else await disableManagementPermissions(context, object)
  return getManagementPermissions(context, object)
}

/** Keycloak: the client with the admin roles gets neither a service account nor the protection role. */
async function enablePermissions(context: WriteContext, object: ManagedTarget): Promise<void> {
  const clientId = getManagementClientId(context.realm.name)
  const [live] = await writers.client.list(context, { keys: [[clientId]] })
  if (!live) throw failure('invalid', `The realm has no client ${clientId}, which holds these permissions`)
  if (live.representation.authorizationServicesEnabled !== true) {
    const set = {
      authorizationServicesEnabled: true,
      serviceAccountsEnabled: false,
      'authorizationSettings.allowRemoteResourceManagement': false,
    }
    // Authorization services without policies give nothing.
    await writers.client.update({ ...context, permissions: ALL_PERMISSIONS }, [{ live, set }])
  }
  await enableManagementPermissions(context, live, object)
}
