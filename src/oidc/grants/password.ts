// Resource owner password credentials. RFC 6749, section 4.3.

import { secondsOf } from '../../lib/seconds.ts'
import { SYSTEM } from '../../service/context/service.ts'
import { joinSession, startSession } from '../../service/login/sessions.ts'
import { forgetFailures } from '../../service/users/lockout.ts'
import { consentTo, mustAsk } from '../consents.ts'
import { OAuthError } from '../oauth-error.ts'
import { demandOffline, grantedScopes, OFFLINE } from '../tokens/scopes.ts'
import { authenticateDirectly } from './direct-grant.ts'
import type { Grant } from './grant.ts'

/** A name and a password begin a session. */
export const byPassword: Grant = async (call) => {
  const { service, base, realm, client, form, address, notes } = call
  // Keycloak: before it is looked who is meant.
  notes.details.auth_method = 'oauth_credentials'
  if (client.representation.directAccessGrantsEnabled !== true) {
    const reason = 'Client not allowed for direct access grants'
    throw new OAuthError(400, 'unauthorized_client', reason, { error: 'not_allowed', reason })
  }
  if (form.username === undefined) throw new OAuthError(401, 'invalid_request', 'Missing parameter: username')
  const scopes = await service.read(SYSTEM, realm, (context) => grantedScopes(context, client, form.scope))
  notes.details.auth_method = 'openid-connect'
  const { user, credential, used, methods } = await authenticateDirectly(call)
  if (((user.body.requiredActions ?? []) as string[]).length) {
    const reason = 'Account is not fully set up'
    // Keycloak: of whom is not told.
    delete notes.user
    throw new OAuthError(400, 'invalid_grant', reason, { error: 'resolve_required_actions', reason })
  }
  if (client.representation.consentRequired === true) {
    const agreement = await service.read(SYSTEM, realm, (context) => consentTo(context, client, form.scope ?? '', user))
    if (mustAsk(agreement)) throw new OAuthError(400, 'invalid_client', 'Client requires user consent')
  }
  return service.runtime(SYSTEM, realm, async (context) => {
    await demandOffline(context, client, user.id, scopes)
    await forgetFailures(context, realm.settings, user, used.includes('otp'))
    const session = await startSession(context, {
      user: user.id,
      offline: scopes.includes(OFFLINE),
      address,
      body: {
        authTime: secondsOf(realm.now),
        ...(credential !== undefined && { credential }),
        ...(methods && { methods }),
      },
    })
    const part = await joinSession(context, session, client.id, { scope: form.scope ?? '', base })
    return { user, scopes, session, part }
  })
}
