// The REST operations on the federated identities of a user: its accounts at identity providers.

import { omitUndefined, type Representation, readObjects } from '../../../kinds/json.ts'
import { requireObjectPermission } from '../../authorization/object-permissions.ts'
import type { Context, WriteContext } from '../../context/context.ts'
import { failure } from '../../context/errors.ts'
import { describeAdminEvent } from '../../journal/admin-events.ts'
import { writers } from '../../kinds/index.ts'
import type { LiveObject } from '../../objects/live-objects.ts'
import { omitNulls } from '../../objects/put-body.ts'
import { getCompleteUser } from './users.ts'

/** Lists the federated identities of a user. */
export async function listIdentities(context: Context, user: string): Promise<readonly Representation[]> {
  const live = await getCompleteUser(context, user)
  await requireObjectPermission(context, { type: 'Users', scope: 'view', objects: [live] })
  return readIdentities(live)
}

/** Links a user with an account at a provider. Keycloak: a provider that the realm does not have is ignored. */
export async function addIdentity(
  context: WriteContext,
  { user, provider }: { readonly user: string; readonly provider: string },
  body: Representation,
): Promise<void> {
  const live = await getCompleteUser(context, user)
  await requireObjectPermission(context, { type: 'Users', scope: 'manage', objects: [live] })
  const identities = readIdentities(live)
  if (identities.some(isOfProvider(provider))) throw failure('conflict', 'User is already linked with provider')
  describeAdminEvent(context, { representation: body })
  if (!(await hasProvider(context, provider))) return
  const { userId, userName } = omitNulls(body)
  const identity = omitUndefined({ identityProvider: provider, userId, userName })
  await writers.user.update(context, [{ live, set: { federatedIdentities: [...identities, identity] } }])
}

/** Removes the link of a user with an account at a provider. Throws not_found if the realm has the provider, but there is no link. */
export async function removeIdentity(context: WriteContext, user: string, provider: string): Promise<void> {
  const live = await getCompleteUser(context, user)
  await requireObjectPermission(context, { type: 'Users', scope: 'manage', objects: [live] })
  const identities = readIdentities(live)
  if (!identities.some(isOfProvider(provider))) {
    if (await hasProvider(context, provider)) throw failure('not_found', 'Link not found')
    return
  }
  const remaining = identities.filter((identity) => !isOfProvider(provider)(identity))
  await writers.user.update(context, [{ live, set: { federatedIdentities: remaining } }])
}

function readIdentities({ representation }: LiveObject): readonly Representation[] {
  return readObjects(representation.federatedIdentities)
}

function isOfProvider(alias: string): (identity: Representation) => boolean {
  return ({ identityProvider }) => identityProvider === alias
}

async function hasProvider(context: Context, alias: string): Promise<boolean> {
  return (await writers.identityProvider.list(context, { keys: [[alias]] })).length > 0
}
