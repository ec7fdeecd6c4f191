// Finds the client that a request names, and refuses changes of the clients that hold administration roles.
import { getAdminClientId, MASTER } from '../../../kinds/built-in/index.ts'
import { MANAGEMENT_CLIENT } from '../../../kinds/management-permissions.ts'
import type { Context } from '../../context/context.ts'
import { failure } from '../../context/errors.ts'
import type { LiveObject } from '../../objects/live-objects.ts'
import { getObject } from './resource.ts'

/** The message of an error about a client that does not exist. */
export const CLIENT_NOT_FOUND = 'Could not find client'

/** Returns the client with that id. Throws not_found. */
export function getClient(context: Context, id: string): Promise<LiveObject> {
  return getObject(context, 'client', { id, notFound: CLIENT_NOT_FOUND })
}

/** Keycloak: whether the client holds the administration roles of a realm. Nobody may change such a client. */
export function isAdminClient({ realm }: Context, { key: [clientId] }: Pick<LiveObject, 'key'>): boolean {
  if (realm.name !== MASTER) return clientId === MANAGEMENT_CLIENT
  return clientId!.endsWith(getAdminClientId(''))
}

/** Throws forbidden if the client holds the administration roles of a realm. Keycloak: to every caller. */
export function refuseAdminClient(context: Context, live: Pick<LiveObject, 'key'>): void {
  if (isAdminClient(context, live)) throw failure('forbidden', 'HTTP 403 Forbidden')
}
