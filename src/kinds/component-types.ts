// Types of components, recorded from Keycloak.
import recorded from './built-in/component-types.json' with { type: 'json' }
import type { ConfigProperty } from './config-property.ts'
import type { Json } from './json.ts'

/** A type of component. */
export interface ComponentType {
  readonly helpText?: string
  readonly metadata?: Readonly<Record<string, Json>>
  /** The visible settings. Keycloak: accepts and stores others, but does not return them. */
  readonly properties: readonly ConfigProperty[]
  /** The generated settings that are secrets. */
  readonly hiddenSecrets?: readonly string[]
  /** The settings that creation adds. */
  readonly defaults?: Readonly<Record<string, readonly string[]>>
  /** The checks of settings, in Keycloak's order. */
  readonly checks?: readonly PropertyCheck[]
}

/** A check of a component's setting. */
export interface PropertyCheck {
  readonly property: string
  /** The name of the setting in messages. */
  readonly label: string
  readonly required?: boolean
  readonly valueType?: 'number' | 'flag'
  readonly allowedValues?: readonly string[]
}

/** Keycloak: the Java name of user federation providers. */
export const USER_STORAGE = 'org.keycloak.storage.UserStorageProvider'
/** Keycloak: the Java name of client registration policies. */
export const CLIENT_REGISTRATION_POLICY = 'org.keycloak.services.clientregistration.policy.ClientRegistrationPolicy'
/** Keycloak: the Java name of LDAP mappers. */
export const LDAP_MAPPER = 'org.keycloak.storage.ldap.mappers.LDAPStorageMapper'
/** Keycloak: the Java name of user profile providers. */
export const USER_PROFILE = 'org.keycloak.userprofile.UserProfileProvider'

type ComponentTypes = Readonly<Record<string, ComponentType>>

/** The types of components by the Java name of the provider type, and by the id of the provider. */
export const componentTypes: Readonly<Record<string, ComponentTypes>> = Object.assign(Object.create(null), recorded)

/** Returns the types of components of a provider type, by id of the provider; undefined if it is unknown. */
export function findComponentTypes(providerType: string): ComponentTypes | undefined {
  return Object.hasOwn(componentTypes, providerType) ? componentTypes[providerType] : undefined
}

/** Returns the type of a component; undefined if it is not supported. */
export function findComponentType(providerType: string, providerId: string): ComponentType | undefined {
  const types = findComponentTypes(providerType)
  return types && Object.hasOwn(types, providerId) ? types[providerId] : undefined
}

/** Returns the provider types that have a provider with this id. */
export function listProviderTypes(providerId: string): string[] {
  return Object.keys(componentTypes).filter((providerType) => findComponentType(providerType, providerId))
}

/** Returns the type of the subcomponents that a component of the provider has; undefined if it has none. */
export function findSubType(providerType: string, providerId: string): string | undefined {
  return providerType === USER_STORAGE && providerId === 'ldap' ? LDAP_MAPPER : undefined
}

/** The settings that are secrets, of all types. */
export const secretComponentSettings: readonly string[] = [
  ...new Set(
    Object.values(componentTypes)
      .flatMap((providers) => Object.values(providers))
      .flatMap(({ properties, hiddenSecrets = [] }) => [
        ...properties.filter(({ secret }) => secret).map(({ name }) => name),
        ...hiddenSecrets,
      ]),
  ),
]

/** The settings of user federation providers that decide which server authenticates users, and as which of its users. */
export const userFederationSettings: readonly string[] = [
  'bindCredential',
  'bindDn',
  'connectionUrl',
  'kerberosRealm',
  'keyTab',
  'serverPrincipal',
  'usernameLDAPAttribute',
  'usersDn',
  'uuidLDAPAttribute',
]

/** Keycloak: the provider that reads a key from a key store, a file of the server. */
export const JAVA_KEYSTORE = 'java-keystore'
