// The admin event of an operation, from its description, the request and what the work said of it.
import type { EventOperation, EventType } from '../kinds/admin-events.ts'
import type { Kind, Representation } from '../kinds/kind.ts'
import { masked } from '../kinds/masked.ts'
import { keepsEvents, noteEvent } from '../service/admin-events.ts'
import type { WriteContext } from '../service/context.ts'
import type { Call, Method, Untagged } from './operation.ts'

/**
 * What an operation that changes something leaves in the realm's admin events: what it is about, and what was done where its
 * method does not say so. `false`: nothing, as the reference server has it.
 */
export type EventFact = EventType | SpecialEvent | false

interface SpecialEvent {
  readonly type: EventType
  readonly operation?: EventOperation
  /** The path of a creation is that of the request, without the new object. */
  readonly asCalled?: boolean
}

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
  if (!event || !keepsEvents(context)) return
  const path = pathOf(call, event.asCalled ? undefined : created)
  const { kind } = call.operation.body ?? {}
  noteEvent(context, {
    operationType: event.operation,
    resourceType: event.type,
    ...(path && { resourcePath: path }),
    ...(kind && { representation: representationOf(context, kind, call, created) }),
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
