// Types of identity providers and of their mappers, recorded from Keycloak.
import recordedMappers from './built-in/identity-provider-mapper-types.json' with { type: 'json' }
import recorded from './built-in/identity-provider-types.json' with { type: 'json' }
import type { ConfigProperty } from './config-property.ts'
import type { Json, Representation } from './json.ts'

/** A type of identity provider. */
export interface IdentityProviderType {
  readonly name: string
  /** The group of settings that are checked. */
  readonly settings: 'oauth' | 'oauth2' | 'oidc' | 'google' | 'saml' | 'kubernetes' | 'jwtGrant'
  /** Keycloak: its types, such as USER_AUTHENTICATION. */
  readonly types: readonly string[]
  /** A social network. Keycloak: does not return the types of these. */
  readonly social?: boolean
  /** Whether users can be linked to it. Default: true. */
  readonly linksUsers?: boolean
  /** The values that creation sets besides those of every identity provider. */
  readonly defaults?: Representation
  /** The supported types of mappers. */
  readonly mapperTypes: readonly string[]
  /** The settings of only this type. */
  readonly properties?: readonly ConfigProperty[]
}

/** A type of identity provider mapper. */
export interface IdentityProviderMapperType {
  readonly name: string
  readonly category: string
  readonly helpText: string
  readonly properties: readonly ConfigProperty[]
}

/** The types of identity providers by id. */
export const identityProviderTypes: Readonly<Record<string, IdentityProviderType>> = Object.assign(
  Object.create(null),
  recorded,
)

/** The types of identity provider mappers by id. */
export const identityProviderMapperTypes: Readonly<Record<string, IdentityProviderMapperType>> = Object.assign(
  Object.create(null),
  recordedMappers,
)

/** Returns the types of providers with this id, as they are shown. Keycloak: none of a social network. */
export function listTypesOfProvider(providerId: Json | undefined): string[] {
  const type = identityProviderTypes[String(providerId)]
  return type && !type.social ? [...type.types] : []
}
