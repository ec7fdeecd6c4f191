// A mail as it leaves: subject, text and HTML, worded in its language.
import { escapeHtml } from '../../lib/html.ts'
import { type Email, emailTemplates, type EmailValue } from '../../service/messages/email-templates.ts'
import type { EmailContent } from '../../service/messages/mail-server.ts'
import type { Translator } from '../pages/view.ts'
import { LINK_PLACEHOLDER, insertLink } from './insert-link.ts'
import { getHtmlKey } from './email-texts.ts'

/** What is known of a mail when it leaves: its language and texts in it, what its realm is called, and its link. */
export interface EmailContext {
  readonly language: string
  readonly text: Translator
  readonly realm: string
  readonly link?: string
}

/** Words a mail. */
export function renderEmail(mail: Pick<Email, 'template' | 'values' | 'actions' | 'link'>, occasion: EmailContext): EmailContent {
  const { template, values = {}, actions, link: goal } = mail
  const { language, text, realm, link } = occasion
  const { date } = values
  const seconds = goal ? goal.token.exp - goal.token.iat : 0
  const known: Partial<Record<EmailValue, string>> = {
    realm,
    ...(link !== undefined && { link, minutes: String(Math.floor(seconds / 60)), expiration: duration(seconds, text) }),
    ...values,
    ...(date !== undefined && { date: dateIn(language, date) }),
    ...(actions && { actions: actions.map((alias) => nameOf(alias, text)).join(', ') }),
  }
  const places = emailTemplates[template].map((value) => known[value] ?? '')
  const placesInHtml = emailTemplates[template].map((value) => (value === 'link' ? LINK_PLACEHOLDER : escapeHtml(known[value] ?? '')))
  const body = insertLink(text(getHtmlKey(template), ...placesInHtml), link ?? '')
  return {
    subject: text(`${template}Subject`),
    text: text(`${template}Body`, ...places),
    html: `<html lang="${escapeHtml(language)}">\n<body>\n${body}\n</body>\n</html>\n`,
  }
}

/** Keycloak: in the largest unit that it is a whole number of. */
function duration(seconds: number, text: Translator): string {
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

/** What an action is called; one that nobody has a text for, by its alias. */
function nameOf(alias: string, text: Translator): string {
  const key = `requiredAction.${alias}`
  const name = text(key)
  return name === key ? alias : name
}

function dateIn(language: string, date: string): string {
  const format = new Intl.DateTimeFormat(language, { dateStyle: 'long', timeStyle: 'long', timeZone: 'UTC' })
  return format.format(new Date(date))
}
