// The admin event of an operation, from its description, the request and what the work said of it.
import type { EventOperation, EventType } from '../kinds/admin-events.ts'
import type { Kind, Representation } from '../kinds/kind.ts'
import { masked } from '../kinds/masked.ts'
import { keepsEvents, noteEvent } from '../service/admin-events.ts'
import type { WriteContext } from '../service/context.ts'
import type { Call, Method } from './operation.ts'

/**
 * What an operation that changes something leaves in the realm's admin events: what it is about, and what was done where its
 * method does not say so. `false`: nothing, as the reference server has it.
 */
export type EventFact = EventType | SpecialEvent | false

interface SpecialEvent {
  readonly type: EventType
  readonly operation?: EventOperation
  /** The path of a creation is that of the request, without the new object. */
  readonly asCalled?: true
}

/** What only reads leaves no event. */
const BY_METHOD: Readonly<Record<Exclude<Method, 'GET'>, EventOperation>> = {
  POST: 'CREATE',
  PUT: 'UPDATE',
  DELETE: 'DELETE',
}

/** Notes the event of a call whose work is done. `created`: what a new object is called in its address. */
export function recordEvent(context: WriteContext, call: Call, created?: string): void {
  const { event, method, body } = call.operation
  if (!event || !keepsEvents(context)) return
  const {
    type,
    operation = BY_METHOD[method as Exclude<Method, 'GET'>],
    asCalled,
  }: SpecialEvent = typeof event === 'string' ? { type: event } : event
  const path = pathOf(call, asCalled ? undefined : created)
  noteEvent(context, {
    operationType: operation,
    resourceType: type,
    ...(path && { resourcePath: path }),
    ...(body?.kind && { representation: representationOf(context, body.kind, call, created) }),
  })
}

/** The address below the realm, in the clear. */
function pathOf({ operation, params }: Call, created?: string): string {
  const path = operation.path.replace('/admin/realms/{realm}', '').replace(/\{([^}]+)\}/g, (_, name) => params[name]!)
  return (created === undefined ? path : `${path}/${created}`).slice(1)
}

/** The body, as far as its kind knows what in it is secret. */
function representationOf(context: WriteContext, kind: Kind, { body }: Call, created?: string): unknown {
  if (Array.isArray(body)) return body.map((one) => masked(kind, one as Representation))
  const isMade = ({ operation, kind: name }: { operation: string; kind: string }) =>
    operation === 'create' && name === kind.name
  const made = created !== undefined && !kind.events.withoutId && [...context.entries, ...context.people].find(isMade)
  return masked(kind, { ...(body as Representation), ...(made && { [kind.idField]: made.object }) })
}
