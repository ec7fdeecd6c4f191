// LDAP filters that find the users of a store.

import type { LdapSearch } from '../../lib/ldap/ldap-connection.ts'
import { encodeUuid } from '../../lib/ldap/ldap-entry.ts'
import { allOf, anyOf, escapeFilterValue } from '../../lib/ldap/ldap-syntax.ts'
import type { UserStore } from '../users/user-store.ts'
import { findUuidByteOrder, listUserAttributes } from './directory-user.ts'

/** Returns the search for the users of a store that match a filter; without a filter, for all. */
export function buildUserSearch(store: UserStore, filter?: string, limit?: number): LdapSearch {
  return {
    base: store.usersDn,
    scope: store.scope,
    filter: allOf(buildClassFilter(store), store.customFilter, filter),
    attributes: listUserAttributes(store),
    pageSize: store.pageSize,
    ...(limit !== undefined && { limit }),
  }
}

const buildClassFilter = ({ objectClasses }: UserStore): string =>
  allOf(
    ...(objectClasses.length
      ? objectClasses.map((name) => `(objectClass=${escapeFilterValue(name)})`)
      : ['(objectClass=*)']),
  )

/** Returns the filter of an entry by its UUID. */
export function buildUuidFilter(store: UserStore, uuid: string): string {
  const order = findUuidByteOrder(store)
  const bytes = order && encodeUuid(uuid, order)
  return `(${store.uuidAttribute}=${escapeFilterValue(bytes ?? uuid)})`
}

/** Returns the filter of a user with a username or, if `byEmail`, an email address. */
export function buildLoginFilter(store: UserStore, name: string, byEmail: boolean): string {
  const email = byEmail ? findLdapAttribute(store, 'email') : undefined
  const value = escapeFilterValue(name)
  return anyOf([`(${store.usernameAttribute}=${value})`, ...(email === undefined ? [] : [`(${email}=${value})`])])
}

/** Returns the filter of entries that have changed since a time. Keycloak: the time of creation counts, too. */
export function buildChangeFilter({ vendor }: UserStore, since: Date): string {
  const time = formatLdapTime(since)
  const [created, modified] = vendor === 'ad' ? ['whenCreated', 'whenChanged'] : ['createTimestamp', 'modifyTimestamp']
  return anyOf([`(${created}>=${time})`, `(${modified}>=${time})`])
}

/** Returns the LDAP attribute that a field or attribute of users is mapped to. */
export function findLdapAttribute({ mappers, usernameAttribute }: UserStore, field: string): string | undefined {
  const mapper = mappers.find(
    ({ providerId, read }) =>
      providerId === 'user-attribute-ldap-mapper' &&
      read('user.model.attribute')?.toLowerCase() === field.toLowerCase(),
  )
  if (mapper) return mapper.read('ldap.attribute')
  if (field === 'username') return usernameAttribute
  const fullName = mappers.find(({ providerId }) => providerId === 'full-name-ldap-mapper')
  return field === 'firstName' || field === 'lastName' ? fullName?.read('ldap.full.name.attribute') : undefined
}

/** Returns a time in the generalized form. RFC 4517, section 3.3.13. */
function formatLdapTime(time: Date): string {
  return `${time.toISOString().replace(/[-:T]/g, '').slice(0, 14)}.0Z`
}
