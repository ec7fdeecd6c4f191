import { text, textMap } from './fields.ts'
import { defineKind } from './kind.ts'

/** The emails with a link that authenticates the user. */
export const emailsWithLink = ['emailVerification', 'passwordReset', 'executeActions'] as const

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
      loginControl: emailsWithLink.flatMap((name) => [`${name}Body`, `${name}BodyHtml`]),
    }),
  },
})
