// What REST tells of the providers that authentication is made of.
import {
  allStepProviders,
  authenticators,
  clientAuthenticators,
  formActions,
  forms,
} from '../../../kinds/authentication-providers.ts'
import type { Property } from '../../../kinds/property.ts'
import type { Context } from '../../context/context.ts'
import { failure } from '../../context/errors.ts'
import { demand, type Permission } from '../../permissions/administrators.ts'

const groups = { authenticators, clientAuthenticators, formActions, forms }

/** A provider in a list. */
export interface ListedProvider {
  readonly id: string
  readonly displayName: string
  readonly description: string
  readonly supportsSecret?: boolean
}

/** What the providers of a group are shown for. */
export const permissionOf = (group: keyof typeof groups): Permission =>
  group === 'clientAuthenticators' ? 'list-client-authenticators' : 'view-realm'

/** The providers of a group. */
export function listProviders(context: Context, group: keyof typeof groups): ListedProvider[] {
  demand(context, permissionOf(group))
  return [...groups[group]].map(([id, { displayName, description, supportsSecret }]) => ({
    id,
    displayName,
    description,
    ...(group === 'clientAuthenticators' && { supportsSecret }),
  }))
}

/** The settings that a provider has in the step that it is. */
export interface ConfigDescription {
  readonly name: string
  readonly providerId: string
  readonly helpText: string
  readonly properties: readonly Property[]
}

/** The settings of a provider. Throws not_found: forms have none, and say nothing of it. */
export function describeProvider(context: Context, id: string): ConfigDescription {
  demand(context, 'view-realm')
  const provider = forms.has(id) ? undefined : allStepProviders.get(id)
  if (!provider) throw failure('not_found', 'Could not find authenticator provider')
  const { displayName, description, config } = provider
  return { name: displayName, providerId: id, helpText: description, properties: config }
}

/** The settings that each client authenticator has in clients. */
export function describePerClient(context: Context): Record<string, readonly Property[]> {
  demand(context, permissionOf('clientAuthenticators'))
  return Object.fromEntries([...clientAuthenticators].map(([id, { perClient }]) => [id, perClient]))
}
