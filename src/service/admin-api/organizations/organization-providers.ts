// The REST operations on the identity providers of organizations, which are providers of the realm.

import type { Representation } from '../../../kinds/json.ts'
import { selectOrganizationProviders } from '../../../store/organizations.ts'
import type { Context, WriteContext } from '../../context/context.ts'
import { failure } from '../../context/errors.ts'
import { writers } from '../../kinds/index.ts'
import type { LiveObject } from '../../objects/live-objects.ts'
import { requirePermissions } from '../../permissions/require-permissions.ts'
import { toProviderRepresentation } from '../identity-providers/identity-providers.ts'
import { getOrganization, requireOrganizationAccess } from './organizations.ts'

const NOT_FOUND = 'Identity provider not found with the given alias'

/** Lists the identity providers of an organization, by alias. */
export async function listProvidersOfOrganization(context: Context, id: string): Promise<Representation[]> {
  await requireAccess(context, 'view', id)
  await getOrganization(context, id)
  const ids = await selectOrganizationProviders(context.tx, context.realm.number, [id])
  const providers = ids.length ? await writers.identityProvider.list(context, { ids }) : []
  return providers.map((live) => toProviderRepresentation(context.vault, live))
}

/** Returns an identity provider of an organization. Throws not_found. */
export async function getProviderOfOrganization(context: Context, id: string, alias: string): Promise<Representation> {
  await requireAccess(context, 'view', id)
  await getOrganization(context, id)
  const live = await findProviderByAlias(context, alias)
  if (live?.references.organization !== id)
    throw failure('not_found', 'Identity provider not associated with the organization', { form: 'errorMessage' })
  return toProviderRepresentation(context.vault, live)
}

/** Assigns an identity provider to an organization. Throws conflict or invalid if it is assigned already. */
export async function addProvider(context: WriteContext, id: string, alias: string): Promise<void> {
  await requireAccess(context, 'manage', id)
  const organization = await getOrganization(context, id)
  const live = await findProviderByAlias(context, alias)
  if (!live) throw failure('invalid', NOT_FOUND)
  const owner = live.references.organization
  if (owner === id) throw failure('conflict', 'Identity provider already associated to the organization')
  if (owner !== undefined)
    throw failure('invalid', 'Identity provider already associated with a different organization')
  await writers.identityProvider.update(context, [{ live, set: { organization: organization.key[0]! } }])
}

/** Removes an identity provider from an organization. Throws not_found. */
export async function removeProvider(context: WriteContext, id: string, alias: string): Promise<void> {
  await requireAccess(context, 'manage', id)
  await getOrganization(context, id)
  const live = await findProviderByAlias(context, alias)
  if (live?.references.organization !== id) throw failure('not_found', NOT_FOUND, { form: 'errorMessage' })
  await writers.identityProvider.update(context, [{ live, set: { organization: null } }])
}

async function findProviderByAlias(context: Context, alias: string): Promise<LiveObject | undefined> {
  const [provider] = await writers.identityProvider.list(context, { keys: [[alias]] })
  return provider
}

async function requireAccess(context: Context, purpose: 'view' | 'manage', organization: string): Promise<void> {
  requirePermissions(context, `${purpose}-identity-providers`)
  await requireOrganizationAccess(context, purpose, organization)
}
