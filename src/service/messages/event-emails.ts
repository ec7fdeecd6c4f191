// Keycloak: the event listener `email`, which sends users emails about events of their account.
import { type Representation, readTextListMap } from '../../kinds/json.ts'
import type { NewUserEvent } from '../../store/journal/user-events.ts'
import type { Context } from '../context/context.ts'
import type { RealmRow } from '../context/store-types.ts'
import { listObjects } from '../objects/live-objects.ts'
import type { Email, EmailTemplate } from './email-templates.ts'
import { enqueueMessages } from './outbox.ts'

const LISTENER = 'email'

/** The emails by type of event. */
const templatesByEvent: Readonly<Record<string, EmailTemplate>> = {
  LOGIN_ERROR: 'eventLoginError',
  REMOVE_CREDENTIAL: 'eventRemoveCredential',
  REMOVE_TOTP: 'eventRemoveTotp',
  UPDATE_CREDENTIAL: 'eventUpdateCredential',
  UPDATE_PASSWORD: 'eventUpdatePassword',
  UPDATE_TOTP: 'eventUpdateTotp',
  USER_DISABLED_BY_PERMANENT_LOCKOUT: 'eventUserDisabledByPermanentLockout',
  USER_DISABLED_BY_TEMPORARY_LOCKOUT: 'eventUserDisabledByTemporaryLockout',
}

/** Whether the realm sends emails about events. */
export const hasEventEmails = ({ eventsListeners }: RealmRow): boolean => eventsListeners.includes(LISTENER)

/** Sends emails about events, if the realm does so, to users with a verified email address. Two statements at most. */
export async function sendEventEmails(context: Context, events: readonly NewUserEvent[]): Promise<void> {
  if (!hasEventEmails(context.realm)) return
  const withEmail = events.flatMap((event) => {
    const template = templatesByEvent[event.type]
    return event.user !== undefined && template ? [{ event, user: event.user, template }] : []
  })
  if (!withEmail.length) return
  const users = await listObjects(context, 'user', { ids: withEmail.map(({ user }) => user) })
  const emails = withEmail.flatMap(({ event, user, template }): Email[] => {
    const recipient = findRecipient(users.find(({ id }) => id === user)?.representation)
    return recipient ? [{ kind: 'mail', template, ...recipient, values: toValues(event, context.now) }] : []
  })
  if (emails.length) await enqueueMessages(context, ...emails)
}

/** Returns the verified email address and the language of a user; undefined if there is no such address. */
function findRecipient(user: Representation | undefined): Pick<Email, 'to' | 'locale'> | undefined {
  if (!user?.email || user.emailVerified !== true) return undefined
  const [locale] = readTextListMap(user.attributes).locale ?? []
  return { to: String(user.email), locale }
}

function toValues({ address = '', details }: NewUserEvent, now: Date): NonNullable<Email['values']> {
  return { date: now.toISOString(), address, credential: details?.credential_type ?? '' }
}
