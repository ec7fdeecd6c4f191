// Localization texts: documents have them as maps by locale, in one of two fields.
import * as z from 'zod'
import { kinds } from '../../kinds/index.ts'
import { isList, isObject, type Json, readObjects } from '../../kinds/json.ts'
import { describeType } from '../message-words.ts'
import type { FormatConverter } from './format-converter.ts'

/** Converts maps of texts by locale to a list. */
export const localization: FormatConverter = {
  read({ messageBundles = null, localizationTexts = null, ...realm }, { report, recordMove }) {
    const list: Json[] = []
    // The second name is that of keycloak-config-cli.
    for (const [field, locales] of Object.entries({ localizationTexts, messageBundles })) {
      if (locales === null) continue
      // A list, which a resource creates.
      if (isList(locales) && field === 'localizationTexts') {
        list.push(...locales)
        continue
      }
      if (!isObject(locales)) {
        report([field], `${field} must be an object, not ${describeType(locales)}: put texts by name under each locale`)
        continue
      }
      for (const [locale, texts] of Object.entries(locales)) {
        if (texts === null) continue
        recordMove(['localizationTexts', list.length], [field, locale])
        recordMove(['localizationTexts', list.length, 'texts'], [field, locale])
        list.push({ locale, texts })
      }
    }
    return list.length ? { ...realm, localizationTexts: list } : realm
  },
  write(realm) {
    if (!isList(realm.localizationTexts)) return realm
    const texts = readObjects(realm.localizationTexts).map(({ locale, texts = {} }) => [locale, texts])
    return { ...realm, localizationTexts: Object.fromEntries(texts) }
  },
  schemas() {
    const texts = z.record(z.string(), kinds.localization.fields.texts!.schema.nullable())
    return { realm: { localizationTexts: texts.describe('Texts by locale and name.') } }
  },
}
