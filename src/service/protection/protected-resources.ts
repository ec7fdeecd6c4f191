// The resources of the protection API. User-Managed Access 2.0, Federated Authorization, section 3.2. Keycloak: ResourceService.
import { type Json, type Representation, readObject, readObjects } from '../../kinds/json.ts'
import { serverResources } from '../admin-api/authorization/authorization-resources.ts'
import type { Query } from '../admin-api/common/resource.ts'
import type { Context, WriteContext } from '../context/context.ts'
import { failure, ServiceError } from '../context/errors.ts'
import { awaitWrites } from '../context/send-write.ts'
import { allowsRemoteManagement, getPartyId, type ProtectionParty, requireProtectionRole } from './protection-party.ts'

/** Lists the resources that match a query: their ids, or with `deep` their representations. A user lists their own. */
export async function listResources(context: Context, party: ProtectionParty, query: Query): Promise<Json[]> {
  requireAccess(party)
  const owner = party.isServer ? query.owner : party.user.id
  const resources = await serverResources.list(context, party.server, { ...query, deep: true, owner })
  return query.deep === true ? resources : resources.map(({ _id }) => _id!)
}

/** Returns a resource. Keycloak: its scopes have no ids. */
export async function getResource(context: Context, party: ProtectionParty, id: string): Promise<Representation> {
  requireAccess(party)
  const { owner, scopes, ...resource } = await getOwnResource(context, party, id)
  const names = readObjects(scopes).map(({ name }) => ({ name: name! }))
  return toProtectedResource({
    ...resource,
    owner: { id: readObject(owner).id! },
    ...(names.length && { scopes: names }),
  })
}

/** Creates a resource of the caller. Throws conflict if the name is in use. */
export async function createResource(
  context: WriteContext,
  party: ProtectionParty,
  body: Representation,
): Promise<Representation> {
  requireAccess(party)
  // Keycloak: whatever owner the body declares.
  const declared = { ...toResource(body), owner: { id: getPartyId(party) } }
  try {
    const created = await awaitWrites(context, () => serverResources.create(context, party.server, declared))
    const { attributes: _, ...resource } = created
    return toProtectedResource(resource)
  } catch (error) {
    if (!(error instanceof ServiceError) || error.code !== 'conflict' || error.form) throw error
    throw failure('conflict', error.message, { form: { error: 'invalid_request' }, cause: error })
  }
}

/** Replaces a resource; the owner stays. */
export async function replaceResource(
  context: WriteContext,
  party: ProtectionParty,
  { id, body }: { readonly id: string; readonly body: Representation },
): Promise<void> {
  requireAccess(party)
  await getOwnResource(context, party, id)
  await serverResources.replace(context, party.server, { id, body: toResource(body) })
}

/** Deletes a resource, and the permissions on no other resource. */
export async function deleteResource(context: WriteContext, party: ProtectionParty, id: string): Promise<void> {
  requireAccess(party)
  await getOwnResource(context, party, id)
  await serverResources.delete(context, party.server, id)
}

function requireAccess(party: ProtectionParty): void {
  requireProtectionRole(party)
  if (!allowsRemoteManagement(party))
    throw failure('invalid', 'Remote management is disabled.', { form: { error: 'not_supported' } })
}

/** Returns a resource. Throws not_found, and forbidden for a user who is not the owner. */
async function getOwnResource(context: Context, party: ProtectionParty, id: string): Promise<Representation> {
  const resource = await serverResources.get(context, party.server, id)
  if (!party.isServer && readObject(resource.owner).id !== party.user.id)
    throw failure('forbidden', "You don't have permission to manage this resource", { form: { error: 'forbidden' } })
  return resource
}

/** User-Managed Access: the scopes have another name. */
const toResource = ({ resource_scopes: umaScopes = null, scopes = null, ...body }: Representation): Representation => ({
  ...body,
  scopes: umaScopes ?? scopes,
})

const toProtectedResource = (resource: Representation): Representation => ({
  ...resource,
  resource_scopes: resource.scopes ?? [],
})
