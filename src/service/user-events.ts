// Events of people and clients: noted where it happens, written with what they tell of.
import { failed, USUAL_EVENT_TYPES, type UserEventType } from '../kinds/user-events.ts'
import { insertUserEvents, type NewUserEvent } from '../store/user-events.ts'
import type { Context } from './context.ts'
import { mailEvents } from './event-mails.ts'
import type { RealmRow } from './service.ts'

/** What happened; with an error, what was tried. */
export interface UserEvent {
  readonly type: UserEventType
  /** As it called itself, whether there is such a client or not. */
  readonly client?: string | undefined
  /** Ids. */
  readonly user?: string | undefined
  readonly session?: string | undefined
  /** The network address. Absent: that of the actor. */
  readonly address?: string | undefined
  /** Keycloak: a word for programs, such as `user_not_found`. */
  readonly error?: string | undefined
  readonly details?: Readonly<Record<string, string | undefined>>
}

/** An event in its realm, as listeners are told of it. */
export interface ToldEvent extends NewUserEvent {
  readonly realm: Pick<RealmRow, 'id' | 'name'>
}

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
export async function writeUserEvents(context: Context, noted: readonly UserEvent[]): Promise<readonly ToldEvent[]> {
  const { tx, realm, now, actor } = context
  const events = noted.map((event) => clipped({ address: actor.address, ...event, type: typeOf(event) }))
  const types = realm.enabledEventTypes.length ? realm.enabledEventTypes : USUAL_EVENT_TYPES
  const wanted = realm.eventsEnabled ? events.filter(({ type }) => types.includes(type)) : []
  if (wanted.length) await insertUserEvents(tx, realm.number, now, wanted)
  await mailEvents(context, events)
  const { id, name } = realm
  return realm.eventsListeners.includes(LOG) ? events.map((event) => ({ ...event, realm: { id, name } })) : []
}

function typeOf({ type, error }: UserEvent): string {
  return error === undefined ? type : failed(type)
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
