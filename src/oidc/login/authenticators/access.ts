// Authenticators without a page.
import { listObjects } from '../../../service/objects/live-objects.ts'
import { type Authenticator, type Login, readRealm } from '../login.ts'
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
  async authenticate(login, { config }): Promise<'attempted'> {
    const { providerHint: hint } = login.state.parameters
    const provider = hint ?? config.defaultProvider
    // Keycloak: an empty hint and one for an unknown provider override the default provider.
    if (!provider || (hint !== undefined && !(await isProviderEnabled(login, hint)))) return 'attempted'
    throw new LoginError('unsupportedStepMessage', 'identity_provider_not_found', { params: [provider] })
  },
}

async function isProviderEnabled(login: Login, alias: string): Promise<boolean> {
  const [live] = await readRealm(login, (context) => listObjects(context, 'identityProvider', { keys: [[alias]] }))
  return live !== undefined && live.representation.enabled !== false
}
