// Records the admin event of an operation, from its description, the request and the work done.
import type { EventOperation } from '../kinds/admin-events.ts'
import type { Representation } from '../kinds/json.ts'
import type { Kind } from '../kinds/kind.ts'
import { maskRepresentation } from '../kinds/mask-representation.ts'
import type { WriteContext } from '../service/context/context.ts'
import { hasAdminEvents, recordAdminEvent } from '../service/journal/admin-events.ts'
import type { Call, Method, SpecialEvent, UntaggedOperation } from './operation.ts'

/** The operation type of an admin event by method. */
const EVENT_OPERATIONS: Readonly<Record<Exclude<Method, 'GET'>, EventOperation>> = {
  POST: 'CREATE',
  PUT: 'UPDATE',
  PATCH: 'UPDATE',
  DELETE: 'DELETE',
}

/** Returns the event that an operation describes, or undefined if it has none. */
export function toEvent({ event, method }: UntaggedOperation): Required<SpecialEvent> | undefined {
  if (!event) return undefined
  const special: SpecialEvent = typeof event === 'string' ? { type: event } : event
  return { operation: EVENT_OPERATIONS[method as Exclude<Method, 'GET'>], asCalled: false, ...special }
}

/** Records the event of a call after its work. `created` is the last path segment of a created object. */
export function recordEvent(context: WriteContext, call: Call, created?: string): void {
  const event = toEvent(call.operation)
  if (!event || !hasAdminEvents(context)) return
  const path = toResourcePath(call, event.asCalled ? undefined : created)
  const { kind } = call.operation.body ?? {}
  recordAdminEvent(context, {
    operationType: event.operation,
    resourceType: event.type,
    ...(path && { resourcePath: path }),
    ...(kind && {
      representation: toEventRepresentation(
        call,
        kind,
        created === undefined ? undefined : findCreated(context, kind, created),
      ),
    }),
  })
}

/** Returns the path below the realm, decoded. */
function toResourcePath({ operation, params }: Call, created?: string): string {
  const path = operation.path.replace('/admin/realms/{realm}', '').replace(/\{([^}]+)\}/g, (_, name) => params[name]!)
  return (created === undefined ? path : `${path}/${created}`).slice(1)
}

/** Returns the id of the created object. `created` is its id, or only the last segment of its path. */
function findCreated({ entries, userEntries }: WriteContext, kind: Kind, created: string): string | undefined {
  const creations = [...entries, ...userEntries].filter(({ operation }) => operation === 'create')
  return creations.find(({ kind: name, object }) => name === kind.name || object === created)?.object
}

/** Returns the body with masked secrets, and with the id of the object if it was created. */
function toEventRepresentation({ body }: Call, kind: Kind, created: string | undefined): unknown {
  if (Array.isArray(body)) return body.map((element: Representation) => maskRepresentation(kind, element))
  const id = kind.events.omitsId ? undefined : created
  return maskRepresentation(kind, { ...(body as Representation), ...(id !== undefined && { [kind.idField]: id }) })
}
