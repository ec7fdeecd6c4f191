// Settings of a realm that are declared as attributes.
import { isObject, type Json, type Representation } from './json.ts'
import { realm } from './realm.ts'

/** The settings that Keycloak stores as attributes of the same name, and returns as settings only. */
const hiddenAttributes: readonly string[] = [
  'actionTokenGeneratedByAdminLifespan',
  'actionTokenGeneratedByUserLifespan',
  'bruteForceProtected',
  'bruteForceStrategy',
  'defaultSignatureAlgorithm',
  'failureFactor',
  'maxDeltaTimeSeconds',
  'maxFailureWaitSeconds',
  'maxTemporaryLockouts',
  'minimumQuickLoginWaitSeconds',
  'offlineSessionMaxLifespan',
  'offlineSessionMaxLifespanEnabled',
  'organizationsEnabled',
  'permanentLockout',
  'quickLoginCheckMilliSeconds',
  'waitIncrementSeconds',
]

/** Returns the attributes of a realm that are settings. */
export function listAttributeSettings({ attributes }: Representation): string[] {
  return isObject(attributes) ? hiddenAttributes.filter((name) => (attributes[name] ?? null) !== null) : []
}

/** Returns a realm with its settings instead of their attributes. Keycloak: in a new realm, an attribute takes precedence over its setting. */
export function readAttributeSettings(representation: Representation): Representation {
  const names = listAttributeSettings(representation)
  if (!isObject(representation.attributes) || !names.length) return representation
  const entries = Object.entries(representation.attributes)
  const settings = entries.filter(([name]) => names.includes(name)).map(([name, value]) => [name, parse(name, value)])
  const attributes = Object.fromEntries(entries.filter(([name]) => !names.includes(name)))
  return { ...representation, ...Object.fromEntries(settings), attributes }
}

/** Parses an attribute; returns an invalid one as it is. */
function parse(name: string, value: Json): Json {
  const type = typeof realm.defaults({})[name]
  if (type === 'boolean' && (value === 'true' || value === 'false')) return value === 'true'
  return type === 'number' && typeof value === 'string' && /^-?\d+$/.test(value) ? Number(value) : value
}
