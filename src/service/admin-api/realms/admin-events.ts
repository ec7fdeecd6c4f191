// What REST does with admin events: find them, forget them.
import { EVENT_OPERATIONS, EVENT_TYPES } from '../../../kinds/admin-events.ts'
import type { Representation } from '../../../kinds/json.ts'
import {
  deleteAdminEvents,
  type AdminEventFilter,
  type StoredAdminEvent,
  selectAdminEvents,
} from '../../../store/journal/admin-events.ts'
import type { Context, WriteContext } from '../../context/context.ts'
import { requirePermissions } from '../../permissions/require-permissions.ts'
import { parseEventRange, parseChoices } from '../common/event-query.ts'
import type { Query } from '../common/resource.ts'

/** The events of the realm that the query asks for. Throws invalid. */
export async function listAdminEvents(context: Context, query: Query): Promise<Representation[]> {
  requirePermissions(context, 'view-events')
  const found = await selectAdminEvents(context.tx, context.realm.number, filterOf(query))
  return found.map((event) => show(context.realm.id, event))
}

/** Forgets all events of the realm. */
export async function forgetAdminEvents(context: WriteContext): Promise<void> {
  requirePermissions(context, 'manage-events')
  await deleteAdminEvents(context.tx, context.realm.number)
}

function show(realmId: string, event: StoredAdminEvent): Representation {
  const { representation, details } = event
  return {
    id: event.id,
    time: event.at.getTime(),
    realmId,
    authDetails: {
      ...(event.authRealm !== null && { realmId: event.authRealm }),
      ...(event.authClient !== null && { clientId: event.authClient }),
      ...(event.authUser !== null && { userId: event.authUser }),
      ...(event.authAddress !== null && { ipAddress: event.authAddress }),
    },
    operationType: event.operationType,
    resourceType: event.resourceType,
    ...(event.resourcePath !== null && { resourcePath: event.resourcePath }),
    ...(representation !== null && { representation }),
    ...(details && { details }),
  }
}

function filterOf(query: Query): AdminEventFilter {
  const text = (name: string) => (query[name] ? { [name]: String(query[name]) } : {})
  const operationTypes = parseChoices('operationTypes', query.operationTypes, EVENT_OPERATIONS)
  const resourceTypes = parseChoices('resourceTypes', query.resourceTypes, EVENT_TYPES)
  return {
    ...(operationTypes && { operationTypes }),
    ...(resourceTypes && { resourceTypes }),
    ...text('resourcePath'),
    ...text('authRealm'),
    ...text('authClient'),
    ...text('authUser'),
    ...text('authIpAddress'),
    ...parseEventRange(query),
  }
}
