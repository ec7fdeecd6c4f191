// Texts by language: documents have them as maps by locale, under one of two names.
import * as z from 'zod'
import { kinds } from '../../kinds/index.ts'
import { isObject, type Json, type Representation } from '../../kinds/json.ts'
import { describeType } from '../message-words.ts'
import type { FormatConverter } from './format-converter.ts'

/** The names of the map: the second one is keycloak-config-cli's. */
const FIELDS = ['localizationTexts', 'messageBundles'] as const

/** Maps of texts by locale as a list, and back. */
export const localization: FormatConverter = {
  read({ messageBundles = null, ...realm }, { report, recordMove: moved }) {
    const list: Json[] = []
    for (const field of FIELDS) {
      const locales = field === 'messageBundles' ? messageBundles : (realm.localizationTexts ?? null)
      if (locales === null) continue
      // A list, as resources make one.
      if (Array.isArray(locales) && field === 'localizationTexts') {
        list.push(...locales)
        continue
      }
      if (!isObject(locales)) {
        report([field], `${field} must be an object, not ${describeType(locales)}: put texts by name under each locale`)
        continue
      }
      for (const [locale, texts] of Object.entries(locales)) {
        if (texts === null) continue
        moved(['localizationTexts', list.length], [field, locale])
        moved(['localizationTexts', list.length, 'texts'], [field, locale])
        list.push({ locale, texts })
      }
    }
    const { localizationTexts: _, ...rest } = realm
    return list.length ? { ...rest, localizationTexts: list } : rest
  },
  schemas() {
    const texts = z.record(z.string(), kinds.localization.fields.texts!.schema.nullable())
    return { realm: { localizationTexts: texts.describe('Texts by name, by language.') } }
  },
  write(realm) {
    if (!Array.isArray(realm.localizationTexts)) return realm
    const list = realm.localizationTexts as Representation[]
    return { ...realm, localizationTexts: Object.fromEntries(list.map(({ locale, texts = {} }) => [locale, texts])) }
  },
}
