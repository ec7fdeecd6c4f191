// Steps that Regent does not execute. They are known so far that a flow which does not need them of a person goes on
// without them, and one that does fails: no second factor is left out because nobody here can ask for it.
import type { Authenticator, Login } from '../login.ts'
import { LoginError } from '../login-error.ts'

/** Needs a credential of that type. */
const needing = (credential: string): Authenticator => ({
  ofPerson: true,
  configured: ({ person }) => person?.credentials.some(({ type }) => type === credential) === true,
  begin: unexecuted,
})

/** The steps by provider. What is neither here nor executed is needed of everybody. */
export const unexecutedSteps: Readonly<Record<string, Authenticator>> = {
  'webauthn-authenticator': needing('webauthn'),
  'webauthn-authenticator-passwordless': needing('webauthn-passwordless'),
  'auth-recovery-authn-code-form': needing('recovery-authn-codes'),
}

/** Fails, and says what was to be done. */
export function unexecuted(_login: Login, { authenticator = '' }: { readonly authenticator?: string }): never {
  throw new LoginError('unsupportedStepMessage', 'generic_authentication_error', [authenticator])
}
