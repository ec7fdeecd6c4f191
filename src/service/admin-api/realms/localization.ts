// What REST does with texts by language.

import type { Context, WriteContext } from '../../context/context.ts'
import { failure } from '../../context/errors.ts'
import { writers } from '../../kinds/index.ts'
import { type LiveObject, listObjects } from '../../objects/live-objects.ts'
import { requirePermissions } from '../../permissions/require-permissions.ts'

/** Texts by name. */
export type Texts = Readonly<Record<string, string>>

/** The languages that have texts, in order. */
export async function listLocales(context: Context): Promise<string[]> {
  requirePermissions(context, 'see-realm')
  return (await writers.localization.list(context, {})).map(({ key }) => key[0]!)
}

/** The texts of a language; `fallback`: with those of the realm's default language where it has none. */
export async function getTexts(context: Context, locale: string, fallback: boolean): Promise<Texts> {
  requirePermissions(context, 'see-realm')
  const [realm] = fallback ? await listObjects(context, 'realm', {}) : []
  const other = realm?.representation.defaultLocale
  const locales = [locale, ...(typeof other === 'string' ? [other] : [])]
  const found = await writers.localization.list(context, { keys: locales.map((one) => [one]) })
  return Object.assign({}, ...locales.toReversed().map((one) => textsOf(found.find(({ key }) => key[0] === one))))
}

/** One text. Throws not_found. */
export async function getText(context: Context, locale: string, name: string): Promise<string> {
  requirePermissions(context, 'see-realm')
  return textIn(await find(context, locale), name)
}

/** Sets texts; those that are not named stay. */
export async function setTexts(context: WriteContext, locale: string, texts: Texts): Promise<void> {
  requirePermissions(context, 'manage-realm')
  const live = await find(context, locale)
  const set = Object.fromEntries(Object.entries(texts).map(([name, text]) => [`texts.${name}`, text]))
  if (live) await writers.localization.update(context, [{ live, set }])
  else await writers.localization.create(context, [{ representation: { locale, texts } }])
}

/** Deletes one text. Throws not_found. Keycloak: a language that has lost its last text is still one that has texts. */
export async function deleteText(context: WriteContext, locale: string, name: string): Promise<void> {
  requirePermissions(context, 'manage-realm')
  const live = await find(context, locale)
  textIn(live, name)
  await writers.localization.update(context, [{ live: live!, set: { [`texts.${name}`]: null } }])
}

/** Deletes the texts of a language. Throws not_found. */
export async function deleteTexts(context: WriteContext, locale: string): Promise<void> {
  requirePermissions(context, 'manage-realm')
  const live = await find(context, locale)
  if (!live) throw failure('not_found', `No localization texts for locale ${locale} found.`)
  await writers.localization.delete(context, [live])
}

async function find(context: Context, locale: string): Promise<LiveObject | undefined> {
  const [found] = await writers.localization.list(context, { keys: [[locale]] })
  return found
}

function textsOf(live: LiveObject | undefined): Texts {
  return (live?.representation.texts ?? {}) as Texts
}

function textIn(live: LiveObject | undefined, name: string): string {
  const texts = textsOf(live)
  if (!Object.hasOwn(texts, name)) throw failure('not_found', 'Localization text not found')
  return texts[name]!
}
