// The language and the texts of pages and emails. Texts of the realm replace the built-in ones.
import { readTextMap } from '../../kinds/json.ts'
import { formatMessage } from '../../lib/keycloak/message-format.ts'
import type { Context } from '../../service/context/context.ts'
import { writers } from '../../service/kinds/index.ts'
import { de as germanEmails } from '../mail/de.ts'
import { en as englishEmails } from '../mail/en.ts'
import type { RealmSettings } from '../oidc-realm.ts'
import { de as germanPages } from './texts/de.ts'
import { en as englishPages } from './texts/en.ts'
import type { Translator } from './view.ts'

/** Texts by key. */
type TextsByKey = Readonly<Record<string, string>>

const en: TextsByKey = { ...englishPages, ...englishEmails }
const de: TextsByKey = { ...germanPages, ...germanEmails }
const builtIn: Readonly<Record<string, TextsByKey>> = { en, de }
const ENGLISH = 'en'

/** The languages with built-in texts. */
export const BUILT_IN_LANGUAGES: readonly string[] = Object.keys(builtIn)

/** Returns the built-in texts of pages or emails in a language, by key; none in other languages than the built-in ones. */
export function getBuiltInTexts(type: 'login' | 'email', language: string): TextsByKey {
  if (language === 'en') return type === 'login' ? englishPages : englishEmails
  if (language === 'de') return type === 'login' ? germanPages : germanEmails
  return {}
}

/** The settings of a realm that select languages. */
type LanguageSettings = Pick<RealmSettings, 'internationalizationEnabled' | 'supportedLocales' | 'defaultLocale'>

/** Returns the languages that users of a realm can select; English for a realm without internationalization. */
export function listLanguages({
  internationalizationEnabled,
  supportedLocales = [],
}: LanguageSettings): readonly string[] {
  return internationalizationEnabled === true && supportedLocales.length ? supportedLocales : [ENGLISH]
}

/**
 * Returns the first preferred language that the realm supports, or its default language. A preference is a language tag,
 * or a list of tags as in the Accept-Language header.
 */
export function selectLanguage(settings: LanguageSettings, preferences: readonly (string | undefined)[]): string {
  const languages = listLanguages(settings)
  for (const tag of preferences.flatMap(parseTags)) {
    const language =
      languages.find((supported) => isSameTag(supported, tag)) ??
      languages.find((supported) => isSameTag(supported, getBaseTag(tag)))
    if (language !== undefined) return language
  }
  const { defaultLocale = ENGLISH } = settings
  return languages.includes(defaultLocale) ? defaultLocale : languages[0]!
}

/** Returns a function for the texts of the realm in a language. A missing text is its key. One statement. */
export async function createTranslator(
  context: Context,
  { defaultLocale = ENGLISH }: LanguageSettings,
  language: string,
): Promise<Translator> {
  const base = getBaseTag(language)
  const tags = [...new Set([language, base, defaultLocale])]
  const localizations = await writers.localization.list(context, { keys: tags.map((tag) => [tag]) })
  const getRealmTexts = (tag: string) =>
    readTextMap(localizations.find(({ key }) => key[0] === tag)?.representation.texts)
  const layers: readonly (TextsByKey | undefined)[] = [
    getRealmTexts(language),
    getRealmTexts(base),
    builtIn[language],
    builtIn[base],
    getRealmTexts(defaultLocale),
    builtIn[defaultLocale],
    en,
  ]
  const find = (key: string) => layers.find((texts) => texts && Object.hasOwn(texts, key))?.[key]
  const expand = (name: string) => name.replace(/\$\{([^${}]{1,255})\}/g, (_, key: string) => find(key) ?? key)
  return (key, ...params) => {
    if (key.includes('${')) return expand(key)
    // Only names of the realm are expanded, never values that users entered.
    const values = params.map((param) => (param === null ? '' : typeof param === 'object' ? expand(param.name) : param))
    return formatMessage(find(key) ?? key, values)
  }
}

/** Returns the tags of a header or parameter, the most preferred one first. */
function parseTags(list = ''): string[] {
  return list
    .split(/[\s,]+/)
    .map((part) => {
      const [tag = '', quality] = part.split(';q=')
      return { tag: tag.trim(), quality: Number(quality ?? 1) }
    })
    .filter(({ tag }) => /^[\w-]+$/.test(tag))
    .sort((a, b) => b.quality - a.quality)
    .map(({ tag }) => tag)
}

/** Returns the language of a tag without its region, such as `pt` for `pt-BR`. */
const getBaseTag = (tag: string): string => tag.split(/[-_]/)[0]!
const isSameTag = (a: string, b: string): boolean =>
  a.replace('_', '-').toLowerCase() === b.replace('_', '-').toLowerCase()
