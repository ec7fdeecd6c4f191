// The attributes of entries that follow from the fields of users, by the mappers of a user store.
import { randomBytes } from 'node:crypto'
import type { FlatFields } from '../../kinds/compare.ts'
import { type Json, readFlag, readText, readTexts } from '../../kinds/json.ts'
import { type LdapEntry, readValue } from '../../lib/ldap/ldap-entry.ts'
import { UPDATE_PASSWORD } from '../users/credentials.ts'
import { isAccountControlMapper, toFieldPath } from '../users/federated-users.ts'
import type { StoreMapper, UserStore } from '../users/user-store.ts'

/** Values of attributes of an entry, by name; an empty list for none. */
export type AttributeValues = Readonly<Record<string, readonly (string | Buffer)[]>>

/** A change of the fields of a user. */
interface UserFieldChange {
  /** The changed fields. */
  readonly set: FlatFields
  /** All fields, after the change. */
  readonly fields: FlatFields
}

/** Returns the attributes that follow from changed fields. */
export function toAttributeValues({ mappers, usernameAttribute }: UserStore, change: UserFieldChange): AttributeValues {
  const username = change.set.username === undefined ? {} : { [usernameAttribute]: toTexts(change.set.username) }
  return Object.assign({}, username, ...mappers.map((mapper) => mapFields(mapper, change)))
}

function mapFields(mapper: StoreMapper, { set, fields }: UserFieldChange): AttributeValues {
  const { providerId, read } = mapper
  if (readFlag(read('read.only'))) return {}
  if (providerId === 'full-name-ldap-mapper') {
    if (set.firstName === undefined && set.lastName === undefined) return {}
    const fullName = [fields.firstName, fields.lastName].map(readText).filter(Boolean).join(' ')
    return { [read('ldap.full.name.attribute') ?? 'cn']: [fullName || ' '] }
  }
  const [name, attribute] = [read('user.model.attribute'), read('ldap.attribute')]
  const isAttributeMapper = providerId === 'user-attribute-ldap-mapper' || providerId === 'certificate-ldap-mapper'
  if (!isAttributeMapper || name === undefined || attribute === undefined) return {}
  const value = set[toFieldPath(name)]
  return value === undefined ? {} : { [attribute]: toAttributeValue(mapper, toTexts(value)) }
}

function toAttributeValue({ read }: StoreMapper, texts: readonly string[]): readonly (string | Buffer)[] {
  // Keycloak: an attribute that entries must have is a space, unless the mapper has a default.
  if (!texts.length && readFlag(read('is.mandatory.in.ldap')) && readFlag(read('attribute.force.default'), true))
    return [read('attribute.default.value') ?? ' ']
  const isBinary = readFlag(read('is.binary.attribute')) || readFlag(read('is.der.formatted'))
  return isBinary ? texts.map((text) => Buffer.from(text, 'base64')) : texts
}

/** Returns the values of a field as a directory has them. RFC 4517: flags are in upper case. */
function toTexts(value: Json): string[] {
  if (typeof value === 'boolean') return [value ? 'TRUE' : 'FALSE']
  const texts = typeof value === 'string' ? [value] : readTexts(value)
  return texts.filter((text) => text !== '')
}

/** Returns the attributes of a new entry. */
export function toNewAttributes(store: UserStore, fields: FlatFields): AttributeValues {
  const absent = store.mappers.flatMap(({ read }): [string, Json][] => {
    const name = read('user.model.attribute')
    return name === undefined ? [] : [[toFieldPath(name), null]]
  })
  const set = { firstName: null, ...Object.fromEntries(absent), ...fields }
  const hardcoded = store.mappers.flatMap(({ providerId, read }) => {
    const [name, value] = [read('ldap.attribute.name'), read('ldap.attribute.value')]
    if (providerId !== 'hardcoded-ldap-attribute-mapper' || name === undefined || value === undefined) return []
    return [[name, [value === RANDOM ? randomBytes(24).toString('base64url') : value]] as const]
  })
  const values = { ...Object.fromEntries(hardcoded), ...toAttributeValues(store, { set, fields }) }
  const present = Object.entries(values).filter(([, ofAttribute]) => ofAttribute.length)
  return { objectClass: store.objectClasses, ...Object.fromEntries(present) }
}

/** Keycloak: a hardcoded value that means a random one. */
const RANDOM = '${RANDOM}'

/** Flags of `userAccountControl` of Active Directory. */
const ACCOUNT_DISABLED = 0x2
const NO_PASSWORD_REQUIRED = 0x20
const PASSWORD_EXPIRED = 0x800000

/** The state of an account that Active Directory has in attributes of its own. */
interface AccountState {
  readonly entry: LdapEntry
  readonly isEnabled: boolean
  readonly mustChangePassword: boolean
}

/** Returns the attributes that enable or disable an account, or request a new password. Active Directory does not enable an account without password. */
export function toAccountAttributes(
  { mappers }: UserStore,
  { entry, isEnabled, mustChangePassword }: AccountState,
  changed: { readonly enabled?: boolean; readonly actions?: boolean; readonly password?: boolean },
): AttributeValues {
  const mapper = mappers.find(isAccountControlMapper)
  if (!mapper) return {}
  const hasPassword = changed.password === true || Number(readValue(entry, 'pwdLastSet') ?? 0) > 0
  const setsState = hasPassword && (changed.enabled === true || (changed.password === true && isEnabled))
  const time = changed.actions || changed.password ? { pwdLastSet: [mustChangePassword ? '0' : '-1'] } : {}
  if (mapper.providerId === 'msad-lds-user-account-control-mapper')
    return { ...time, ...(setsState && { 'msDS-UserAccountDisabled': [isEnabled ? 'FALSE' : 'TRUE'] }) }
  const control = Number(readValue(entry, 'userAccountControl') ?? 0)
  const ofState = isEnabled ? control & ~ACCOUNT_DISABLED : control | ACCOUNT_DISABLED
  const newControl = changed.password ? ofState & ~(NO_PASSWORD_REQUIRED | PASSWORD_EXPIRED) : ofState
  return { ...time, ...((setsState || changed.password) && { userAccountControl: [String(newControl)] }) }
}

/** Whether required actions request a new password. */
export const mustChangePassword = (actions: Json | undefined): boolean => readTexts(actions).includes(UPDATE_PASSWORD)
