// What the reference server makes of a new user store that is an LDAP directory, and the mappers that it offers for one.

import { componentName } from '../../../kinds/component.ts'
import { type ComponentType, USER_STORAGE } from '../../../kinds/component-types.ts'
import type { Representation } from '../../../kinds/json.ts'
import type { ConfigProperty } from '../../../kinds/config-property.ts'

type Settings = Readonly<Record<string, readonly string[]>>

/** A mapper of a new directory. */
export interface LdapMapper {
  readonly name: string
  readonly providerId: string
  readonly config: Record<string, string[]>
}

const first = (settings: Settings, name: string): string | undefined => settings[name]?.[0]

/** The settings that a new directory is given where they are not stated. */
export function ldapSettings(component: Representation): Record<string, string[]> {
  if (!isDirectory(component)) return {}
  const principals: Readonly<Record<string, string>> = { ad: 'userPrincipalName', rhds: 'krbPrincipalName' }
  const vendor = first((component.config ?? {}) as Settings, 'vendor') ?? ''
  return { krbPrincipalAttribute: [principals[vendor] ?? 'krb5PrincipalName'] }
}

/** The mappers that a new directory is given; of another component none. */
export function ldapMappersOf(component: Representation): LdapMapper[] {
  if (!isDirectory(component)) return []
  const settings = (component.config ?? {}) as Settings
  const active = first(settings, 'vendor') === 'ad'
  const imported = first(settings, 'editMode') !== 'UNSYNCED'
  const writable = first(settings, 'editMode') === 'WRITABLE'
  const username = first(settings, 'usernameLDAPAttribute') ?? (active ? 'cn' : 'uid')
  const [isCommonName, namesCommonly] = [username, first(settings, 'rdnLDAPAttribute') ?? username].map(
    (name) => name.toLowerCase() === 'cn',
  )
  const attribute = (name: string, property: string, ldap: string, facts: Facts = {}): LdapMapper => ({
    name,
    providerId: 'user-attribute-ldap-mapper',
    config: {
      'user.model.attribute': [property],
      'ldap.attribute': [ldap],
      'read.only': [String(facts.readOnly || !writable)],
      'always.read.value.from.ldap': [String(Boolean(facts.read) && imported)],
      'is.mandatory.in.ldap': [String(Boolean(facts.mandatory))],
    },
  })
  return [
    attribute('username', 'username', username, { mandatory: true }),
    ...(namesCommonly && !isCommonName && writable
      ? [attribute('username-cn', 'username', 'cn', { mandatory: true })]
      : []),
    // Where entries are called by the common name, that is the full name, unless people log in with it or it is written.
    namesCommonly && !isCommonName && !writable
      ? fullName
      : attribute('first name', 'firstName', namesCommonly ? 'givenName' : 'cn', { mandatory: true, read: true }),
    attribute('last name', 'lastName', 'sn', { mandatory: true, read: true }),
    attribute('email', 'email', 'mail'),
    attribute('creation date', 'createTimestamp', active ? 'whenCreated' : 'createTimestamp', {
      readOnly: true,
      read: true,
    }),
    attribute('modify date', 'modifyTimestamp', active ? 'whenChanged' : 'modifyTimestamp', {
      readOnly: true,
      read: true,
    }),
    {
      name: 'Kerberos principal attribute mapper',
      providerId: 'kerberos-principal-attribute-mapper',
      config: {},
    },
    ...(active
      ? [
          {
            name: 'MSAD account controls',
            providerId: 'msad-user-account-control-mapper',
            config: { 'always.read.enabled.value.from.ldap': [String(imported)] },
          },
        ]
      : []),
  ]
}

const fullName: LdapMapper = {
  name: 'full name',
  providerId: 'full-name-ldap-mapper',
  config: { 'ldap.full.name.attribute': ['cn'], 'read.only': ['true'], 'write.only': ['false'] },
}

interface Facts {
  readonly mandatory?: boolean
  readonly readOnly?: boolean
  /** The value of the directory counts, unless everything is imported once. */
  readonly read?: boolean
}

/** The types of mappers as a directory with these settings offers them. */
export function ldapMapperTypes<T extends ComponentType & { id: string }>(
  types: readonly T[],
  settings: Settings,
): T[] {
  return types.map((type) => ({
    ...type,
    properties: type.properties
      .filter(({ name }) => type.id !== 'user-attribute-ldap-mapper' || imports(settings) || name !== ALWAYS_READ)
      .map((property) => ({ ...property, ...offered(type.id, property, settings) })),
  }))
}

const ALWAYS_READ = 'always.read.value.from.ldap'

const imports = (settings: Settings) => first(settings, 'importEnabled') !== 'false'

/** What a form begins with and offers, as far as the directory decides it. */
function offered(id: string, { name, options = [] }: ConfigProperty, settings: Settings): Partial<ConfigProperty> {
  const writable = first(settings, 'editMode') === 'WRITABLE'
  const active = first(settings, 'vendor') === 'ad'
  const named = id === 'user-attribute-ldap-mapper' || id === 'full-name-ldap-mapper'
  if (name === 'read.only' && named) return { defaultValue: String(!writable) }
  if (name === 'write.only') return { defaultValue: String(writable) }
  if (name === 'mode') {
    const modes = imports(settings) ? options : options.filter((mode) => mode !== 'IMPORT')
    return { defaultValue: writable ? 'LDAP_ONLY' : 'READ_ONLY', options: modes }
  }
  if (name === 'membership.user.ldap.attribute')
    return { defaultValue: first(settings, 'usernameLDAPAttribute') ?? 'uid' }
  if (/^(group|role)\.object\.classes$/.test(name)) return { defaultValue: active ? 'group' : 'groupOfNames' }
  if (name === 'user.roles.retrieve.strategy' && active) return { options: [...options, `${options[0]}_RECURSIVELY`] }
  return {}
}

function isDirectory({ path, providerId }: Representation): boolean {
  return providerId === 'ldap' && componentName(String(path)).providerType === USER_STORAGE
}
