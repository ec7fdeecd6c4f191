// Service accounts: they log in as their clients do, and by nothing else.
import { isObject, type Json } from '../../kinds/json.ts'
import type { ConversionContext, FormatConverter } from './format-converter.ts'

/** Credentials of service accounts left out. Keycloak: imports keep them, nobody logs in by them, and REST refuses to set them. */
export const serviceAccounts: FormatConverter = {
  read(realm, notes) {
    const { users } = realm
    return Array.isArray(users)
      ? { ...realm, users: users.map((user, at) => withoutCredentials(user, at, notes)) }
      : realm
  },
  write: (realm) => realm,
}

function withoutCredentials(user: Json, at: number, { warn: note }: ConversionContext): Json {
  if (!isObject(user) || (user.serviceAccountClientId ?? null) === null) return user
  const { credentials, ...others } = user
  if (!Array.isArray(credentials) || !credentials.length) return user
  const reason = 'a service account logs in as its client does'
  note(['users', at, 'credentials'], `user ${user.username}: credentials are ignored, since ${reason}`)
  return others
}
