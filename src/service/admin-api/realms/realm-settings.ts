// What writing the settings of a realm means besides what is stated.
import type { FlatFields } from '../../../kinds/compare.ts'
import { kinds } from '../../../kinds/index.ts'
import type { Json, Representation } from '../../../kinds/json.ts'
import { settingsStoredAsAttributes } from '../../../kinds/realm.ts'
import { parseSetting, renderSetting } from '../../realms/attribute-settings.ts'

/** Keycloak: each of these, when it is set, takes the others along, in this order. */
export function mailRules(body: Representation): Representation {
  const { registrationEmailAsUsername, loginWithEmailAllowed, duplicateEmailsAllowed } = body
  return {
    ...(registrationEmailAsUsername === true && { duplicateEmailsAllowed: false }),
    ...(loginWithEmailAllowed === true && { duplicateEmailsAllowed: false }),
    ...(typeof duplicateEmailsAllowed === 'boolean' && { duplicateEmailsAllowed }),
    ...(duplicateEmailsAllowed === true && { loginWithEmailAllowed: false, registrationEmailAsUsername: false }),
  }
}

/** What an update sets for the settings that show as attributes too. */
export function mirrors(stated: Representation): FlatFields {
  const attributes = stated.attributes as Representation | undefined
  const set: Record<string, Json> = {}
  const given = kinds.realm.defaults({})
  for (const [field, attribute] of Object.entries(settingsStoredAsAttributes)) {
    const always = kinds.realm.fields[field]!.onPut === 'clear'
    const value = stated[field] ?? parseSetting(field, attributes?.[attribute])
    if (value === undefined && !attributes && !always) continue
    set[field] = value ?? given[field] ?? null
    set[`attributes.${attribute}`] = value !== undefined ? renderSetting(value) : always ? renderSetting(given[field]!) : null
  }
  return set
}
