// `KeycloakRealmImport`, the resource of Keycloak's operator. Its placeholders `${NAME}` for Secrets become variables of that name.
import { type Json, type Representation, readObject, readPath } from '../../kinds/json.ts'

/** The kind of the resource that Keycloak's operator imports. */
export const KEYCLOAK_IMPORT = 'KeycloakRealmImport'

/** Whether a document is an import of Keycloak's operator, of any version. */
export function isKeycloakImport({ apiVersion, kind }: Representation): boolean {
  return String(apiVersion).startsWith('k8s.keycloak.org/') && kind === KEYCLOAK_IMPORT
}

/** Returns a function that replaces the placeholders in a text with variables (`$(env:NAME)`); undefined if the document has none. */
export function createPlaceholderReplacer(value: Json): ((text: string) => string) | undefined {
  if (!isKeycloakImport(readObject(value))) return undefined
  const names = Object.keys(readObject(readPath(value, ['spec', 'placeholders'])))
  if (!names.length) return undefined
  return (text) =>
    text.replaceAll(/\$\{([^{}]+)\}/g, (placeholder, name) => (names.includes(name) ? `$(env:${name})` : placeholder))
}
