// Service accounts: only their clients can log in.
import { isList, isObject, type Json } from '../../kinds/json.ts'
import type { ConversionContext, FormatConverter } from './format-converter.ts'

/** Ignores credentials of service accounts. Keycloak: imports store them without effect, and REST rejects them. */
export const serviceAccounts: FormatConverter = {
  read(realm, context) {
    const { users } = realm
    return isList(users) ? { ...realm, users: users.map((user, at) => removeCredentials(user, at, context)) } : realm
  },
  write: (realm) => realm,
}

function removeCredentials(user: Json, at: number, { warn }: ConversionContext): Json {
  if (!isObject(user) || (user.serviceAccountClientId ?? null) === null) return user
  const { credentials, ...rest } = user
  if (!isList(credentials) || !credentials.length) return user
  const reason = 'a service account logs in as its client'
  warn(['users', at, 'credentials'], `user ${user.username}: credentials are ignored, since ${reason}`)
  return rest
}
