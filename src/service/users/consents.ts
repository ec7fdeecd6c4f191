// What people let clients learn.
import type { Json } from '../../kinds/json.ts'
import { deleteConsents, insertConsents, selectConsents } from '../../store/users/consents.ts'
import type { Context, WriteContext } from '../context/context.ts'
import { idsByName, listsOf, type StatedLists, writeLists } from '../objects/lists-apart.ts'

/** The consents of users, as in their representation. One statement. */
export function consentsOf(
  { tx, realm }: Context,
  users: readonly { readonly id: string }[],
): Promise<ReadonlyMap<string, Json>> {
  return listsOf(
    users,
    (ids) => selectConsents(tx, realm.number, ids),
    ({ client, scopes, body }) => ({
      clientId: client.name,
      grantedClientScopes: scopes.map(({ name }) => name),
      ...body,
    }),
  )
}

/** Makes the consents of users what is stated. Throws invalid where a client or client scope does not exist. */
export async function writeConsents(context: WriteContext, users: StatedLists): Promise<void> {
  const { tx, realm, now } = context
  const at = now.getTime()
  await writeLists(
    users,
    (ids) => deleteConsents(tx, realm.number, ids),
    async (stated) => {
      const consents = stated.map(({ user, element: { grantedClientScopes, ...consent } }) => ({
        user,
        consent,
        granted: (grantedClientScopes ?? []) as string[],
      }))
      const clientId = await idsByName(
        context,
        'client',
        consents.map(({ consent }) => String(consent.clientId)),
      )
      const scopeId = await idsByName(
        context,
        'clientScope',
        consents.flatMap(({ granted }) => granted),
      )
      const rows = consents.map(({ user, granted, consent }) => ({
        user,
        client: clientId(String(consent.clientId)),
        scopes: granted.map(scopeId),
        body: { createdDate: consent.createdDate ?? at, lastUpdatedDate: consent.lastUpdatedDate ?? at },
      }))
      await insertConsents(tx, realm.number, rows)
    },
  )
}
