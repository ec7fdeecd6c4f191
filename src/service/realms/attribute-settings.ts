// Realm settings that Keycloak stores as attributes. A realm has them as both, so setting one also sets the other.
import type { FlatFields } from '../../kinds/compare.ts'
import { kinds } from '../../kinds/index.ts'
import { type Json, type Representation, readObject } from '../../kinds/json.ts'
import { settingsStoredAsAttributes } from '../../kinds/realm.ts'

/**
 * Returns an update with both forms of each setting. If it contains both, the one that differs from the default wins: the
 * other one was only removed from a source. A setting with its default value has the default attribute, usually none.
 */
export function syncAttributeFields(set: FlatFields): FlatFields {
  const defaults = kinds.realm.defaults({})
  const defaultAttributes = readObject(defaults.attributes)
  const fields: Record<string, Json> = { ...set }
  for (const [field, attribute] of Object.entries(settingsStoredAsAttributes)) {
    const path = `attributes.${attribute}`
    const defaultValue = defaults[field] ?? null
    const isDefault = (value: Json) => JSON.stringify(value) === JSON.stringify(defaultValue)
    const setting = field in set ? (set[field] ?? defaultValue) : undefined
    const fromAttribute = path in set ? (parseSetting(field, set[path]) ?? defaultValue) : undefined
    if (setting !== undefined && (fromAttribute === undefined || (isDefault(fromAttribute) && !isDefault(setting))))
      fields[path] = isDefault(setting) ? (defaultAttributes[attribute] ?? null) : renderSetting(setting)
    else if (
      fromAttribute !== undefined &&
      (setting === undefined || (isDefault(setting) && !isDefault(fromAttribute)))
    )
      fields[field] = fromAttribute
  }
  return fields
}

/** Returns the attributes of a new realm, and the settings among its fields, with both forms of each setting. */
export function syncAttributes(declared: Representation): Representation {
  const attributes: Representation = { ...readObject(declared.attributes) }
  const settings: Representation = {}
  for (const [field, attribute] of Object.entries(settingsStoredAsAttributes)) {
    const value = declared[field] ?? parseSetting(field, attributes[attribute])
    if (value === undefined) continue
    settings[field] = value
    attributes[attribute] ??= renderSetting(value)
  }
  return { ...settings, attributes: { ...readObject(kinds.realm.defaults({}).attributes), ...attributes } }
}

/** Removes settings of a new realm whose attribute is present too. Keycloak: over REST the attribute wins. */
export function preferAttributes(realm: Representation): Representation {
  const attributes = readObject(realm.attributes)
  const hasAttribute = (field: string) => (attributes[settingsStoredAsAttributes[field] ?? ''] ?? null) !== null
  return Object.fromEntries(Object.entries(realm).filter(([field]) => !hasAttribute(field)))
}

/** Parses the attribute of a setting; returns undefined if it is not a text. */
export function parseSetting(field: string, text: Json | undefined): Json | undefined {
  if (typeof text !== 'string') return undefined
  const defaultValue = kinds.realm.defaults({})[field]
  if (Array.isArray(defaultValue)) return text === '' ? [] : text.split(',')
  return typeof defaultValue === 'boolean' ? text === 'true' : Number.parseInt(text, 10) || 0
}

/** Renders a setting as its attribute. */
export function renderSetting(value: Json): Json {
  if (value === null) return null
  if (Array.isArray(value)) return value.length ? value.join(',') : null
  return String(value)
}
