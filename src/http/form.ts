import { OAuthError } from '../oidc/oauth-error.ts'

/** Returns the fields of a form. Only the first value of a repeated field counts. */
export function formOf(body: unknown): Record<string, string> {
  const fields = Object.entries((body ?? {}) as Record<string, string | string[]>)
  return Object.fromEntries(fields.map(([name, value]) => [name, Array.isArray(value) ? value[0]! : value]))
}

/** Returns the fields of a form. @throws OAuthError if a field is repeated (RFC 6749, section 3.2) */
export function singleFormOf(body: unknown): Record<string, string> {
  const form = formOf(body)
  if (Object.values(body ?? {}).some(Array.isArray))
    throw new OAuthError(400, 'invalid_request', { description: 'duplicated parameter' })
  return form
}
