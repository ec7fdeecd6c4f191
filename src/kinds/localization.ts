import { text, textMap } from './fields.ts'
import { defineKind } from './kind.ts'

/** Emails that carry a link: who follows it acts as the user whom it was sent to. */
export const emailsWithLink = ['emailVerification', 'passwordReset', 'executeActions'] as const

/** Texts of pages and mails in one language, which stand in place of those that come with the server. */
export const localization = defineKind({
  name: 'localization',
  title: 'localization',
  representation: 'LocalizationRepresentation',
  naturalKey: 'locale',
  events: { type: 'REALM', paths: { realm: 'localization/{name}' } },
  hasNoAdminEvents: true,
  fields: {
    locale: text('The language, such as de or pt-BR.'),
    texts: textMap('Texts by name.', {
      default: {},
      // A text decides where the link goes: into the address of an image, for one.
      loginControl: emailsWithLink.flatMap((name) => [`${name}Body`, `${name}BodyHtml`]),
    }),
  },
})
