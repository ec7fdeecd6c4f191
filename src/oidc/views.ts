// Clients and users with the types of their fields.
import { client } from '../kinds/client.ts'
import { type ViewOf, viewOf } from '../kinds/kind.ts'
import { isUserField, user } from '../kinds/user.ts'
import type { StoredUser } from '../service/context/store-types.ts'
import type { LiveObject } from '../service/objects/live-objects.ts'

/** The fields of a client. */
export type ClientFields = ViewOf<typeof client>

/** The fields of a user. */
export type UserFields = ViewOf<typeof user>

/** Returns the fields of a client. */
export const viewClient = ({ representation }: Pick<LiveObject, 'representation'>): ClientFields =>
  viewOf(client, representation)

/** Returns the fields of a user. */
export const viewUser = ({ representation }: Pick<LiveObject, 'representation'>): UserFields =>
  viewOf(user, representation)

/** Returns the fields of a stored user, except for the username and the email address, which are columns of their own. */
export const viewStoredUser = ({ body }: Pick<StoredUser, 'body'>): Omit<UserFields, 'username' | 'email'> =>
  viewOf(user, body)

/** Returns the values of a field or an attribute of a user. */
export function listUserValues(user: UserFields, name: string): readonly string[] {
  if (!isUserField(name)) return user.attributes?.[name] ?? []
  const value = user[name]
  return value === undefined ? [] : [value]
}
