// Lists the providers of authentication steps and describes their settings, as REST does.
import {
  allStepProviders,
  authenticators,
  clientAuthenticators,
  formActions,
  formAuthenticators,
} from '../../../kinds/authentication-providers.ts'
import type { ConfigProperty } from '../../../kinds/config-property.ts'
import type { Context } from '../../context/context.ts'
import { failure } from '../../context/errors.ts'
import { type Permission, requirePermissions } from '../../permissions/require-permissions.ts'

const providersByGroup = { authenticators, clientAuthenticators, formActions, forms: formAuthenticators }

/** A provider in a list. */
export interface ListedProvider {
  readonly id: string
  readonly displayName: string
  readonly description: string
  readonly supportsSecret?: boolean
}

/** Returns the permission to list the providers of a group. */
export const getListPermission = (group: keyof typeof providersByGroup): Permission =>
  group === 'clientAuthenticators' ? 'list-client-authenticators' : 'view-realm'

/** Lists the providers of a group. */
export function listProviders(context: Context, group: keyof typeof providersByGroup): ListedProvider[] {
  requirePermissions(context, getListPermission(group))
  return [...providersByGroup[group]].map(([id, { displayName, description, supportsSecret }]) => ({
    id,
    displayName,
    description,
    ...(group === 'clientAuthenticators' && { supportsSecret }),
  }))
}

/** A description of the settings of a step's provider. */
export interface ConfigDescription {
  readonly name: string
  readonly providerId: string
  readonly helpText: string
  readonly properties: readonly ConfigProperty[]
}

/** Describes the settings of a provider. Throws not_found if there is no such provider, or if it is a form. */
export function describeProvider(context: Context, id: string): ConfigDescription {
  requirePermissions(context, 'view-realm')
  const provider = formAuthenticators.has(id) ? undefined : allStepProviders.get(id)
  if (!provider) throw failure('not_found', 'Could not find authenticator provider')
  const { displayName, description, config } = provider
  return { name: displayName, providerId: id, helpText: description, properties: config }
}

/** Returns the settings of each client authenticator in a client, by id of the authenticator. */
export function describePerClient(context: Context): Record<string, readonly ConfigProperty[]> {
  requirePermissions(context, getListPermission('clientAuthenticators'))
  return Object.fromEntries([...clientAuthenticators].map(([id, { perClient }]) => [id, perClient]))
}
