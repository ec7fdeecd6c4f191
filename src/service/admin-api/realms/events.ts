// The REST operations on admin events and user events, and on the settings of a realm that are about them.
import { EVENT_OPERATIONS, EVENT_TYPES } from '../../../kinds/admin-events.ts'
import { type FlatFields, flatten } from '../../../kinds/compare.ts'
import { kinds } from '../../../kinds/index.ts'
import { type Representation, readTexts } from '../../../kinds/json.ts'
import { DEFAULT_EVENT_TYPES, USER_EVENT_TYPES } from '../../../kinds/user-events.ts'
import {
  type AdminEventFilter,
  deleteAdminEvents,
  type StoredAdminEvent,
  selectAdminEvents,
} from '../../../store/journal/admin-events.ts'
import { deleteUserEvents, type StoredUserEvent, selectUserEvents } from '../../../store/journal/user-events.ts'
import type { Context, WriteContext } from '../../context/context.ts'
import { failure } from '../../context/errors.ts'
import { describeAdminEvent } from '../../journal/admin-events.ts'
import { writers } from '../../kinds/index.ts'
import { omitNulls } from '../../objects/put-body.ts'
import { requirePermissions } from '../../permissions/require-permissions.ts'
import { getCurrentRealm } from '../common/current-realm.ts'
import type { Query } from '../common/resource.ts'
import { parseChoices, parseEventRange } from './event-query.ts'

/** Lists the admin events of the realm that match a query. Throws invalid. */
export async function listAdminEvents(context: Context, query: Query): Promise<Representation[]> {
  requirePermissions(context, 'view-events')
  const events = await selectAdminEvents(context.tx, context.realm.number, parseAdminEventFilter(query))
  return events.map((event) => toAdminEvent(context.realm.id, event))
}

/** Deletes all admin events of the realm. */
export async function clearAdminEvents(context: WriteContext): Promise<void> {
  requirePermissions(context, 'manage-events')
  await deleteAdminEvents(context.tx, context.realm.number)
}

function toAdminEvent(realmId: string, event: StoredAdminEvent): Representation {
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

function parseAdminEventFilter(query: Query): AdminEventFilter {
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

/** Lists the user events of the realm that match a query. Throws invalid. */
export async function listUserEvents(context: Context, query: Query): Promise<Representation[]> {
  requirePermissions(context, 'view-events')
  const types = parseChoices('type', query.type, USER_EVENT_TYPES)
  const events = await selectUserEvents(context.tx, context.realm.number, {
    ...(types && { types }),
    ...(query.client !== undefined && { client: String(query.client) }),
    ...(query.user !== undefined && { user: String(query.user) }),
    ...(query.ipAddress !== undefined && { address: String(query.ipAddress) }),
    ...parseEventRange(query),
  })
  return events.map((event) => toUserEvent(context.realm.id, event))
}

/** Deletes all user events of the realm. */
export async function clearUserEvents(context: WriteContext): Promise<void> {
  requirePermissions(context, 'manage-events')
  await deleteUserEvents(context.tx, context.realm.number)
}

function toUserEvent(realmId: string, event: StoredUserEvent): Representation {
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

/** Keycloak: the event listeners that a realm can have. */
export const EVENT_LISTENERS = ['email', 'jboss-logging', 'workflow-event-listener']

/** Keycloak: of these, the listener that every realm has, and that the admin console does not offer. */
export const GLOBAL_LISTENER = 'workflow-event-listener'

/** Returns the event settings of the realm. Keycloak: an empty list of types means all default types. */
export async function getEventsConfig(context: Context): Promise<Representation> {
  requirePermissions(context, 'view-events')
  const { representation } = await getCurrentRealm(context)
  const { eventsEnabled, eventsExpiration, eventsListeners, adminEventsEnabled } = representation
  const types = readTexts(representation.enabledEventTypes)
  return {
    eventsEnabled: eventsEnabled === true,
    ...(eventsExpiration && { eventsExpiration }),
    eventsListeners: eventsListeners ?? [],
    enabledEventTypes: types.length ? types : [...DEFAULT_EVENT_TYPES],
    adminEventsEnabled: adminEventsEnabled === true,
    adminEventsDetailsEnabled: representation.adminEventsDetailsEnabled === true,
  }
}

/** Updates the event settings. Keycloak: `eventsEnabled` and `eventsExpiration` are reset if the body does not declare them. */
export async function replaceEventsConfig(context: WriteContext, body: Representation): Promise<void> {
  requirePermissions(context, 'manage-events')
  const { eventsEnabled = false, eventsExpiration = null, ...fields } = omitNulls(body)
  if (readTexts(fields.eventsListeners).some((listener) => !EVENT_LISTENERS.includes(listener)))
    throw failure('invalid', 'Unknown event listener', { form: 'error' })
  const live = await getCurrentRealm(context)
  const set: FlatFields = { eventsEnabled, eventsExpiration, ...flatten(kinds.realm, fields) }
  await writers.realm.update(context, [{ live, set }])
  describeAdminEvent(context, { representation: { eventsEnabled, ...omitNulls(body) } })
}
