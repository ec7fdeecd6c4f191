// Users of directories: the fields of a user that follow from an entry, by the mappers of the user store.

import type { FlatFields } from '../../kinds/compare.ts'
import type { Json } from '../../kinds/json.ts'
import { readFlag } from '../../kinds/json.ts'
import { decodeUuid, type LdapEntry, readValue, readValues, type UuidByteOrder } from '../../lib/ldap/ldap-entry.ts'
import { isAccountControlMapper, isFlagName, LDAP_ENTRY_DN, LDAP_ID, toFieldPath } from '../users/federated-users.ts'
import type { StoreMapper, UserStore } from '../users/user-store.ts'

/** A user in a directory. */
export interface DirectoryUser {
  /** The value of the UUID attribute, which identifies the entry for ever. */
  readonly uuid: string
  readonly dn: string
  /** In lower case. */
  readonly username: string
  /** The mapped fields by path; null where the entry has no value. */
  readonly fields: FlatFields
  readonly mustChangePassword: boolean
  readonly entry: LdapEntry
}

/** Whether expired passwords are replaced through the realm. Keycloak: in writable directories, with the mapper of Active Directory. */
export const canReplacePasswords = ({ editMode, mappers }: UserStore): boolean =>
  editMode === 'WRITABLE' && mappers.some(isAccountControlMapper)

/** An entry that is no user, since a required attribute is missing. */
export interface BrokenEntry {
  readonly dn: string
  readonly problem: string
}

/** Active Directory: the flag of a disabled account in userAccountControl. */
const ACCOUNT_DISABLED = 2

/** Returns the fields that a mapper sets for an entry. */
type EntryReader = (mapper: StoreMapper, entry: LdapEntry) => FlatFields

const readers: Readonly<Record<string, EntryReader>> = {
  'user-attribute-ldap-mapper': readUserAttribute,
  'certificate-ldap-mapper': readCertificate,
  'full-name-ldap-mapper': readFullName,
  'hardcoded-attribute-mapper': ({ read }) => toField(read('user.model.attribute'), [read('attribute.value') ?? '']),
  'msad-user-account-control-mapper': (_, entry) => {
    const control = readValue(entry, 'userAccountControl')
    return control === undefined || !hasPassword(entry) ? {} : { enabled: (Number(control) & ACCOUNT_DISABLED) === 0 }
  },
  'msad-lds-user-account-control-mapper': (_, entry) => {
    const isDisabled = readValue(entry, 'msDS-UserAccountDisabled')
    return isDisabled === undefined || !hasPassword(entry) ? {} : { enabled: !readFlag(isDisabled) }
  },
}

/** Keycloak: as long as an account has no password that counts, the realm decides whether the user is enabled. */
const hasPassword = (entry: LdapEntry): boolean => Number(readValue(entry, 'pwdLastSet') ?? 1) > 0

/** The attributes that mappers read besides the configured ones. */
const mapperAttributes: Readonly<Record<string, readonly string[]>> = {
  'msad-user-account-control-mapper': ['userAccountControl', 'pwdLastSet'],
  'msad-lds-user-account-control-mapper': ['msDS-UserAccountDisabled', 'pwdLastSet'],
}

/** Returns the attributes to request for the users of a store. */
export function listUserAttributes({ uuidAttribute, usernameAttribute, rdnAttribute, mappers }: UserStore): string[] {
  const mapped = mappers.flatMap(({ providerId, read }) => [
    ...(readers[providerId] ? [read('ldap.attribute') ?? read('ldap.full.name.attribute')] : []),
    ...(mapperAttributes[providerId] ?? []),
    ...(/^(group|role)-ldap-mapper$/.test(providerId)
      ? [read('memberof.ldap.attribute') ?? 'memberOf', read('membership.user.ldap.attribute')]
      : []),
  ])
  const names = [uuidAttribute, usernameAttribute, rdnAttribute, ...mapped].filter((name) => name !== undefined)
  return [...new Map(names.map((name) => [name.toLowerCase(), name])).values()]
}

/** Returns the user of an entry, or what is missing. */
export function toDirectoryUser(store: UserStore, entry: LdapEntry): DirectoryUser | BrokenEntry {
  const { dn } = entry
  const uuid = readUuid(store, entry)
  const username = readValue(entry, store.usernameAttribute)?.toLowerCase()
  if (!username) return { dn, problem: `the entry has no ${store.usernameAttribute}` }
  if (!uuid) return { dn, problem: `the entry has no ${store.uuidAttribute}` }
  const fields = store.mappers.map((mapper) => readers[mapper.providerId]?.(mapper, entry) ?? {})
  return {
    uuid,
    dn,
    username,
    entry,
    mustChangePassword: canReplacePasswords(store) && readValue(entry, 'pwdLastSet') === '0',
    fields: {
      ...(store.trustsEmail && { emailVerified: true }),
      ...Object.assign({}, ...fields),
      username,
      [`attributes.${LDAP_ID}`]: [uuid],
      [`attributes.${LDAP_ENTRY_DN}`]: [dn],
    },
  }
}

/** Returns the UUID of an entry as text. */
export function readUuid(store: UserStore, entry: LdapEntry): string | undefined {
  const bytes = entry.attributes.get(store.uuidAttribute.toLowerCase())?.[0]
  const order = findUuidByteOrder(store)
  return bytes && order ? decodeUuid(bytes, order) : bytes?.toString('utf8')
}

/** Returns the order of the bytes of the UUID attribute; undefined if its values are texts. Keycloak: two attributes are binary. */
export function findUuidByteOrder({ vendor, uuidAttribute }: UserStore): UuidByteOrder | undefined {
  const attribute = uuidAttribute.toLowerCase()
  if (attribute === 'objectguid') return 'mixed'
  return vendor === 'edirectory' && attribute === 'guid' ? 'big' : undefined
}

function readUserAttribute({ read }: StoreMapper, entry: LdapEntry): FlatFields {
  // Keycloak: binary values may be too large for its database.
  if (readFlag(read('is.binary.attribute'))) return {}
  return toField(read('user.model.attribute'), readValues(entry, read('ldap.attribute') ?? ''))
}

/** Keycloak: a binary certificate is stored as Base64 without lines. */
function readCertificate(mapper: StoreMapper, entry: LdapEntry): FlatFields {
  const { read } = mapper
  if (!readFlag(read('is.der.formatted'))) return readUserAttribute(mapper, entry)
  const values = entry.attributes.get((read('ldap.attribute') ?? '').toLowerCase()) ?? []
  return toField(
    read('user.model.attribute'),
    values.map((value) => value.toString('base64')),
  )
}

/** Keycloak: the last word is the last name. */
function readFullName({ read }: StoreMapper, entry: LdapEntry): FlatFields {
  const fullName = readValue(entry, read('ldap.full.name.attribute') ?? 'cn')?.trim()
  if (!fullName || readFlag(read('write.only'))) return {}
  const at = fullName.lastIndexOf(' ')
  return at < 0 ? { lastName: fullName } : { firstName: fullName.slice(0, at), lastName: fullName.slice(at + 1) }
}

function toField(name: string | undefined, values: readonly string[]): FlatFields {
  if (name === undefined) return {}
  const path = toFieldPath(name)
  if (isFlagName(name)) return values.length ? { [path]: readFlag(values[0]) } : {}
  const isAttribute = path.startsWith('attributes.')
  const value: Json = isAttribute ? [...new Set(values)].sort() : (values[0] ?? null)
  return { [path]: isAttribute && !values.length ? null : value }
}
