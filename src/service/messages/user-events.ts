// User events: recorded during a call, and written at its end.
import { DEFAULT_EVENT_TYPES, toErrorType } from '../../kinds/user-events.ts'
import { insertUserEvents, type NewUserEvent } from '../../store/journal/user-events.ts'
import type { Context, UserEvent } from '../context/context.ts'
import type { RealmUserEvent } from '../context/service.ts'
import { recordAuditEvents, toAuditedUserEvents } from '../journal/audit-trail.ts'
import { sendEventEmails } from './event-emails.ts'

/** Keycloak: the event listener that writes events into the log. */
const LOG_LISTENER = 'jboss-logging'

/** Maximum length of each text of an event, since the texts come from requests that need no authentication. */
const MAX_TEXT_LENGTH = 1000

/** Records an event, which is written at the end of the call. */
export function recordUserEvent(context: { readonly userEvents: UserEvent[] }, event: UserEvent): void {
  context.userEvents.push(event)
}

/**
 * Writes those of the events that the realm stores. Returns those that belong in the log, for the time after the commit.
 * One statement, or none, besides those for emails and the audit trail.
 */
export async function writeUserEvents(
  context: Context,
  recorded: readonly UserEvent[],
): Promise<readonly RealmUserEvent[]> {
  const { tx, realm, now, actor } = context
  const events = recorded.map((event) => clipEvent({ address: actor.address, ...event, type: getType(event) }))
  const storedTypes = realm.enabledEventTypes.length ? realm.enabledEventTypes : DEFAULT_EVENT_TYPES
  const stored = realm.eventsEnabled ? events.filter(({ type }) => storedTypes.includes(type)) : []
  if (stored.length) await insertUserEvents(tx, realm.number, { at: now, events: stored })
  await recordAuditEvents(context, toAuditedUserEvents(events))
  await sendEventEmails(context, events)
  const { id, name } = realm
  return realm.eventsListeners.includes(LOG_LISTENER) ? events.map((event) => ({ ...event, realm: { id, name } })) : []
}

function getType({ type, error }: UserEvent): string {
  return error === undefined ? type : toErrorType(type)
}

/** Returns the event with texts that the store accepts, without undefined ones. */
function clipEvent({ type, details = {}, ...texts }: NewUserEvent): NewUserEvent {
  const clippedDetails = clipTexts(details)
  return {
    type: clip(type),
    ...clipTexts(texts),
    ...(Object.keys(clippedDetails).length > 0 && { details: clippedDetails }),
  }
}

function clipTexts(texts: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(texts).flatMap(([name, text]) => (text === undefined ? [] : [[name, clip(text)]])),
  )
}

/** Limits the length of a text, and replaces characters that the store does not accept. */
function clip(text: string): string {
  return text.slice(0, MAX_TEXT_LENGTH).toWellFormed().replaceAll('\0', '\ufffd')
}
