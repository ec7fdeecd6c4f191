// The language of a page or a mail, and the texts in it: those of the realm stand in place of those that come with the server.
import type { Representation } from '../../kinds/json.ts'
import { formatMessage } from '../../lib/keycloak/message-format.ts'
import type { Context } from '../../service/context/context.ts'
import { writers } from '../../service/kinds/index.ts'
import { de as mailsInGerman } from '../mail/de.ts'
import { en as mailsInEnglish } from '../mail/en.ts'
import { de as pagesInGerman } from './texts/de.ts'
import { en as pagesInEnglish } from './texts/en.ts'
import type { Translator } from './view.ts'

/** Texts by key. */
type TextsByKey = Readonly<Record<string, string>>

const en: TextsByKey = { ...pagesInEnglish, ...mailsInEnglish }
const de: TextsByKey = { ...pagesInGerman, ...mailsInGerman }
const builtIn: Readonly<Record<string, TextsByKey>> = { en, de }
const ENGLISH = 'en'

/** The languages that people of the realm can choose; without any choice, English only. */
export function listLanguages({ internationalizationEnabled, supportedLocales }: Representation): readonly string[] {
  const supported = (supportedLocales ?? []) as string[]
  return internationalizationEnabled === true && supported.length ? supported : [ENGLISH]
}

/** The first of the wishes that the realm has, else its default. A wish is a tag, or a list as browsers send it. */
export function selectLanguage(settings: Representation, wishes: readonly (string | undefined)[]): string {
  const languages = listLanguages(settings)
  for (const tag of wishes.flatMap(tagsOf)) {
    const found = languages.find((one) => sameTag(one, tag)) ?? languages.find((one) => sameTag(one, base(tag)))
    if (found !== undefined) return found
  }
  const usual = String(settings.defaultLocale ?? ENGLISH)
  return languages.includes(usual) ? usual : languages[0]!
}

/** The texts of the realm in a language. A text that nobody has is its key. One statement. */
export async function createTranslator(context: Context, settings: Representation, language: string): Promise<Translator> {
  const tags = [...new Set([language, base(language), String(settings.defaultLocale ?? ENGLISH)])]
  const own = await writers.localization.list(context, { keys: tags.map((tag) => [tag]) })
  const ownIn = (tag: string) => (own.find(({ key }) => key[0] === tag)?.representation.texts ?? {}) as TextsByKey
  const [exact, general, usual] = [language, base(language), String(settings.defaultLocale ?? ENGLISH)]
  const layers: readonly (TextsByKey | undefined)[] = [
    ownIn(exact),
    ownIn(general),
    builtIn[exact],
    builtIn[general],
    ownIn(usual),
    builtIn[usual],
    en,
  ]
  const find = (key: string) => layers.find((texts) => texts && Object.hasOwn(texts, key))?.[key]
  const resolve: Translator = (key, ...about) => {
    // What users typed is never looked up.
    const values = about.map((one) => (one === null ? '' : typeof one === 'object' ? named(one.name) : one))
    return formatMessage(find(key) ?? key, values)
  }
  const named = (name: string) => name.replace(/\$\{([^${}]{1,255})\}/g, (_, key: string) => find(key) ?? key)
  return (key, ...about) => (key.includes('${') ? named(key) : resolve(key, ...about))
}

/** The languages of a header or parameter, the preferred one first. */
function tagsOf(list = ''): string[] {
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

const base = (tag: string): string => tag.split(/[-_]/)[0]!
const sameTag = (a: string, b: string): boolean =>
  a.replace('_', '-').toLowerCase() === b.replace('_', '-').toLowerCase()
