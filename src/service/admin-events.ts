// Admin events: what event viewers are told of each change, written in its transaction.
import { kinds } from '../kinds/index.ts'
import type { Kind, KindName } from '../kinds/kind.ts'
import { masked } from '../kinds/masked.ts'
import { type AdminEvent, type EventRealm, insertAdminEvents } from '../store/admin-events.ts'
import type { JournalEntry } from '../store/journal.ts'
import type { Context, WriteContext } from './context.ts'
import type { LiveObject } from './live.ts'

export type { AdminEvent } from '../store/admin-events.ts'

/** Says more of the operation's event than its description can: what an object that is gone was called, for example. */
export function describeEvent(context: WriteContext, said: Partial<AdminEvent>): void {
  Object.assign(context.event, said)
}

/** Says that the operation has changed nothing, of which no event tells. */
export function describeNothing(context: WriteContext): void {
  context.event.none = true
}

/** Whether the realm keeps admin events, or may do so from this transaction on. */
export function keepsEvents({ realm, entries }: WriteContext): boolean {
  return realm.adminEventsEnabled || entries.some(({ kind }) => kind === 'realm')
}

/** Notes the event of an operation, with what the work says of it. */
export function noteEvent(context: WriteContext, event: AdminEvent): void {
  const { none, ...said } = context.event
  if (!none) context.events.push({ ...event, ...said })
}

/** What happened to one object. */
export interface ObjectChange {
  readonly operation: JournalEntry['operation']
  /** As it is then; deleted, as it was. */
  readonly object: LiveObject
}

const OPERATIONS = { create: 'CREATE', update: 'UPDATE', delete: 'DELETE' } as const

/** Notes an event for each object that was changed otherwise than by an operation on it. */
export function noteChanges(context: WriteContext, changes: readonly ObjectChange[]): void {
  if (!keepsEvents(context)) return
  for (const { operation, object } of changes) {
    const kind = kinds[object.kind]
    if (kind.silent) continue
    const id = { [kind.idField]: object.id }
    const representation =
      operation === 'delete'
        ? { ...id, [kind.naturalKey]: object.key.at(-1)! }
        : masked(kind, { ...object.representation, ...id })
    context.events.push({
      operationType: OPERATIONS[operation],
      resourceType: typeOf(kind, object.parent?.kind),
      ...pathOf(kind, object),
      representation,
    })
  }
}

/** The type of the objects of a kind that belong to an object of that kind, or to the realm itself. */
export function typeOf({ events }: Kind, parent: KindName | undefined): AdminEvent['resourceType'] {
  return (parent && events.typeOf?.[parent]) ?? events.type
}

function pathOf({ events }: Kind, { id, key, parent }: LiveObject): Partial<AdminEvent> {
  const path = events.paths[parent?.kind ?? 'realm']
  if (path === undefined) return {}
  const values: Record<string, string | undefined> = {
    id,
    name: key.at(-1),
    parentId: parent?.id,
    parentName: key.at(-2),
  }
  return { resourcePath: path.replace(/\{(\w+)\}/g, (_, name: string) => values[name]!) }
}

/** Keycloak: the beginning and the end of a realm are told in the realm of whoever caused it. One statement. */
export async function tellOwnRealm(context: Context, event: AdminEvent): Promise<void> {
  const { realm } = context.actor
  if (realm !== undefined) await writeEvents(context, [event], { name: realm })
}

/** Writes events of the context's actor. One statement per chunk. */
export async function writeEvents(
  { tx, realm, now, actor }: Context,
  events: readonly AdminEvent[],
  where: EventRealm = realm,
): Promise<void> {
  const { source } = actor
  const told = source ? events.map((event) => ({ ...event, details: { source, ...event.details } })) : events
  await insertAdminEvents(tx, where, now, actor, told)
}
