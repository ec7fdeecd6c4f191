// Imports of Keycloak: its placeholders `${NAME}` become variables of that name, in the resource `KeycloakRealmImport` of its operator, and in
// exports.
import { type Json, type Representation, readObject, readPath } from '../../kinds/json.ts'

/** The kind of the resource that Keycloak's operator imports. */
export const KEYCLOAK_IMPORT = 'KeycloakRealmImport'

/** The kind of the resource of a realm of the legacy operator, which has the realm in the same place. */
const LEGACY_REALM = 'KeycloakRealm'

/** Whether a document is an import of Keycloak's operator, of any version, or a realm of the legacy operator. */
export function isKeycloakImport({ apiVersion, kind }: Representation): boolean {
  const [group] = String(apiVersion).split('/')
  return group === 'k8s.keycloak.org' ? kind === KEYCLOAK_IMPORT : group === 'keycloak.org' && kind === LEGACY_REALM
}

/**
 * Returns a function that replaces the placeholders in a text with variables (`$(env:NAME)`); undefined if the document has none.
 * `env`: `${NAME}` and `${env.NAME}` of a variable that is set are replaced too, and `${NAME:default}`, as Keycloak's import does. Absent:
 * only those that a `KeycloakRealmImport` declares.
 */
export function createPlaceholderReplacer(
  value: Json,
  env?: Readonly<Record<string, string | undefined>>,
): ((text: string) => string) | undefined {
  const declared = isKeycloakImport(readObject(value))
    ? Object.keys(readObject(readPath(value, ['spec', 'placeholders'])))
    : []
  if (!declared.length && !env) return undefined
  return (text) =>
    text.replaceAll(/\$\{(?:env\.)?([^{}:]+)(?::([^{}]*))?\}/g, (placeholder, name: string, defaultValue?: string) => {
      if (declared.includes(name)) return `$(env:${name})`
      if (!env) return placeholder
      if (defaultValue !== undefined) return `$(env:${name}:-${defaultValue.replaceAll('$(', '$$$$(')})`
      return env[name] === undefined ? placeholder : `$(env:${name})`
    })
}
