// The admin event of an operation, from its description, the request and what the work said of it.
import type { EventOperation } from '../kinds/admin-events.ts'
import type { Representation } from '../kinds/json.ts'
import type { Kind } from '../kinds/kind.ts'
import { maskRepresentation } from '../kinds/mask-representation.ts'
import type { WriteContext } from '../service/context/context.ts'
import { hasAdminEvents, recordAdminEvent } from '../service/journal/admin-events.ts'
import type { Call, Method, SpecialEvent, Untagged } from './operation.ts'

/** What only reads leaves no event. */
const BY_METHOD: Readonly<Record<Exclude<Method, 'GET'>, EventOperation>> = {
  POST: 'CREATE',
  PUT: 'UPDATE',
  DELETE: 'DELETE',
}

/** What the description of an operation says of its event; undefined: it leaves none. */
export function eventOf({ event, method }: Untagged): Required<SpecialEvent> | undefined {
  if (!event) return undefined
  const special: SpecialEvent = typeof event === 'string' ? { type: event } : event
  return { operation: BY_METHOD[method as Exclude<Method, 'GET'>], asCalled: false, ...special }
}

/** Notes the event of a call whose work is done. `created`: what a new object is called in its address. */
export function recordEvent(context: WriteContext, call: Call, created?: string): void {
  const event = eventOf(call.operation)
  if (!event || !hasAdminEvents(context)) return
  const path = pathOf(call, event.asCalled ? undefined : created)
  const { kind } = call.operation.body ?? {}
  recordAdminEvent(context, {
    operationType: event.operation,
    resourceType: event.type,
    ...(path && { resourcePath: path }),
    ...(kind && { representation: representationOf(call, kind, created === undefined ? [] : madeIn(context)) }),
  })
}

/** The address below the realm, in the clear. */
function pathOf({ operation, params }: Call, created?: string): string {
  const path = operation.path.replace('/admin/realms/{realm}', '').replace(/\{([^}]+)\}/g, (_, name) => params[name]!)
  return (created === undefined ? path : `${path}/${created}`).slice(1)
}

/** Returns the creations that the work has noted in the journal. */
function madeIn({ entries, userEntries: people }: WriteContext) {
  return [...entries, ...people].filter(({ operation }) => operation === 'create')
}

/** The body, as far as its kind knows what in it is secret, with the id of the object if it was made. */
function representationOf({ body }: Call, kind: Kind, creations: ReturnType<typeof madeIn>): unknown {
  if (Array.isArray(body)) return body.map((one) => maskRepresentation(kind, one as Representation))
  const made = kind.events.omitsId ? undefined : creations.find(({ kind: name }) => name === kind.name)
  return maskRepresentation(kind, { ...(body as Representation), ...(made && { [kind.idField]: made.object }) })
}
