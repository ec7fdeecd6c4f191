// The REST operations on localization texts.
import { readText, readTextMap } from '../../../kinds/json.ts'
import type { Context, WriteContext } from '../../context/context.ts'
import { failure } from '../../context/errors.ts'
import { writers } from '../../kinds/index.ts'
import { type LiveObject, listObjects } from '../../objects/live-objects.ts'
import { requirePermissions } from '../../permissions/require-permissions.ts'

/** Texts by key. */
export type LocalizationTexts = Readonly<Record<string, string>>

/** Lists the locales that have texts, in alphabetical order. */
export async function listLocales(context: Context): Promise<string[]> {
  requirePermissions(context, 'see-realm')
  return (await writers.localization.list(context, {})).map(({ key }) => key[0]!)
}

/** Returns the texts of a locale; `fallback`: with those of the realm's default locale for missing keys. */
export async function getTexts(context: Context, locale: string, fallback: boolean): Promise<LocalizationTexts> {
  requirePermissions(context, 'see-realm')
  const [realm] = fallback ? await listObjects(context, 'realm', {}) : []
  const defaultLocale = realm?.representation.defaultLocale
  const names = [...(typeof defaultLocale === 'string' ? [defaultLocale] : []), locale]
  const localizations = await writers.localization.list(context, { keys: names.map((name) => [name]) })
  return Object.assign({}, ...names.map((name) => readTextsOf(localizations.find(({ key }) => key[0] === name))))
}

/** Returns one text. Throws not_found. */
export async function getText(context: Context, locale: string, name: string): Promise<string> {
  requirePermissions(context, 'see-realm')
  return getTextByName(await findLocalization(context, locale), name)
}

/** Adds and replaces texts of a locale, and removes those that are null; its other texts stay. */
export async function setTexts(
  context: WriteContext,
  locale: string,
  texts: Readonly<Record<string, string | null>>,
): Promise<void> {
  requirePermissions(context, 'manage-realm')
  const live = await findLocalization(context, locale)
  const set = Object.fromEntries(Object.entries(texts).map(([name, text]) => [`texts.${name}`, text]))
  if (live) await writers.localization.update(context, [{ live, set }])
  else await writers.localization.create(context, [{ representation: { locale, texts: readTextMap(texts) } }])
}

/** Deletes one text. Throws not_found. Keycloak: a locale without texts is still listed. */
export async function deleteText(context: WriteContext, locale: string, name: string): Promise<void> {
  requirePermissions(context, 'manage-realm')
  const live = await findLocalization(context, locale)
  getTextByName(live, name)
  await writers.localization.update(context, [{ live: live!, set: { [`texts.${name}`]: null } }])
}

/** Deletes all texts of a locale. Throws not_found. */
export async function deleteTexts(context: WriteContext, locale: string): Promise<void> {
  requirePermissions(context, 'manage-realm')
  const live = await findLocalization(context, locale)
  if (!live) throw failure('not_found', `No localization texts for locale ${locale} found.`)
  await writers.localization.delete(context, [live])
}

/** The language whose texts are used if no other language has them. */
const ENGLISH = 'en'

/** A text with its origin. */
export interface EffectiveText {
  readonly value: string
  readonly source: 'REALM' | 'THEME'
}

/**
 * Returns the texts of a theme in a language, by key; texts of the realm replace those of the theme in the same language. Keycloak: texts of
 * the language without its region, of the default locale and of English replace missing ones, in this order; English has no others.
 */
export async function getEffectiveTexts(
  context: Context,
  locale: string,
  getThemeTexts: (locale: string) => LocalizationTexts,
): Promise<ReadonlyMap<string, EffectiveText>> {
  const [realm] = await listObjects(context, 'realm', {})
  const base = locale.split('-')[0]!
  const chain = [locale, base, readText(realm?.representation.defaultLocale) ?? ENGLISH, ENGLISH]
  const names = [...new Set(chain.slice(0, chain.indexOf(ENGLISH) + 1))].reverse()
  const localizations = await writers.localization.list(context, { keys: names.map((name) => [name]) })
  const texts = new Map<string, EffectiveText>()
  for (const name of names) {
    const realmTexts = readTextsOf(localizations.find(({ key }) => key[0] === name))
    for (const [key, value] of Object.entries(getThemeTexts(name))) texts.set(key, { value, source: 'THEME' })
    for (const [key, value] of Object.entries(realmTexts)) texts.set(key, { value, source: 'REALM' })
  }
  return texts
}

async function findLocalization(context: Context, locale: string): Promise<LiveObject | undefined> {
  const [localization] = await writers.localization.list(context, { keys: [[locale]] })
  return localization
}

function readTextsOf(live: LiveObject | undefined): LocalizationTexts {
  return readTextMap(live?.representation.texts)
}

function getTextByName(live: LiveObject | undefined, name: string): string {
  const texts = readTextsOf(live)
  if (!Object.hasOwn(texts, name)) throw failure('not_found', 'Localization text not found')
  return texts[name]!
}
