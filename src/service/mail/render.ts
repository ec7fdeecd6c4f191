// A mail as it leaves: subject, text and HTML, worded by the texts of its language.
import { formatMessage } from '../../lib/message-format.ts'
import { type Mail, templates, type Value } from './mail.ts'
import { htmlOf, type Texts } from './texts.ts'

/** What a mail says. */
export interface Letter {
  readonly subject: string
  readonly text: string
  readonly html: string
}

/** What is known of a mail when it leaves: its texts, what its realm is called, and its link. */
export interface Occasion {
  readonly texts: Texts
  readonly realm: string
  readonly link?: string
}

/** Words a mail. */
export function renderMail({ template, locale, values = {}, link: goal, actions }: Mail, occasion: Occasion): Letter {
  const { texts, realm, link } = occasion
  const { date } = values
  const seconds = goal ? goal.token.exp - goal.token.iat : 0
  const known: Partial<Record<Value, string>> = {
    realm,
    ...(link !== undefined && {
      link,
      minutes: String(Math.floor(seconds / 60)),
      expiration: duration(seconds, texts),
    }),
    ...values,
    ...(date !== undefined && { date: dateIn(locale, date) }),
    ...(actions && { actions: actionsIn(texts, actions) }),
  }
  const places = templates[template].map((value) => known[value] ?? '')
  const html = formatMessage(texts[htmlOf(template)]!, places.map(escapeHtml))
  return {
    subject: formatMessage(texts[`${template}Subject`]!, []),
    text: formatMessage(texts[`${template}Body`]!, places),
    html: `<html lang="${escapeHtml(locale)}">\n<body>\n${html}\n</body>\n</html>\n`,
  }
}

/** Keycloak: in the largest unit that it is a whole number of. */
function duration(seconds: number, texts: Texts): string {
  const units = [
    { unit: 'days', length: 86_400 },
    { unit: 'hours', length: 3600 },
    { unit: 'minutes', length: 60 },
    { unit: 'seconds', length: 1 },
  ]
  const { unit, length } = units.find(({ length }) => seconds % length === 0)!
  const count = seconds / length
  return `${count} ${formatMessage(texts[`linkExpirationFormatter.timePeriodUnit.${unit}`]!, [count])}`
}

/** What the actions are called; one that has no text by its own name. */
function actionsIn(texts: Texts, actions: readonly string[]): string {
  return actions.map((alias) => formatMessage(texts[`requiredAction.${alias}`] ?? alias, [])).join(', ')
}

function dateIn(locale: string, date: string): string {
  return new Intl.DateTimeFormat(locale, { dateStyle: 'long', timeStyle: 'long', timeZone: 'UTC' }).format(
    new Date(date),
  )
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}
