// Events of people and clients: noted where it happens, written with what they tell of.
import { toErrorType, DEFAULT_EVENT_TYPES } from '../../kinds/user-events.ts'
import { insertUserEvents, type NewUserEvent } from '../../store/journal/user-events.ts'
import type { Context, UserEvent } from '../context/context.ts'
import type { RealmUserEvent } from '../context/service.ts'
import { sendEventEmails } from './event-emails.ts'

/** Keycloak: the listener that writes what happens into the log. */
const LOG = 'jboss-logging'

/** Anybody may send a form, and much of it stands in the event: of each text so much is kept. */
const TEXT_LIMIT = 1000

/** Notes an event; it is written at the end of the work. */
export function recordUserEvent(context: { readonly userEvents: UserEvent[] }, event: UserEvent): void {
  context.userEvents.push(event)
}

/**
 * Writes those of the events that the realm keeps, and gives those that belong into the log, to be told when they are
 * committed. One statement, or none, besides those of mails.
 */
export async function writeUserEvents(context: Context, noted: readonly UserEvent[]): Promise<readonly RealmUserEvent[]> {
  const { tx, realm, now, actor } = context
  const events = noted.map((event) => clipped({ address: actor.address, ...event, type: typeOf(event) }))
  const types = realm.enabledEventTypes.length ? realm.enabledEventTypes : DEFAULT_EVENT_TYPES
  const wanted = realm.eventsEnabled ? events.filter(({ type }) => types.includes(type)) : []
  if (wanted.length) await insertUserEvents(tx, realm.number, { at: now, events: wanted })
  await sendEventEmails(context, events)
  const { id, name } = realm
  return realm.eventsListeners.includes(LOG) ? events.map((event) => ({ ...event, realm: { id, name } })) : []
}

function typeOf({ type, error }: UserEvent): string {
  return error === undefined ? type : toErrorType(type)
}

function clipped({ details, ...event }: NewUserEvent): NewUserEvent {
  const told = clip(details ?? {})
  return { ...clip(event), ...(Object.keys(told).length > 0 && { details: told }) }
}

function clip<Texts extends object>(texts: Texts): Texts {
  const given = Object.entries(texts).filter(([, text]) => text !== undefined)
  return Object.fromEntries(given.map(([name, text]: [string, string]) => [name, kept(text)])) as Texts
}

/** What the store can keep of a text that anybody sent. */
function kept(text: string): string {
  return text.slice(0, TEXT_LIMIT).toWellFormed().replaceAll('\0', '\ufffd')
}
