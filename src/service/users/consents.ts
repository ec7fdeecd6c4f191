// Consents of users: the client scopes that they have granted to clients.
import { type Json, readTexts } from '../../kinds/json.ts'
import { deleteConsents, insertConsents, selectConsents } from '../../store/users/consents.ts'
import type { Context, WriteContext } from '../context/context.ts'
import { getIdLookup, getUserLists, replaceUserLists, type UserLists } from '../objects/user-lists.ts'

/** Returns the consents of users, as in their representation, by id of the user. One statement. */
export function getConsentsByUser(
  { tx, realm }: Context,
  users: readonly { readonly id: string }[],
): Promise<ReadonlyMap<string, Json>> {
  return getUserLists(
    users,
    (ids) => selectConsents(tx, realm.number, ids),
    ({ client, scopes, body }) => ({
      clientId: client.name,
      grantedClientScopes: scopes.map(({ name }) => name),
      ...body,
    }),
  )
}

/** Replaces the consents of users. Throws invalid where a client or client scope does not exist. */
export async function replaceConsents(context: WriteContext, users: UserLists): Promise<void> {
  const { tx, realm, now } = context
  await replaceUserLists(
    users,
    (ids) => deleteConsents(tx, realm.number, ids),
    async (elements) => {
      const consents = elements.map(({ user, element: { grantedClientScopes, ...consent } }) => ({
        user,
        consent,
        granted: readTexts(grantedClientScopes),
      }))
      const clientId = await getIdLookup(
        context,
        'client',
        consents.map(({ consent }) => String(consent.clientId)),
      )
      const scopeId = await getIdLookup(
        context,
        'clientScope',
        consents.flatMap(({ granted }) => granted),
      )
      const rows = consents.map(({ user, granted, consent }) => ({
        user,
        client: clientId(String(consent.clientId)),
        scopes: granted.map(scopeId),
        body: {
          createdDate: consent.createdDate ?? now.getTime(),
          lastUpdatedDate: consent.lastUpdatedDate ?? now.getTime(),
        },
      }))
      await insertConsents(tx, realm.number, rows)
    },
  )
}
