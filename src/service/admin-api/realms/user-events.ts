// What REST does with events of people and clients: find them, forget them.
import type { Representation } from '../../../kinds/json.ts'
import { USER_EVENT_TYPES } from '../../../kinds/user-events.ts'
import { deleteUserEvents, type StoredUserEvent, selectUserEvents } from '../../../store/journal/user-events.ts'
import type { Context, WriteContext } from '../../context/context.ts'
import { requirePermissions } from '../../permissions/require-permissions.ts'
import { parseEventRange, parseChoices } from '../common/event-query.ts'
import type { Query } from '../common/resource.ts'

/** The events of the realm that the query asks for. Throws invalid. */
export async function listUserEvents(context: Context, query: Query): Promise<Representation[]> {
  requirePermissions(context, 'view-events')
  const types = parseChoices('type', query.type, USER_EVENT_TYPES)
  const found = await selectUserEvents(context.tx, context.realm.number, {
    ...(types && { types }),
    ...(query.client !== undefined && { client: String(query.client) }),
    ...(query.user !== undefined && { user: String(query.user) }),
    ...(query.ipAddress !== undefined && { address: String(query.ipAddress) }),
    ...parseEventRange(query),
  })
  return found.map((event) => show(context.realm.id, event))
}

/** Forgets all events of the realm. */
export async function forgetUserEvents(context: WriteContext): Promise<void> {
  requirePermissions(context, 'manage-events')
  await deleteUserEvents(context.tx, context.realm.number)
}

function show(realmId: string, event: StoredUserEvent): Representation {
  const { id, at, type, client, user, session, address, error, details } = event
  return {
    id,
    time: at.getTime(),
    type,
    realmId,
    ...(client !== null && { clientId: client }),
    ...(user !== null && { userId: user }),
    ...(session !== null && { sessionId: session }),
    ...(address !== null && { ipAddress: address }),
    ...(error !== null && { error }),
    ...(details && { details }),
  }
}
