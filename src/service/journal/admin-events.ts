import { type AdminEvent, type EventRealm, insertAdminEvents } from '../../store/journal/admin-events.ts'
import type { Context, WriteContext } from '../context/context.ts'

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
  await insertAdminEvents(tx, where, { at: now, actor, events: told })
}
