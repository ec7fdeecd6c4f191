// What REST does with admin events: find them, forget them.
import { EVENT_OPERATIONS, EVENT_TYPES } from '../../kinds/admin-events.ts'
import type { Representation } from '../../kinds/kind.ts'
import { deleteAdminEvents, type EventFilter, type StoredEvent, selectAdminEvents } from '../../store/admin-events.ts'
import { demand } from '../administrators.ts'
import type { Context, WriteContext } from '../context.ts'
import { failure } from '../errors.ts'
import type { Query } from './resource.ts'

const MAX = 100
const DAY = 24 * 60 * 60 * 1000

/** The events of the realm that the query asks for. Throws malformed. */
export async function listAdminEvents(context: Context, query: Query): Promise<Representation[]> {
  demand(context, 'view-events')
  const found = await selectAdminEvents(context.tx, context.realm.number, filterOf(query))
  return found.map((event) => show(context.realm.id, event))
}

/** Forgets all events of the realm. */
export async function forgetAdminEvents(context: WriteContext): Promise<void> {
  demand(context, 'manage-events')
  await deleteAdminEvents(context.tx, context.realm.number)
}

function show(realmId: string, event: StoredEvent): Representation {
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

function filterOf(query: Query): EventFilter {
  const { first, max, direction } = query
  const text = (name: string) => (query[name] ? { [name]: String(query[name]) } : {})
  const from = momentOf('dateFrom', query.dateFrom)
  const to = momentOf('dateTo', query.dateTo)
  if (direction && direction !== 'asc' && direction !== 'desc')
    throw failure('malformed', 'Invalid value for sortDirection, expected value is asc or desc')
  return {
    ...among('operationTypes', query.operationTypes, EVENT_OPERATIONS),
    ...among('resourceTypes', query.resourceTypes, EVENT_TYPES),
    ...text('resourcePath'),
    ...text('authRealm'),
    ...text('authClient'),
    ...text('authUser'),
    ...text('authIpAddress'),
    ...(from && { from: from.at }),
    ...(to && { until: new Date(to.at.getTime() + to.length) }),
    oldestFirst: direction === 'asc',
    first: typeof first === 'number' && first > 0 ? first : 0,
    max: typeof max === 'number' && max >= 0 ? max : MAX,
  }
}

function among(name: string, given: unknown, known: readonly string[]): Partial<EventFilter> {
  const values = (given ?? []) as string[]
  const unknown = values.find((value) => !known.includes(value))
  if (unknown !== undefined) throw failure('malformed', `Invalid value for '${name}': ${unknown}`)
  return values.length ? { [name]: values } : {}
}

/** Keycloak: a day or a number of milliseconds. What is meant lasts as long as it is written. */
function momentOf(name: string, given: unknown): { at: Date; length: number } | undefined {
  if (!given) return undefined
  const text = String(given)
  if (/^\d{1,15}$/.test(text)) return { at: new Date(Number(text)), length: 1 }
  const at = new Date(/^\d{4}-\d{2}-\d{2}$/.test(text) ? text : Number.NaN)
  // A day that does not exist is taken for one that does.
  if (Number.isNaN(at.getTime()) || !at.toISOString().startsWith(text))
    throw failure('malformed', `Invalid value for '${name}', expected format is yyyy-MM-dd or an Epoch timestamp`)
  return { at, length: DAY }
}
