// Types of identity providers and of their mappers: recorded facts.
import recordedMappers from './built-in/identity-provider-mapper-types.json' with { type: 'json' }
import recorded from './built-in/identity-provider-types.json' with { type: 'json' }
import type { ConfigProperty } from './config-property.ts'
import type { Representation } from './json.ts'

/** What is known of a type of identity provider. */
export interface IdentityProviderType {
  readonly name: string
  /** Which settings it has, as far as they are checked. */
  readonly settings: 'oauth' | 'oauth2' | 'oidc' | 'google' | 'saml' | 'kubernetes' | 'jwtGrant'
  /** What it can do for a realm. */
  readonly types: readonly string[]
  /** A social network. Keycloak: these do not show what they can do. */
  readonly social?: boolean
  /** Absent: people can be linked to it. */
  readonly linksPeople?: boolean
  /** What creation gives besides what every provider gets. */
  readonly defaults?: Representation
  /** The types of mappers that it takes. */
  readonly mapperTypes: readonly string[]
  /** Settings that are its own. */
  readonly properties?: readonly ConfigProperty[]
}

/** What is known of a type of mapper. */
export interface IdentityProviderMapperType {
  readonly name: string
  readonly category: string
  readonly helpText: string
  readonly properties: readonly ConfigProperty[]
}

/** The types of identity providers by provider id. */
export const identityProviderTypes: Readonly<Record<string, IdentityProviderType>> = Object.assign(
  Object.create(null),
  recorded,
)

/** The types of mappers by id. */
export const identityProviderMapperTypes: Readonly<Record<string, IdentityProviderMapperType>> = Object.assign(
  Object.create(null),
  recordedMappers,
)
