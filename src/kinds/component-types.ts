// Types of components: recorded facts.
import recorded from './built-in/component-types.json' with { type: 'json' }
import type { ConfigProperty } from './config-property.ts'
import type { Json } from './json.ts'

/** What is known of a provider of components. */
export interface ComponentType {
  readonly helpText?: string
  readonly metadata?: Readonly<Record<string, Json>>
  /** The settings that show. Keycloak: others are kept, and neither shown nor refused. */
  readonly properties: readonly ConfigProperty[]
  /** Settings that the provider makes for itself and nobody is shown, less those that are no secret. */
  readonly hiddenSecrets?: readonly string[]
  /** Settings that creation gives where they are not stated. */
  readonly defaults?: Readonly<Record<string, readonly string[]>>
  /** What is checked, in the order in which the reference server looks. */
  readonly checks?: readonly PropertyCheck[]
}

/** What a setting must fulfil. */
export interface PropertyCheck {
  readonly property: string
  /** What messages call it. */
  readonly label: string
  readonly required?: boolean
  readonly a?: 'number' | 'flag'
  readonly among?: readonly string[]
}

/** Java names of the types of providers that operations know. */
export const USER_STORAGE = 'org.keycloak.storage.UserStorageProvider'
export const LDAP_MAPPER = 'org.keycloak.storage.ldap.mappers.LDAPStorageMapper'
export const USER_PROFILE = 'org.keycloak.userprofile.UserProfileProvider'

/** Providers by id, by the Java name of their type. */
export const componentTypes = recorded as unknown as Readonly<Record<string, Readonly<Record<string, ComponentType>>>>

/** The providers of a type, by id; undefined when nothing is known of the type. */
export function findComponentTypes(providerType: string): Readonly<Record<string, ComponentType>> | undefined {
  return Object.hasOwn(componentTypes, providerType) ? componentTypes[providerType] : undefined
}

/** What is known of a provider; undefined for one that Regent does not have. */
export function findComponentType(providerType: string, providerId: string): ComponentType | undefined {
  const known = findComponentTypes(providerType)
  return known && Object.hasOwn(known, providerId) ? known[providerId] : undefined
}

/** The settings that are secrets, of whatever provider. */
export const secretSettings: readonly string[] = [
  ...new Set(
    Object.values(componentTypes)
      .flatMap((providers) => Object.values(providers))
      .flatMap(({ properties, hiddenSecrets = [] }) => [
        ...properties.filter(({ secret }) => secret).map(({ name }) => name),
        ...hiddenSecrets,
      ]),
  ),
]

/** The settings that say which server vouches for people, and which of its people they are. */
export const userStoreSettings: readonly string[] = [
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

/** Keycloak: reads keys from files in a format of Java. */
export const JAVA_KEYSTORE = 'java-keystore'

/** The ids of the providers that do something. */
export const supportedComponentProviders: ReadonlySet<string> = new Set(
  Object.values(componentTypes)
    .flatMap((providers) => Object.keys(providers))
    .filter((id) => id !== JAVA_KEYSTORE),
)
