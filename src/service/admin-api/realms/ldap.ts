// Keycloak: the defaults and mappers of a new LDAP user store, and the types of mappers that it can have.
import { parseComponentPath } from '../../../kinds/component.ts'
import { type ComponentType, USER_STORAGE } from '../../../kinds/component-types.ts'
import type { ConfigProperty } from '../../../kinds/config-property.ts'
import { type Representation, readTextListMap } from '../../../kinds/json.ts'
import type { Context } from '../../context/context.ts'
import { failure } from '../../context/errors.ts'
import { listObjects } from '../../objects/live-objects.ts'
import { editModes } from '../../users/user-store.ts'

type LdapSettings = Readonly<Record<string, readonly string[]>>

/** A mapper of a new LDAP user store. */
export interface LdapMapper {
  readonly name: string
  readonly providerId: string
  readonly config: Record<string, string[]>
}

const getFirst = (settings: LdapSettings, name: string): string | undefined => settings[name]?.[0]

/** Returns the settings that a new LDAP user store gets by default; none for other components. */
export function getLdapDefaults(component: Representation): Record<string, string[]> {
  if (!isLdapUserStore(component)) return {}
  const principals: Readonly<Record<string, string>> = { ad: 'userPrincipalName', rhds: 'krbPrincipalName' }
  const vendor = getFirst(readTextListMap(component.config), 'vendor') ?? ''
  return { krbPrincipalAttribute: [principals[vendor] ?? 'krb5PrincipalName'] }
}

/** Whether the settings of an LDAP user store have values that Keycloak cannot read. */
export function hasUnreadableSettings(component: Representation): boolean {
  if (!isLdapUserStore(component)) return false
  const settings = readTextListMap(component.config)
  const isNumber = (name: string) => /^(?:[+-]?\d+)?$/.test(getFirst(settings, name) ?? '')
  const editMode = getFirst(settings, 'editMode')
  const hasEditMode = !editMode || editModes.some((mode) => mode === editMode)
  return !hasEditMode || !isNumber('fullSyncPeriod') || !isNumber('changedSyncPeriod')
}

/** Throws invalid if a mapper names groups that do not exist, or writes the full name to a user store that is not writable. Two statements at most. */
export async function checkLdapMapper(
  context: Context,
  { providerId, config }: Representation,
  parent: string | undefined,
): Promise<void> {
  const settings = readTextListMap(config)
  const group = getFirst(settings, 'group')
  if (providerId === 'hardcoded-ldap-group-mapper' && group) {
    const keys = [[`/${group.trim().replace(/^\//, '')}`]]
    if (!(await listObjects(context, 'group', { keys })).length)
      throw failure('invalid', 'There is no group corresponding to configured value')
  }
  const path = getFirst(settings, 'groups.path')?.trim() || '/'
  if (
    providerId === 'group-ldap-mapper' &&
    path !== '/' &&
    !(await listObjects(context, 'group', { keys: [[path]] })).length
  ) {
    const message = 'Groups path group does not exist - please create the group on specified path first'
    throw failure('invalid', message)
  }
  if (providerId !== 'full-name-ldap-mapper' || getFirst(settings, 'write.only') !== 'true') return
  const [store] = parent === undefined ? [] : await listObjects(context, 'component', { ids: [parent] })
  if (getFirst(readTextListMap(store?.representation.config), 'editMode') !== 'WRITABLE')
    throw failure('invalid', 'Can not set write only when LDAP provider mode is not WRITABLE')
  if (getFirst(settings, 'read.only') === 'true') throw failure('invalid', 'Can not set both read-only and write-only')
}

