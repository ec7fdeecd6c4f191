// The resource owner password credentials grant. RFC 6749, section 4.3.
import { toEpochSeconds } from '../../lib/epoch-seconds.ts'
import { SYSTEM } from '../../service/context/service.ts'
import { addClientSession, startSession } from '../../service/login/sessions.ts'
import { clearLoginFailures } from '../../service/users/lockout.ts'
import { findConsentRequest, isConsentNeeded } from '../consents.ts'
import { OAuthError } from '../oauth-error.ts'
import { OFFLINE_ACCESS, requireOfflineAccess, resolveScopes } from '../tokens/scopes.ts'
import { viewClient, viewStoredUser } from '../views.ts'
import { type DirectGrantLogin, runDirectGrantFlow } from './direct-grant-flow.ts'
import type { GrantHandler, GrantRequest, GrantResult } from './grant.ts'

/** Authenticates a user by the direct grant flow, and starts a session. */
export const grantByPassword: GrantHandler = async (request) => {
  const { service, realm, client, form, event } = request
  // Keycloak: the event of a client without direct access grants has this method.
  event.details.auth_method = 'oauth_credentials'
  checkDirectAccessGrants(request)
  if (form.username === undefined)
    throw new OAuthError(401, 'invalid_request', { description: 'Missing parameter: username' })
  const scopes = await service.read(SYSTEM, realm, (context) => resolveScopes(context, client, form.scope))
  event.details.auth_method = 'openid-connect'
  const login = await runDirectGrantFlow(request)
  checkRequiredActions(request, login)
  await checkConsent(request, login)
  return startLoginSession(request, login, scopes)
}

function checkDirectAccessGrants({ client }: GrantRequest): void {
  if (viewClient(client).directAccessGrantsEnabled === true) return
  const reason = 'Client not allowed for direct access grants'
  throw new OAuthError(400, 'unauthorized_client', { description: reason, event: { error: 'not_allowed', reason } })
}

function checkRequiredActions({ event }: GrantRequest, { user, hasRequiredActions }: DirectGrantLogin): void {
  if (!viewStoredUser(user).requiredActions?.length && !hasRequiredActions) return
  const reason = 'Account is not fully set up'
  // Keycloak: the event has no user.
  delete event.user
  throw new OAuthError(400, 'invalid_grant', {
    description: reason,
    event: { error: 'resolve_required_actions', reason },
  })
}

async function checkConsent({ service, realm, client, form }: GrantRequest, { user }: DirectGrantLogin): Promise<void> {
  if (viewClient(client).consentRequired !== true) return
  const consentRequest = await service.read(SYSTEM, realm, (context) =>
    findConsentRequest(context, { client, scope: form.scope ?? '', user }),
  )
  if (isConsentNeeded(consentRequest))
    throw new OAuthError(400, 'invalid_client', { description: 'Client requires user consent' })
}

function startLoginSession(
  { service, base, realm, client, form, address }: GrantRequest,
  { user, credential, usedCredentialTypes, methods }: DirectGrantLogin,
  scopes: readonly string[],
): Promise<GrantResult> {
  return service.writeRuntime(SYSTEM, realm, async (context) => {
    await requireOfflineAccess(context, client, { user: user.id, scopes })
    await clearLoginFailures(context, realm.settings, { id: user.id, otp: usedCredentialTypes.includes('otp') })
    const session = await startSession(context, {
      user: user.id,
      offline: scopes.includes(OFFLINE_ACCESS),
      address,
      body: {
        authTime: toEpochSeconds(realm.now),
        ...(credential !== undefined && { credential }),
        ...(methods && { methods }),
      },
    })
    const clientSession = await addClientSession(context, session, {
      client: client.id,
      scope: form.scope ?? '',
      base,
    })
    return { user, scopes, session, clientSession }
  })
}
