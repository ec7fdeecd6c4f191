// Keycloak: the event listener "email". It tells people by mail what happened to their account.
import type { Representation } from '../../kinds/json.ts'
import type { NewUserEvent } from '../../store/journal/user-events.ts'
import type { Context } from '../context/context.ts'
import type { RealmRow } from '../context/store-types.ts'
import { listObjects } from '../objects/live-objects.ts'
import type { Email, EmailTemplate } from './email-templates.ts'
import { enqueueMessages } from './outbox.ts'

const LISTENER = 'email'

/** What people are told of, by type of event. */
const told: Readonly<Record<string, EmailTemplate>> = {
  LOGIN_ERROR: 'eventLoginError',
  REMOVE_CREDENTIAL: 'eventRemoveCredential',
  REMOVE_TOTP: 'eventRemoveTotp',
  UPDATE_CREDENTIAL: 'eventUpdateCredential',
  UPDATE_PASSWORD: 'eventUpdatePassword',
  UPDATE_TOTP: 'eventUpdateTotp',
  USER_DISABLED_BY_PERMANENT_LOCKOUT: 'eventUserDisabledByPermanentLockout',
  USER_DISABLED_BY_TEMPORARY_LOCKOUT: 'eventUserDisabledByTemporaryLockout',
}

/** Whether the realm has people told by mail. */
export const hasEventEmails = ({ eventsListeners }: RealmRow): boolean => eventsListeners.includes(LISTENER)

/** Tells people of events, where the realm wants it and their mail address is known to be theirs. Two statements at most. */
export async function sendEventEmails(context: Context, events: readonly NewUserEvent[]): Promise<void> {
  if (!hasEventEmails(context.realm)) return
  const about = events.filter(({ type, user }) => user !== undefined && Object.hasOwn(told, type))
  if (!about.length) return
  const found = await listObjects(context, 'user', { ids: about.map(({ user }) => user!) })
  const people = new Map(found.map(({ id, representation }) => [id, representation]))
  const mails = about.flatMap((event) => mailAbout(event, people.get(event.user!), context.now))
  if (mails.length) await enqueueMessages(context, ...mails)
}

function mailAbout({ type, address, details }: NewUserEvent, person: Representation | undefined, now: Date): Email[] {
  if (!person?.email || person.emailVerified !== true) return []
  const [locale] = ((person.attributes as Representation | undefined)?.locale ?? []) as string[]
  const values = { date: now.toISOString(), address: address ?? '', credential: details?.credential_type ?? '' }
  return [{ kind: 'mail', to: String(person.email), template: told[type]!, locale, values }]
}
