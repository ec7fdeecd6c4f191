// Authenticators that Regent does not support. A flow continues without one that its user cannot use, and fails with one
// that the user must pass: a second factor is never skipped.
import { unsupportedCredentials } from '../../../kinds/authentication-providers.ts'
import type { Authenticator, Login } from '../login.ts'
import { LoginError } from '../login-error.ts'

/** Creates an authenticator that requires a type of credential. */
const requireCredential = (credentialType: string): Authenticator => ({
  requiresUser: true,
  isConfigured: ({ user }) => user?.credentials.some(({ type }) => type === credentialType) === true,
  authenticate: failUnsupported,
})

/** The unsupported authenticators, by provider id. Every other unsupported authenticator is required of every user. */
export const unsupportedAuthenticators: Readonly<Record<string, Authenticator>> = Object.fromEntries(
  Object.entries(unsupportedCredentials).map(([id, type]) => [id, requireCredential(type)]),
)

/** Throws the LoginError for an unsupported authenticator. */
export function failUnsupported(_login: Login, { authenticator = '' }: { readonly authenticator?: string }): never {
  throw new LoginError('unsupportedStepMessage', 'generic_authentication_error', { params: [authenticator] })
}
