// Accounts of users at identity providers.
import type { Representation } from '../../../kinds/json.ts'
import type { Context, WriteContext } from '../../context/context.ts'
import { failure } from '../../context/errors.ts'
import { describeAdminEvent } from '../../journal/admin-events.ts'
import { writers } from '../../kinds/index.ts'
import type { LiveObject } from '../../objects/live-objects.ts'
import { requirePermissions } from '../../permissions/require-permissions.ts'
import { findWholeUser } from './users.ts'

/** The accounts of a user. */
export async function listIdentities(context: Context, user: string): Promise<Representation[]> {
  const live = await findWholeUser(context, user)
  requirePermissions(context, 'view-users')
  return identitiesOf(live)
}

/** Notes an account of a user at the provider. Keycloak: a provider that the realm does not have is let pass. */
export async function addIdentity(
  context: WriteContext,
  user: string,
  provider: string,
  stated: Representation,
): Promise<void> {
  const { userId = null, userName = null } = stated
  const live = await findWholeUser(context, user)
  requirePermissions(context, 'manage-users')
  const identities = identitiesOf(live)
  if (identities.some(isAt(provider))) throw failure('conflict', 'User is already linked with provider')
  if (userId === null) throw failure('invalid', 'An account at an identity provider needs a userId')
  describeAdminEvent(context, { representation: stated })
  if (!(await hasProvider(context, provider))) return
  const added = { identityProvider: provider, userId, ...(userName !== null && { userName }) }
  await writers.user.update(context, [{ live, set: { federatedIdentities: [...identities, added] } }])
}

/** Forgets the account of a user at the provider. Throws not_found where there is none at a provider of the realm. */
export async function removeIdentity(context: WriteContext, user: string, provider: string): Promise<void> {
  const live = await findWholeUser(context, user)
  requirePermissions(context, 'manage-users')
  const identities = identitiesOf(live)
  if (!identities.some(isAt(provider))) {
    if (await hasProvider(context, provider)) throw failure('not_found', 'Link not found')
    return
  }
  const left = identities.filter((one) => !isAt(provider)(one))
  await writers.user.update(context, [{ live, set: { federatedIdentities: left } }])
}

function identitiesOf({ representation }: LiveObject): Representation[] {
  return (representation.federatedIdentities ?? []) as Representation[]
}

function isAt(provider: string): (identity: Representation) => boolean {
  return ({ identityProvider }) => identityProvider === provider
}

async function hasProvider(context: Context, alias: string): Promise<boolean> {
  return (await writers.identityProvider.list(context, { keys: [[alias]] })).length > 0
}
