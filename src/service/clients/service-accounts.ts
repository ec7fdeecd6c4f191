// Service accounts: the users that clients are when they act in their own name. They come, go and are called with their client.
import type { Representation } from '../../kinds/json.ts'
import { selectServiceAccounts } from '../../store/users/users.ts'
import type { Context, WriteContext } from '../context/context.ts'
import { type LiveObject, listObjects, type SaidObject } from '../objects/live.ts'
import { users } from '../users/users.ts'

/** Keycloak: how the user of a client is called. */
const nameOf = (clientId: string): string => `service-account-${clientId}`.toLowerCase()

/** The service account of a client, as it is made. */
export function serviceAccountOf({ key: [clientId] }: SaidObject): Representation {
  return { username: nameOf(clientId!), enabled: true, serviceAccountClientId: clientId! }
}

/** Makes the service accounts of clients. */
export async function addServiceAccounts(context: WriteContext, clients: readonly LiveObject[]): Promise<void> {
  if (!clients.length) return
  await users.create(
    context,
    clients.map((client) => ({ representation: serviceAccountOf(client) })),
  )
}

/** Deletes the service accounts that the clients have. */
export async function removeServiceAccounts(context: WriteContext, clients: readonly LiveObject[]): Promise<void> {
  const accounts = await accountsOf(context, clients)
  if (accounts.length) await users.delete(context, accounts)
}

/** Calls the service accounts as their clients are called now. */
export async function renameServiceAccounts(context: WriteContext, clients: readonly LiveObject[]): Promise<void> {
  const accounts = await accountsOf(context, clients)
  await users.update(
    context,
    accounts.map((live) => ({
      live,
      set: { username: nameOf(String(live.representation.serviceAccountClientId)) },
    })),
  )
}

/** The service accounts that the clients have. Statements: two, or none. */
export async function accountsOf(context: Context, clients: readonly LiveObject[]): Promise<LiveObject[]> {
  if (!clients.length) return []
  const ids = clients.map(({ id }) => id)
  const found = await selectServiceAccounts(context.tx, context.realm.number, ids)
  return found.length ? listObjects(context, 'user', { ids: found.map(({ id }) => id) }) : []
}
