// Federated identities: the accounts of users at identity providers.
import type { Json } from '../../kinds/json.ts'
import {
  deleteFederatedIdentities,
  insertFederatedIdentities,
  selectFederatedIdentities,
} from '../../store/users/federated-identities.ts'
import type { Context, WriteContext } from '../context/context.ts'
import { withConflictErrors } from '../objects/conflicts.ts'
import type { LiveObject } from '../objects/live-objects.ts'
import { omitNulls } from '../objects/put-body.ts'
import { getIdLookup, getUserLists, replaceUserLists, type UserLists } from '../objects/user-lists.ts'

/** Returns the federated identities of users, as in their representation, by id of the user. One statement. */
export function getFederatedIdentitiesByUser(
  { tx, realm }: Context,
  users: readonly Pick<LiveObject, 'id'>[],
): Promise<ReadonlyMap<string, Json>> {
  return getUserLists(
    users,
    (ids) => selectFederatedIdentities(tx, realm.number, ids),
    ({ provider, userId, userName }) => omitNulls({ identityProvider: provider, userId, userName }),
  )
}

/** Replaces the federated identities of users. Throws invalid where an identity provider does not exist. */
export async function replaceFederatedIdentities(context: WriteContext, users: UserLists): Promise<void> {
  const { tx, realm } = context
  await replaceUserLists(
    users,
    (ids) => deleteFederatedIdentities(tx, realm.number, ids),
    async (elements) => {
      const aliases = elements.map(({ element }) => String(element.identityProvider))
      const providerId = await getIdLookup(context, 'identityProvider', aliases)
      const rows = elements.map(({ user, element: { userId, userName } }, at) => ({
        user,
        provider: providerId(aliases[at]!),
        userId: userId == null ? null : String(userId),
        userName: userName == null ? null : String(userName),
      }))
      const conflict = { create: 'The user already has an account at the identity provider' }
      await withConflictErrors({ title: 'federated identity', conflict }, 'create', () =>
        insertFederatedIdentities(tx, realm.number, rows),
      )
    },
  )
}
