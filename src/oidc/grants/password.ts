// Resource owner password credentials. RFC 6749, section 4.3.
import { authenticate, findUserByName } from '../../service/login.ts'
import { SYSTEM } from '../../service/service.ts'
import { joinSession, startSession } from '../../service/sessions.ts'
import { consentTo, mustAsk } from '../consents.ts'
import { OAuthError } from '../oauth-error.ts'
import { secondsOf } from '../realm.ts'
import { demandOffline, grantedScopes, OFFLINE } from '../scopes.ts'
import type { Grant } from './grant.ts'

/** A name and a password begin a session. */
export const byPassword: Grant = async ({ service, base, realm, client, form, address, notes }) => {
  // Keycloak: before it is looked who is meant.
  notes.details.auth_method = 'oauth_credentials'
  if (client.representation.directAccessGrantsEnabled !== true) {
    const reason = 'Client not allowed for direct access grants'
    throw new OAuthError(400, 'unauthorized_client', reason, { error: 'not_allowed', reason })
  }
  const { username, password } = form
  if (username === undefined) throw new OAuthError(401, 'invalid_request', 'Missing parameter: username')
  const { loginWithEmailAllowed, duplicateEmailsAllowed } = realm.settings
  const byEmail = loginWithEmailAllowed === true && duplicateEmailsAllowed !== true
  const { scopes, user, meant } = await service.read(SYSTEM, realm.name, async (context) => {
    const scopes = await grantedScopes(context, client, form.scope)
    const user = await authenticate(context, username, password ?? '', byEmail)
    return { scopes, user, meant: user ?? (await findUserByName(context, username, byEmail)) }
  })
  Object.assign(notes.details, { auth_method: 'openid-connect', username: username || undefined })
  notes.user = meant?.id
  const disabled = meant && meant.body.enabled !== true
  if (!user) {
    const error = disabled ? 'user_disabled' : meant ? 'invalid_user_credentials' : 'user_not_found'
    throw new OAuthError(400, 'invalid_grant', 'Invalid user credentials', { error })
  }
  if (disabled) throw new OAuthError(400, 'invalid_grant', 'Account disabled', { error: 'user_disabled' })
  if (((user.body.requiredActions ?? []) as string[]).length) {
    const reason = 'Account is not fully set up'
    // Keycloak: of whom is not told.
    delete notes.user
    throw new OAuthError(400, 'invalid_grant', reason, { error: 'resolve_required_actions', reason })
  }
  if (client.representation.consentRequired === true) {
    const agreement = await service.read(SYSTEM, realm.name, (context) =>
      consentTo(context, client, form.scope ?? '', user),
    )
    if (mustAsk(agreement)) throw new OAuthError(400, 'invalid_client', 'Client requires user consent')
  }
  return service.runtime(SYSTEM, realm.name, async (context) => {
    await demandOffline(context, client, user.id, scopes)
    const session = await startSession(context, {
      user: user.id,
      offline: scopes.includes(OFFLINE),
      address,
      body: { authTime: secondsOf(realm.now), credential: user.credential },
    })
    const part = await joinSession(context, session, client.id, { scope: form.scope ?? '', base })
    return { user, scopes, session, part }
  })
}
