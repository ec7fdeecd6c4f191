// Notifications: what is applied, refused, pending approval or drifted, for the receivers in the settings, such as a channel of Slack.
// They are sent from the outbox.
import { MASTER } from '../../kinds/built-in/index.ts'
import { signWebhook } from '../../lib/webhook-signature.ts'
import { findRealm } from '../../store/realms.ts'
import type { Context } from '../context/context.ts'
import type { NotificationReceiver, NotifiedEvent } from '../context/notification-receiver.ts'
import type { Service } from '../context/service.ts'
import { matchesPattern } from '../context/source-permissions.ts'
import { enqueueMessages, type WebhookMessage } from './outbox.ts'

/** A notification for all receivers. */
export interface Notification {
  readonly event: NotifiedEvent
  /** The realms that it concerns; empty: they are unknown. */
  readonly realms: readonly string[]
  readonly sources: readonly string[]
  /** The lines of its text. */
  readonly lines: readonly string[]
  /** Further texts for templates. */
  readonly texts?: Readonly<Partial<Record<'revision' | 'author' | 'summary' | 'plan', string>>>
  /** The path of its page in the console. */
  readonly page: readonly string[]
  /** The members of its JSON, besides the event, time, text and URL. */
  readonly content: object
}

/** Adds a notification to the outbox, for each receiver that it concerns. One statement, or none. */
export async function enqueueNotification(
  { notificationReceivers: receivers }: Pick<Service, 'notificationReceivers'>,
  context: Context,
  notification: Notification,
): Promise<void> {
  const concerned = receivers.filter((receiver) => isConcerned(receiver, notification))
  if (concerned.length)
    await enqueueMessages(context, ...concerned.map((receiver) => createMessage(receiver, notification, context.now)))
}

/** Returns the context with the master realm, for messages that outlive the realm of the context. One statement. */
export async function withMasterRealm<T extends Context>(context: T): Promise<T> {
  return { ...context, realm: (await findRealm(context.tx, MASTER))! }
}

function isConcerned(
  { events, realms, sources }: NotificationReceiver,
  notification: Pick<Notification, 'event' | 'realms' | 'sources'>,
): boolean {
  const matches = (patterns: readonly string[] | undefined, names: readonly string[]) =>
    !patterns || !names.length || names.some((name) => matchesPattern(name, patterns))
  return (
    events.includes(notification.event) &&
    matches(realms, notification.realms) &&
    matches(sources, notification.sources)
  )
}

function createMessage(receiver: NotificationReceiver, notification: Notification, now: Date): WebhookMessage {
  const { url, secret, format, consoleUrl } = receiver
  const { event, content, page } = notification
  const pageUrl = consoleUrl && [consoleUrl, ...page.map(encodeURIComponent)].join('/')
  const text = renderText(receiver, notification, pageUrl)
  const fields = { event, at: now.toISOString(), text, ...(pageUrl && { url: pageUrl }), ...content }
  const body = JSON.stringify(format === 'slack' ? { text } : fields)
  const signature = secret && signWebhook(body, secret)
  return { kind: 'webhook', url, event, body, ...(signature && { signature }) }
}

function renderText(
  { format, templates }: NotificationReceiver,
  { event, realms, sources, lines, texts }: Notification,
  pageUrl: string | undefined,
): string {
  const escapeText = format === 'slack' ? escapeForSlack : (text: string) => text
  const link = pageUrl && (format === 'slack' ? `<${pageUrl}|Open in the console>` : pageUrl)
  const text = [...lines.map(escapeText), ...(link ? [link] : [])].join('\n')
  const template = templates[event]
  if (!template) return text
  const values = { ...texts, event, realm: realms.join(', '), source: sources.join(', '), url: pageUrl }
  return template
    .map((part) => {
      if (typeof part === 'string') return part
      return part.name === 'text' ? text : escapeText(values[part.name] ?? '')
    })
    .join('')
}

/** Escapes the control characters of Slack's markup. */
const escapeForSlack = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
