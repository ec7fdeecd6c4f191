// Resource owner password credentials. RFC 6749, section 4.3.
import { authenticate } from '../../service/login.ts'
import { SYSTEM } from '../../service/service.ts'
import { joinSession, startSession } from '../../service/sessions.ts'
import { consentTo, mustAsk } from '../consents.ts'
import { OAuthError } from '../oauth-error.ts'
import { secondsOf } from '../realm.ts'
import { grantedScopes } from '../scopes.ts'
import { type Grant, OFFLINE } from './grant.ts'

/** A name and a password begin a session. */
export const byPassword: Grant = async ({ service, base, realm, client, form, address }) => {
  if (client.representation.directAccessGrantsEnabled !== true) {
    throw new OAuthError(400, 'unauthorized_client', 'Client not allowed for direct access grants')
  }
  const { username, password } = form
  if (!username) throw new OAuthError(401, 'invalid_request', 'Missing parameter: username')
  const { loginWithEmailAllowed, duplicateEmailsAllowed } = realm.settings
  const byEmail = loginWithEmailAllowed === true && duplicateEmailsAllowed !== true
  const { scopes, user } = await service.read(SYSTEM, realm.name, async (context) => ({
    scopes: await grantedScopes(context, client, form.scope),
    user: await authenticate(context, username, password ?? '', byEmail),
  }))
  if (!user) throw new OAuthError(400, 'invalid_grant', 'Invalid user credentials')
  if (user.body.enabled !== true) throw new OAuthError(400, 'invalid_grant', 'Account disabled')
  if (((user.body.requiredActions ?? []) as string[]).length) {
    throw new OAuthError(400, 'invalid_grant', 'Account is not fully set up')
  }
  if (client.representation.consentRequired === true) {
    const agreement = await service.read(SYSTEM, realm.name, (context) =>
      consentTo(context, client, form.scope ?? '', user),
    )
    if (mustAsk(agreement)) throw new OAuthError(400, 'invalid_client', 'Client requires user consent')
  }
  return service.runtime(SYSTEM, realm.name, async (context) => {
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
