// Refresh tokens, with rotation and detection of reuse. RFC 6749, section 6; RFC 9700, section 4.14.
import type { Representation } from '../../kinds/json.ts'
import { secondsOf } from '../../lib/seconds.ts'
import { SYSTEM } from '../../service/context/service.ts'
import { timesUsed } from '../../service/context/single-use.ts'
import type { StoredUser } from '../../service/context/store-types.ts'
import { findById } from '../../service/login/login.ts'
import { findGoingOn, leaveSessions, refreshSession } from '../../service/login/sessions.ts'
import { stillHas } from '../../service/login/standing.ts'
import { OAuthError } from '../oauth-error.ts'
import { grantedScopes, scopesWithin, withDefaults } from '../tokens/scopes.ts'
import { partEnd } from '../tokens/token-response.ts'
import { verifyToken } from '../tokens/tokens.ts'
import { type Grant, wordsOf } from './grant.ts'

const refuse = (reason: string) => new OAuthError(400, 'invalid_grant', reason, { error: 'invalid_token', reason })

/** A refresh token goes on with its session. */
export const byRefreshToken: Grant = async ({ service, realm, client, form, notes }) => {
  if (!form.refresh_token) throw new OAuthError(400, 'invalid_request', 'No refresh token')
  const asked = await service.read(SYSTEM, realm, (context) => grantedScopes(context, client, form.scope))
  const verified = await verifyToken(service, form.refresh_token, ['Refresh', 'Offline'])
  if (verified?.realm.number !== realm.number) throw refuse('Invalid refresh token')
  const { claims, issuedTo } = verified
  const { sub, iat = 0, jti = '', exp, typ, scope } = claims
  const sid = issuedTo.session ?? ''
  if (issuedTo.client !== client.id)
    throw refuse("Invalid refresh token. Token client and authorized client don't match")
  notes.session = sid
  Object.assign(notes.details, {
    refresh_token_id: jti,
    refresh_token_type: typ,
    refresh_token_sub: sub as string | undefined,
  })
  const offline = typ === 'Offline'
  const lasting = wordsOf(scope)

  return service.runtime(SYSTEM, realm, async (context) => {
    const found = await findGoingOn(context, realm.settings, { id: sid, offline, client: client.id, lock: true })
    const over = refuse(offline ? 'Offline user session not found' : 'Session not active')
    if (!found?.part) throw over
    const { part, ...session } = found
    // The token's subject may be one that mappers made: the session knows whose it is.
    const user = await findById(context, session.user)
    if (!user) throw refuse('Invalid refresh token')
    if (user.body.enabled !== true) throw refuse('User disabled')
    if (iat < notBefore(client.representation, user)) throw refuse('Stale token')
    const { credential } = session.body as { credential?: string }
    if (context.now >= partEnd(realm.settings, client, session, part)) throw over
    // A new password ends what began with the old one.
    if (credential !== undefined && !(await stillHas(context, user.id, credential))) throw over
    if (realm.settings.revokeRefreshToken === true) {
      const uses = await timesUsed(context, `refresh ${jti}`, new Date((exp ?? 4e9) * 1000))
      if (uses > 1 + Number(realm.settings.refreshTokenMaxReuse ?? 0)) {
        await leaveSessions(context, client.id, { id: sid, offline })
        throw refuse('Maximum allowed refresh token reuse exceeded')
      }
    }
    await refreshSession(context, session, part)
    notes.details.age_of_refresh_token = String(secondsOf(context.now) - iat)
    // Keycloak: what the client may have and was not granted before is left out.
    const scopes = form.scope ? scopesWithin(client, lasting, asked) : withDefaults(client, lasting)
    return { user, scopes, lasting, session: { ...session, refreshedAt: context.now }, part }
  })
}

function notBefore(client: Representation, { body }: StoredUser): number {
  return Math.max(Number(client.notBefore ?? 0), Number(body.notBefore ?? 0))
}
