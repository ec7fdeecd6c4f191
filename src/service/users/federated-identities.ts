// Accounts of people at identity providers.
import type { Json } from '../../kinds/json.ts'
import {
  deleteFederatedIdentities,
  insertFederatedIdentities,
  selectFederatedIdentities,
} from '../../store/users/federated-identities.ts'
import type { Context, WriteContext } from '../context/context.ts'
import { unlessTaken } from '../objects/conflicts.ts'
import { idsByName, listsOf, type StatedLists, writeLists } from '../objects/lists-apart.ts'
import type { LiveObject } from '../objects/live.ts'

/** The accounts of users, as in their representation. One statement. */
export function federatedIdentitiesOf(
  { tx, realm }: Context,
  users: readonly Pick<LiveObject, 'id'>[],
): Promise<ReadonlyMap<string, Json>> {
  return listsOf(
    users,
    (ids) => selectFederatedIdentities(tx, realm.number, ids),
    ({ provider, userId, userName }) => ({
      identityProvider: provider,
      userId,
      ...(userName !== null && { userName }),
    }),
  )
}

/** Makes the accounts of users what is stated. Throws invalid where an identity provider does not exist. */
export async function writeFederatedIdentities(context: WriteContext, users: StatedLists): Promise<void> {
  const { tx, realm } = context
  await writeLists(
    users,
    (ids) => deleteFederatedIdentities(tx, realm.number, ids),
    async (stated) => {
      const aliases = stated.map(({ element }) => String(element.identityProvider))
      const providerId = await idsByName(context, 'identityProvider', aliases)
      const rows = stated.map(({ user, element: { userId, userName = null } }, at) => ({
        user,
        provider: providerId(aliases[at]!),
        userId: String(userId),
        userName: userName === null ? null : String(userName),
      }))
      const account = { title: 'account at an identity provider', conflict: { create: 'The account is there already' } }
      await unlessTaken(account, 'create', () => insertFederatedIdentities(tx, realm.number, rows))
    },
  )
}
