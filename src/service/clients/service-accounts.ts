// Service accounts: the users as which clients act themselves. They are created, renamed and deleted with their client.
import type { Representation } from '../../kinds/json.ts'
import { SERVICE_ACCOUNT_PREFIX } from '../../kinds/user.ts'
import { selectServiceAccounts } from '../../store/users/users.ts'
import type { Context, WriteContext } from '../context/context.ts'
import { type LiveObject, listObjects, type ObjectRepresentation } from '../objects/live-objects.ts'
import { users } from '../users/users.ts'

/** Keycloak: the username of a service account. */
const usernameFor = (clientId: string): string => `${SERVICE_ACCOUNT_PREFIX}${clientId}`.toLowerCase()

/** Returns the representation of a new client's service account. */
export function toServiceAccount({ key: [clientId] }: ObjectRepresentation): Representation {
  return { username: usernameFor(clientId!), enabled: true, serviceAccountClientId: clientId! }
}

/** Creates the service accounts of clients, with the ids that an apply or import requests for them. */
export async function addServiceAccounts(context: WriteContext, clients: readonly LiveObject[]): Promise<void> {
  if (!clients.length) return
  await users.create(
    context,
    clients.map((client) => ({
      id: context.accountIds?.get(usernameFor(client.key[0]!)),
      representation: toServiceAccount(client),
    })),
  )
}

/** Deletes the service accounts of clients. */
export async function removeServiceAccounts(context: WriteContext, clients: readonly LiveObject[]): Promise<void> {
  const accounts = await listServiceAccounts(context, clients)
  if (accounts.length) await users.delete(context, accounts)
}

/** Renames the service accounts of clients after their current client IDs. */
export async function renameServiceAccounts(context: WriteContext, clients: readonly LiveObject[]): Promise<void> {
  const accounts = await listServiceAccounts(context, clients)
  await users.update(
    context,
    accounts.map((live) => ({
      live,
      set: { username: usernameFor(String(live.representation.serviceAccountClientId)) },
    })),
  )
}

/** Lists the service accounts of clients. Two statements, or none. */
export async function listServiceAccounts(
  context: Context,
  clients: readonly Pick<LiveObject, 'id'>[],
): Promise<LiveObject[]> {
  if (!clients.length) return []
  const clientIds = clients.map(({ id }) => id)
  const accounts = await selectServiceAccounts(context.tx, context.realm.number, clientIds)
  return accounts.length ? listObjects(context, 'user', { ids: accounts.map(({ id }) => id) }) : []
}
