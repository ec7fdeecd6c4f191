// Service accounts: the users that clients are when they act in their own name. They come, go and are called with their client.
import {
  deleteServiceAccounts,
  renameServiceAccounts as renameAccounts,
  selectServiceAccounts,
} from '../store/users.ts'
import { journal, type WriteContext } from './context.ts'
import type { LiveObject } from './live.ts'
import { createUsers } from './users.ts'

/** Keycloak: how the user of a client is called. */
const nameOf = ({ key }: LiveObject): string => `service-account-${key[0]}`.toLowerCase()

/** Makes the service accounts of clients. */
export async function addServiceAccounts(context: WriteContext, clients: readonly LiveObject[]): Promise<void> {
  await createUsers(
    context,
    clients.map((client) => ({ username: nameOf(client), serviceAccountClient: client.id })),
  )
}

/** Deletes the service accounts that the clients have. Statements: two. */
export async function removeServiceAccounts(context: WriteContext, clients: readonly LiveObject[]): Promise<void> {
  if (!clients.length) return
  const { tx, realm } = context
  const ids = clients.map(({ id }) => id)
  const accounts = await selectServiceAccounts(tx, realm.number, ids)
  if (!accounts.length) return
  await deleteServiceAccounts(tx, realm.number, ids)
  for (const { id, username } of accounts) journal(context, 'delete', 'user', { id, key: [username] }, { username })
}

/** Calls the service accounts as their clients are called now. Statements: two. */
export async function renameServiceAccounts(context: WriteContext, clients: readonly LiveObject[]): Promise<void> {
  if (!clients.length) return
  const { tx, realm } = context
  const names = new Map(clients.map((client) => [client.id, nameOf(client)]))
  const accounts = await selectServiceAccounts(tx, realm.number, [...names.keys()])
  if (!accounts.length) return
  await renameAccounts(
    tx,
    realm.number,
    accounts.map(({ id, serviceAccountClient }) => ({ id, username: names.get(serviceAccountClient!)! })),
  )
  for (const { id, username } of accounts) journal(context, 'update', 'user', { id, key: [username] }, { username })
}
