// Authenticators without a page.
import type { Authenticator } from '../login.ts'
import { LoginError } from '../login-error.ts'

/** Always succeeds. Keycloak: allow-access-authenticator. */
export const allowAccess: Authenticator = { authenticate: () => 'success' }

/** Always fails, with the configured error message. Keycloak: deny-access-authenticator. */
export const denyAccess: Authenticator = {
  authenticate(_login, { config }) {
    throw new LoginError(config.denyErrorMessage || 'accessDenied', 'access_denied', { status: 401 })
  },
}

/** Fails for a selected identity provider, since identity brokering is not supported. Keycloak: identity-provider-redirector. */
export const identityProviderRedirector: Authenticator = {
  authenticate({ state }, { config }) {
    const provider = state.parameters.providerHint ?? config.defaultProvider
    // Keycloak: an empty hint overrides the default provider.
    if (!provider) return 'attempted'
    throw new LoginError('unsupportedStepMessage', 'identity_provider_not_found', { params: [provider] })
  },
}
