// Settings of a realm that show as attributes too: whichever is stated alone takes the other along.
import type { FlatFields } from '../../kinds/compare.ts'
import { kinds } from '../../kinds/index.ts'
import type { Json, Representation } from '../../kinds/json.ts'
import { settingsKeptAsAttributes } from '../../kinds/realm.ts'

/**
 * The new values of an update, with those that follow. Where it says both, the one counts that is not as in a new realm:
 * the other is only stated no more. A setting that is as in a new realm has no attribute of its own beside it.
 */
export function withMirrors(set: FlatFields): FlatFields {
  const given = kinds.realm.defaults({})
  const all: Record<string, Json> = { ...set }
  for (const [field, attribute] of Object.entries(settingsKeptAsAttributes)) {
    const path = `attributes.${attribute}`
    const usual = given[field] ?? null
    const usualText = (given.attributes as Representation)[attribute] ?? null
    const isUsual = (value: Json) => JSON.stringify(value) === JSON.stringify(usual)
    const ofField = field in set ? (set[field] ?? usual) : undefined
    const ofText = path in set ? (read(field, set[path]) ?? usual) : undefined
    if (ofField !== undefined && (ofText === undefined || (isUsual(ofText) && !isUsual(ofField))))
      all[path] = isUsual(ofField) ? usualText : written(ofField)
    else if (ofText !== undefined && (ofField === undefined || (isUsual(ofField) && !isUsual(ofText))))
      all[field] = ofText
  }
  return all
}

/** A new realm's settings and attributes, with those that follow. */
export function mirrored(stated: Representation): Representation {
  const attributes: Representation = { ...(stated.attributes as Representation | undefined) }
  const settings: Representation = {}
  for (const [field, attribute] of Object.entries(settingsKeptAsAttributes)) {
    const value = stated[field] ?? read(field, attributes[attribute])
    if (value === undefined) continue
    settings[field] = value
    attributes[attribute] ??= written(value)
  }
  return { ...settings, attributes: { ...(kinds.realm.defaults({}).attributes as Representation), ...attributes } }
}

/** Keycloak: over REST, the attribute of a new realm counts where its setting is stated too. */
export function attributesFirst(stated: Representation): Representation {
  const attributes = (stated.attributes ?? {}) as Representation
  const isOverruled = (field: string) => (attributes[settingsKeptAsAttributes[field] ?? ''] ?? null) !== null
  return Object.fromEntries(Object.entries(stated).filter(([field]) => !isOverruled(field)))
}

/** A setting from its attribute. */
export function read(field: string, text: Json | undefined): Json | undefined {
  if (typeof text !== 'string') return undefined
  const given = kinds.realm.defaults({})[field]
  if (Array.isArray(given)) return text === '' ? [] : text.split(',')
  return typeof given === 'boolean' ? text === 'true' : Number.parseInt(text, 10) || 0
}

/** An attribute from its setting. */
export function written(value: Json): Json {
  if (value === null) return null
  if (Array.isArray(value)) return value.length ? value.join(',') : null
  return String(value)
}
