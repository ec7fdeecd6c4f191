import { text, textMap } from './fields.ts'
import { defineKind } from './kind.ts'

/** Texts of pages and mails in one language, which stand in place of those that come with the server. */
export const localization = defineKind({
  name: 'localization',
  title: 'localization',
  representation: 'LocalizationRepresentation',
  naturalKey: 'locale',
  events: { type: 'REALM', paths: { realm: 'localization/{name}' } },
  silent: true,
  fields: {
    locale: text('The language, such as de or pt-BR.'),
    texts: textMap('Texts by name.', { default: {} }),
  },
})
