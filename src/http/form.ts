import { OAuthError } from '../oidc/oauth-error.ts'

/** The fields of a form; of several values of a field the first counts. */
export function formOf(body: unknown): Record<string, string> {
  const fields = Object.entries((body ?? {}) as Record<string, string | string[]>)
  return Object.fromEntries(fields.map(([name, value]) => [name, Array.isArray(value) ? value[0]! : value]))
}

/** The fields of a form in which none may stand twice. RFC 6749, section 3.2. Throws OAuthError. */
export function singleFormOf(body: unknown): Record<string, string> {
  const form = formOf(body)
  if (Object.values(body ?? {}).some(Array.isArray))
    throw new OAuthError(400, 'invalid_request', { description: 'duplicated parameter' })
  return form
}
