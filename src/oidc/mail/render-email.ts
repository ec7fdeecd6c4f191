// Renders emails: subject, text and HTML in the language of the recipient.
import { randomUUID } from 'node:crypto'
import { getEmailTextKeys } from '../../kinds/localization.ts'
import { escapeHtml } from '../../lib/html.ts'
import {
  type Email,
  type EmailValue,
  emailTemplates,
  subjectValues,
  type WorkflowNotification,
} from '../../service/messages/email-templates.ts'
import type { EmailContent } from '../../service/messages/smtp.ts'
import type { Translator } from '../pages/view.ts'
import { insertLink } from './insert-link.ts'

/** The language, the texts and the link of an email. */
export interface EmailRendering {
  readonly language: string
  readonly text: Translator
  /** The display name of the realm. */
  readonly realm: string
  /** The address of the link. */
  readonly link?: string
}

/** Renders an email. */
export function renderEmail(
  email: Pick<Email, 'template' | 'values' | 'actions' | 'link' | 'notification'>,
  rendering: EmailRendering,
): EmailContent {
  const { template, values = {}, actions, link: actionLink, notification } = email
  const { language, text, realm, link } = rendering
  if (notification) return renderNotification(email, notification, rendering)
  const { date } = values
  const lifespan = actionLink ? actionLink.token.exp - actionLink.token.iat : 0
  const parameters: Partial<Record<EmailValue, string>> = {
    realm,
    ...(link !== undefined && {
      link,
      minutes: String(Math.floor(lifespan / 60)),
      expiration: formatDuration(lifespan, text),
    }),
    ...values,
    ...(date !== undefined && { date: formatDate(language, date) }),
    ...(actions && { actions: actions.map((alias) => getActionName(alias, text)).join(', ') }),
  }
  const keys = getEmailTextKeys(template)
  const names: readonly EmailValue[] = emailTemplates[template]
  const toTexts = (values: readonly EmailValue[]) => values.map((name) => parameters[name] ?? '')
  const placeholder = randomUUID()
  const htmlValues = names.map((name) => (name === 'link' ? placeholder : escapeHtml(parameters[name] ?? '')))
  const body = insertLink(text(keys.html, ...htmlValues), { placeholder, link: link ?? '' })
  return {
    subject: text(keys.subject, ...toTexts(subjectValues[template] ?? [])),
    text: text(keys.body, ...toTexts(names)),
    html: toHtmlDocument(language, body),
  }
}

const toHtmlDocument = (language: string, body: string): string =>
  `<html lang="${escapeHtml(language)}">\n<body>\n${body}\n</body>\n</html>\n`

/** Renders the email of a workflow. */
function renderNotification(
  { template, values = {} }: Pick<Email, 'template' | 'values'>,
  notification: WorkflowNotification,
  { language, text, realm }: EmailRendering,
): EmailContent {
  const parameters = emailTemplates[template].map((name: EmailValue) => values[name] ?? '')
  const subject = text(notification.subject ?? `${template}Subject`, ...parameters)
  const body = renderNotificationBody(notification, { text, realm, message: text(`${template}Body`, ...parameters) })
  return {
    subject,
    text: `${subject}\n\n${body.text}`,
    html: toHtmlDocument(language, `<h2>${escapeHtml(subject)}</h2>\n${body.html}`),
  }
}

/** Formats a duration in seconds. Keycloak: in the largest unit of which it is a multiple. */
function formatDuration(seconds: number, text: Translator): string {
  const units = [
    { unit: 'days', length: 86_400 },
    { unit: 'hours', length: 3600 },
    { unit: 'minutes', length: 60 },
    { unit: 'seconds', length: 1 },
  ]
  const { unit, length } = units.find(({ length }) => seconds % length === 0)!
  const count = seconds / length
  return `${count} ${text(`linkExpirationFormatter.timePeriodUnit.${unit}`, count)}`
}

/** Returns the name of a required action; its alias where there is no text for it. */
function getActionName(alias: string, text: Translator): string {
  const key = `requiredAction.${alias}`
  const name = text(key)
  return name === key ? alias : name
}

function formatDate(language: string, date: string): string {
  const format = new Intl.DateTimeFormat(language, { dateStyle: 'long', timeStyle: 'long', timeZone: 'UTC' })
  return format.format(new Date(date))
}

/** The texts of the body of the email of a workflow. */
interface NotificationTexts {
  readonly text: Translator
  /** The display name of the realm. */
  readonly realm: string
  /** The sentence of the template. */
  readonly message: string
}

/** Returns the body as text and as HTML. A message of the workflow replaces the sentences of the template; the values in it are no HTML. */
function renderNotificationBody(
  { message: ownMessage, placeholders, recipient, days }: WorkflowNotification,
  { text, realm, message }: NotificationTexts,
): { readonly text: string; readonly html: string } {
  if (ownMessage !== undefined)
    return {
      text: replacePlaceholders(ownMessage, placeholders),
      html: `<p>${replacePlaceholders(ownMessage, placeholders, escapeHtml)}</p>`,
    }
  const sentences = [
    text('workflowNotification.greeting', recipient),
    message,
    ...(days > 0 ? [text('workflowNotification.remaining', days)] : []),
    text('workflowNotification.contact', realm),
  ]
  return {
    text: `${sentences.join('\n\n')}\n`,
    html: sentences.map((sentence) => `<p>${escapeHtml(sentence)}</p>`).join('\n'),
  }
}

/** Replaces the placeholders that have a value, or a default after a colon. The others stay. */
function replacePlaceholders(
  message: string,
  values: Readonly<Record<string, string>>,
  escapeValue: (value: string) => string = (value) => value,
): string {
  return message.replaceAll(/\$\{([^}:]+)(?::([^}]*))?\}/g, (placeholder, name: string, defaultValue?: string) => {
    const value = Object.hasOwn(values, name) ? values[name] : defaultValue
    return value === undefined ? placeholder : escapeValue(value)
  })
}
