// Steps that ask nobody anything.
import type { Authenticator } from '../login.ts'
import { LoginError } from '../login-error.ts'

/** Lets everybody on who came so far. */
export const allow: Authenticator = { begin: () => 'success' }

/** Lets nobody on. */
export const deny: Authenticator = {
  begin(_login, { config }) {
    throw new LoginError(config.denyErrorMessage || 'accessDenied', 'access_denied', [], 401)
  },
}

/** Sends people to an identity provider, where the application or the realm names one: to none yet. */
export const redirector: Authenticator = {
  begin({ state }, { config }) {
    const named = state.parameters.providerHint ?? config.defaultProvider
    // Keycloak: an empty hint keeps people here.
    if (!named) return 'attempted'
    throw new LoginError('unsupportedStepMessage', 'identity_provider_not_found', [named])
  },
}
