import { OAuthError } from '../oidc/oauth-error.ts'

/** The parameter that may be repeated: a request for permissions may name several resources. */
const REPEATABLE = 'permission'

/** Returns the fields of a form. Only the first value of a repeated field counts. */
export function formOf(body: unknown): Record<string, string> {
  return Object.fromEntries(listFields(body).map(([name, values]) => [name, values[0]!]))
}

/** Returns the values of the parameter that may be repeated. */
export const permissionsOf = (body: unknown): string[] =>
  listFields(body).flatMap(([name, values]) => (name === REPEATABLE ? values : []))

/** Returns the fields of a form. @throws OAuthError if a field is repeated (RFC 6749, section 3.2) */
export function singleFormOf(body: unknown): Record<string, string> {
  if (listFields(body).some(([name, values]) => values.length > 1 && name !== REPEATABLE))
    throw new OAuthError(400, 'invalid_request', { description: 'duplicated parameter' })
  return formOf(body)
}

/** Returns the names of the fields of a form with their values. */
function listFields(body: unknown): [string, string[]][] {
  const fields = Object.entries((body ?? {}) as Record<string, string | string[]>)
  return fields.map(([name, value]) => [name, [value].flat()])
}
