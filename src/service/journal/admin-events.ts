import { type AdminEvent, type AdminEventRealm, insertAdminEvents } from '../../store/journal/admin-events.ts'
import type { Context, WriteContext } from '../context/context.ts'
import { sendWrite } from '../context/send-write.ts'
import { recordAuditEvents, toAuditedAdminEvents } from './audit-trail.ts'

/** Sets details of the operation's admin event that its description cannot know, such as the name of a deleted object. */
export function describeAdminEvent(context: WriteContext, details: Partial<AdminEvent>): void {
  Object.assign(context.adminEvent, details)
}

/** Omits the admin event of the operation, which has changed nothing. */
export function omitAdminEvent(context: WriteContext): void {
  context.adminEvent.none = true
}

/** Whether the realm stores admin events, or might do so after this transaction, or the audit trail contains them. */
export function hasAdminEvents({ realm, entries, auditSinks }: WriteContext): boolean {
  return auditSinks.length > 0 || realm.adminEventsEnabled || entries.some(({ kind }) => kind === 'realm')
}

/** Records the admin event of an operation, with the details of `describeAdminEvent`. It is written with the journal. */
export function recordAdminEvent(context: WriteContext, event: AdminEvent): void {
  const { none, ...details } = context.adminEvent
  if (!none) context.adminEvents.push({ ...event, ...details })
}

/** Sends the insert of an event into the realm of the actor. Keycloak: that of the creation or deletion of a realm. One statement. */
export async function recordEventInOwnRealm(context: Context, event: AdminEvent): Promise<void> {
  const { realm } = context.actor
  if (realm === undefined) return
  await sendWrite(context, insertEvents(context, [event], { name: realm }))
  await sendWrite(context, recordAuditEvents(context, toAuditedAdminEvents([event]), realm))
}

/** Writes events of the actor of the context. One statement per chunk. */
export async function insertEvents(
  { tx, realm, now, actor }: Context,
  events: readonly AdminEvent[],
  eventRealm: AdminEventRealm = realm,
): Promise<void> {
  const { source } = actor
  const complete = source ? events.map((event) => ({ ...event, details: { source, ...event.details } })) : events
  await insertAdminEvents(tx, eventRealm, { at: now, actor, events: complete })
}
