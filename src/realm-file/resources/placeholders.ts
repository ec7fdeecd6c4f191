// A `KeycloakRealmImport` names secrets of Kubernetes that stand for `${NAME}` in its realm: here, variables of that name.
import type { Json, Representation } from '../../kinds/json.ts'

/** The kind of an import of Keycloak's operator. */
export const KEYCLOAK_IMPORT = 'KeycloakRealmImport'

/** Whether a document is an import of Keycloak's operator, of whatever version. */
export function isKeycloakImport({ apiVersion, kind }: Representation): boolean {
  return String(apiVersion).startsWith('k8s.keycloak.org/') && kind === KEYCLOAK_IMPORT
}

/** What makes variables (`$(env:NAME)`) of the placeholders in a text of the document; undefined where there are none. */
export function placeholdersIn(value: Json): ((text: string) => string) | undefined {
  const resource = value as Representation
  if (!isKeycloakImport(resource)) return undefined
  const names = Object.keys((resource.spec as { placeholders?: object } | null)?.placeholders ?? {})
  if (!names.length) return undefined
  return (text) =>
    text.replaceAll(/\$\{([^{}]+)\}/g, (whole, name) => (names.includes(name) ? `$(env:${name})` : whole))
}
