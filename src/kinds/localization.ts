import { text, textMap } from './fields.ts'
import { defineKind } from './kind.ts'

/** The emails with a link that authenticates the user. */
export const emailsWithLink = [
  'emailVerification',
  'passwordReset',
  'executeActions',
  'orgInvite',
  'orgInvitePersonalized',
] as const

/** The keys of the texts of an email. */
export interface EmailTextKeys {
  readonly subject: string
  readonly body: string
  readonly html: string
}

/** Returns the keys of the texts of an email. Keycloak: a personalized email has the subject of the other one, and `Html` follows `Lockout`. */
export function getEmailTextKeys(name: string): EmailTextKeys {
  const [, base = name, variant = ''] = /^(.*?)(Personalized)?$/.exec(name) ?? []
  const body = `${base}Body${variant}`
  return { subject: `${base}Subject`, body, html: name.endsWith('Lockout') ? `${name}Html` : `${body}Html` }
}

/** Texts of pages and emails in one language, which replace the built-in ones. */
export const localization = defineKind({
  name: 'localization',
  title: 'localization',
  representation: 'LocalizationRepresentation',
  naturalKey: 'locale',
  events: { type: 'REALM', paths: { realm: 'localization/{name}' } },
  hasNoAdminEvents: true,
  fields: {
    locale: text('Locale, such as de or pt-BR.', { format: 'locale' }),
    texts: textMap('Texts by name.', {
      default: {},
      // A text could leak the link, for example in the URL of an image.
      loginControl: emailsWithLink.map(getEmailTextKeys).flatMap(({ body, html }) => [body, html]),
    }),
  },
})