/** Returns the mappers that a new LDAP user store gets; none for other components. */
export function listLdapMappers(component: Representation): LdapMapper[] {
  if (!isLdapUserStore(component)) return []
  const settings = readTextListMap(component.config)
  const isActiveDirectory = getFirst(settings, 'vendor') === 'ad'
  const isSynced = getFirst(settings, 'editMode') !== 'UNSYNCED'
  const isWritable = getFirst(settings, 'editMode') === 'WRITABLE'
  const username = getFirst(settings, 'usernameLDAPAttribute') ?? (isActiveDirectory ? 'cn' : 'uid')
  const isCommonName = (name: string) => name.toLowerCase() === 'cn'
  const hasCommonNameAsRdn = isCommonName(getFirst(settings, 'rdnLDAPAttribute') ?? username)
  const isCommonNameFree = hasCommonNameAsRdn && !isCommonName(username)
  const toMapper = (name: string, attribute: MappedAttribute): LdapMapper => ({
    name,
    providerId: 'user-attribute-ldap-mapper',
    config: {
      'user.model.attribute': [attribute.user],
      'ldap.attribute': [attribute.ldap],
      'read.only': [String(attribute.isReadOnly || !isWritable)],
      'always.read.value.from.ldap': [String(Boolean(attribute.isAlwaysRead) && isSynced)],
      'is.mandatory.in.ldap': [String(Boolean(attribute.isMandatory))],
    },
  })
  const firstName = hasCommonNameAsRdn ? 'givenName' : 'cn'
  const [created, modified] = isActiveDirectory
    ? ['whenCreated', 'whenChanged']
    : ['createTimestamp', 'modifyTimestamp']
  return [
    toMapper('username', { user: 'username', ldap: username, isMandatory: true }),
    ...(isCommonNameFree && isWritable
      ? [toMapper('username-cn', { user: 'username', ldap: 'cn', isMandatory: true })]
      : []),
    // A common name that identifies entries, but is neither the username nor written, is the full name.
    isCommonNameFree && !isWritable
      ? FULL_NAME_MAPPER
      : toMapper('first name', { user: 'firstName', ldap: firstName, isMandatory: true, isAlwaysRead: true }),
    toMapper('last name', { user: 'lastName', ldap: 'sn', isMandatory: true, isAlwaysRead: true }),
    toMapper('email', { user: 'email', ldap: 'mail' }),
    toMapper('creation date', { user: 'createTimestamp', ldap: created!, isReadOnly: true, isAlwaysRead: true }),
    toMapper('modify date', { user: 'modifyTimestamp', ldap: modified!, isReadOnly: true, isAlwaysRead: true }),
    {
      name: 'Kerberos principal attribute mapper',
      providerId: 'kerberos-principal-attribute-mapper',
      config: {},
    },
    ...(isActiveDirectory ? [toAccountControlMapper(isSynced)] : []),
  ]
}

const toAccountControlMapper = (isSynced: boolean): LdapMapper => ({
  name: 'MSAD account controls',
  providerId: 'msad-user-account-control-mapper',
  config: { 'always.read.enabled.value.from.ldap': [String(isSynced)] },
})

const FULL_NAME_MAPPER: LdapMapper = {
  name: 'full name',
  providerId: 'full-name-ldap-mapper',
  config: { 'ldap.full.name.attribute': ['cn'], 'read.only': ['true'], 'write.only': ['false'] },
}

/** A user attribute, and the LDAP attribute that it is mapped to. */
interface MappedAttribute {
  readonly user: string
  readonly ldap: string
  readonly isMandatory?: boolean
  readonly isReadOnly?: boolean
  /** The value is read from LDAP each time, except in the edit mode UNSYNCED. */
  readonly isAlwaysRead?: boolean
}

/** Returns the types of mappers with the defaults and options that they have for an LDAP user store with these settings. */
export function adaptLdapMapperTypes<T extends ComponentType & { id: string }>(
  types: readonly T[],
  settings: LdapSettings,
): T[] {
  return types.map((type) => ({
    ...type,
    properties: type.properties
      .filter(({ name }) => type.id !== 'user-attribute-ldap-mapper' || importsUsers(settings) || name !== ALWAYS_READ)
      .map((property) => ({ ...property, ...adaptProperty(type.id, property, settings) })),
  }))
}

const ALWAYS_READ = 'always.read.value.from.ldap'

const importsUsers = (settings: LdapSettings) => getFirst(settings, 'importEnabled') !== 'false'

/** Returns the default and options of a property that depend on the LDAP user store. */
function adaptProperty(
  id: string,
  { name, options = [] }: ConfigProperty,
  settings: LdapSettings,
): Partial<ConfigProperty> {
  const isWritable = getFirst(settings, 'editMode') === 'WRITABLE'
  const isActiveDirectory = getFirst(settings, 'vendor') === 'ad'
  const isAttributeMapper = id === 'user-attribute-ldap-mapper' || id === 'full-name-ldap-mapper'
  if (name === 'read.only' && isAttributeMapper) return { defaultValue: String(!isWritable) }
  if (name === 'write.only') return { defaultValue: String(isWritable) }
  if (name === 'mode') {
    const modes = importsUsers(settings) ? options : options.filter((mode) => mode !== 'IMPORT')
    return { defaultValue: isWritable ? 'LDAP_ONLY' : 'READ_ONLY', options: modes }
  }
  if (name === 'membership.user.ldap.attribute')
    return { defaultValue: getFirst(settings, 'usernameLDAPAttribute') ?? 'uid' }
  if (/^(group|role)\.object\.classes$/.test(name))
    return { defaultValue: isActiveDirectory ? 'group' : 'groupOfNames' }
  if (name === 'user.roles.retrieve.strategy' && isActiveDirectory)
    return { options: [...options, `${options[0]}_RECURSIVELY`] }
  return {}
}

function isLdapUserStore({ path, providerId }: Representation): boolean {
  return providerId === 'ldap' && parseComponentPath(String(path)).providerType === USER_STORAGE
}
