// Accounts of people at identity providers.
import type { Json } from '../kinds/fields.ts'
import type { Key, Representation } from '../kinds/kind.ts'
import {
  deleteFederatedIdentities,
  insertFederatedIdentities,
  selectFederatedIdentities,
} from '../store/federated-identities.ts'
import type { Context, WriteContext } from './context.ts'
import type { LiveObject } from './live.ts'
import { idsOf } from './references.ts'

/** The accounts of users, as in their representation. One statement. */
export async function federatedIdentitiesOf(
  context: Context,
  users: readonly LiveObject[],
): Promise<ReadonlyMap<string, Json>> {
  if (!users.length) return new Map()
  const ids = users.map(({ id }) => id)
  const found = await selectFederatedIdentities(context.tx, context.realm.number, ids)
  return new Map(
    [...Map.groupBy(found, ({ user }) => user)].map(([user, own]): [string, Json] => [
      user,
      own.map(({ provider, userId, userName }) => ({
        identityProvider: provider,
        userId,
        ...(userName !== null && { userName }),
      })),
    ]),
  )
}

/** Makes the accounts of users what is stated. Throws invalid where an identity provider does not exist. */
export async function writeFederatedIdentities(
  context: WriteContext,
  users: readonly { readonly id: string; readonly identities: Json | undefined }[],
): Promise<void> {
  if (!users.length) return
  const { tx, realm } = context
  await deleteFederatedIdentities(
    tx,
    realm.number,
    users.map(({ id }) => id),
  )
  const stated = users.flatMap(({ id, identities }) =>
    ((identities ?? []) as Representation[]).map((identity) => ({ user: id, identity })),
  )
  if (!stated.length) return
  const aliases = new Set(stated.map(({ identity }) => String(identity.identityProvider)))
  const providers = await idsOf(
    context,
    'identityProvider',
    [...aliases].map((alias): Key => [alias]),
  )
  await insertFederatedIdentities(
    tx,
    realm.number,
    stated.map(({ user, identity: { identityProvider, userId, userName = null } }) => ({
      user,
      provider: providers.get(JSON.stringify([identityProvider]))!,
      userId: String(userId),
      userName: userName === null ? null : String(userName),
    })),
  )
}
