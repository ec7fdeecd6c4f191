// Authorization codes, with PKCE. RFC 6749, section 4.1; RFC 7636.
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import type { Representation } from '../../kinds/json.ts'
import type { RuntimeContext } from '../../service/context/context.ts'
import { SYSTEM } from '../../service/context/service.ts'
import { keepForOneUse, useOnce } from '../../service/context/single-use.ts'
import { findById } from '../../service/login/login.ts'
import { findGoingOn, leaveSessions } from '../../service/login/sessions.ts'
import { OAuthError } from '../oauth-error.ts'
import { demandOffline, grantedScopes } from '../tokens/scopes.ts'
import type { Grant } from './grant.ts'

/** What a code stands for: a client's part of a session, and what the request to the authorization endpoint said. */
export interface CodeGrant {
  readonly session: string
  readonly offline: boolean
  /** The client's id. */
  readonly client: string
  readonly scope: string
  /** As the request named it; absent where it named none. */
  readonly redirectUri?: string
  readonly nonce?: string
  readonly codeChallenge?: string
  readonly codeChallengeMethod?: 'S256' | 'plain'
}

/** Keeps what a new code stands for, for as long as the realm lets codes live, and gives the code. One statement. */
export async function issueCode(context: RuntimeContext, settings: Representation, grant: CodeGrant): Promise<string> {
  const code = randomBytes(32).toString('base64url')
  const expiresAt = new Date(context.now.getTime() + Number(settings.accessCodeLifespan ?? 60) * 1000)
  await keepForOneUse(context, { key: keyOf(code), expiresAt, body: { ...grant } })
  return code
}

/** A code goes on with the log-in that it came from. A code that is used again ends what the first use gave. */
export const byAuthorizationCode: Grant = async ({ service, realm, client, form, notes }) => {
  const { code, redirect_uri: redirectUri, code_verifier: verifier } = form
  if (!code) {
    const reason = 'Missing parameter: code'
    throw new OAuthError(400, 'invalid_request', reason, { error: 'invalid_code', reason })
  }
  return service.runtime(SYSTEM, realm, async (context) => {
    const used = await useOnce(context, keyOf(code))
    if (!used) throw refuse('Code not valid', 'invalid_code')
    const kept = used.body as unknown as CodeGrant
    notes.session = kept.session
    notes.details.code_id = kept.session
    if (!used.first) {
      await leaveSessions(context, kept.client, { id: kept.session, offline: kept.offline })
      throw refuse('Code not valid', 'invalid_code')
    }
    const found = await findGoingOn(context, realm.settings, {
      id: kept.session,
      offline: kept.offline,
      client: client.id,
      lock: true,
    })
    const user = found && (await findById(context, found.user))
    if (!found || !user) throw refuse('Code not valid', 'invalid_code')
    notes.user = user.id
    if (user.body.enabled !== true) throw refuse('User disabled', 'user_disabled')
    if (kept.client !== client.id) {
      const reason = 'Auth error: Found different client_id in clientSession'
      throw refuse(reason, 'invalid_client', reason)
    }
    if (kept.redirectUri !== undefined && kept.redirectUri !== redirectUri) {
      const reason = `The code was asked for with the redirect URI ${kept.redirectUri}, and is used with ${redirectUri ?? 'none'}`
      throw refuse('Incorrect redirect_uri', 'invalid_redirect_uri', reason)
    }
    verify(kept, verifier)
    if (client.representation.standardFlowEnabled !== true) {
      throw new OAuthError(400, 'unauthorized_client', 'Client not allowed for direct access grants')
    }
    const { part, ...session } = found
    if (!part) throw refuse('Code not valid', 'invalid_code')
    const scopes = await grantedScopes(context, client, kept.scope)
    await demandOffline(context, client, user.id, scopes)
    return { user, scopes, session, part, ...(kept.nonce !== undefined && { nonce: kept.nonce }) }
  })
}

/** A code is kept as its digest: who reads the store cannot use it. */
const keyOf = (code: string) => `code ${createHash('sha256').update(code).digest('base64url')}`

const refuse = (why: string, error: string, reason?: string) =>
  new OAuthError(400, 'invalid_grant', why, { error, ...(reason && { reason }) })

function verify({ codeChallenge, codeChallengeMethod }: CodeGrant, verifier: string | undefined): void {
  // RFC 9700, section 4.8.2: a verifier where none was announced is a downgrade.
  if (codeChallenge === undefined) {
    const reason = 'PKCE code verifier specified but challenge not present in authorization'
    if (verifier !== undefined) throw refuse(reason, 'invalid_code_verifier', reason)
    return
  }
  if (verifier === undefined) {
    const reason = 'PKCE code verifier not specified'
    throw refuse(reason, 'code_verifier_missing', reason)
  }
  if (!/^[\w.~-]{43,128}$/.test(verifier)) {
    const reason = 'Invalid code verifier'
    throw refuse(`PKCE verification failed: ${reason}`, 'invalid_code_verifier', reason)
  }
  const shown = codeChallengeMethod === 'S256' ? createHash('sha256').update(verifier).digest('base64url') : verifier
  const [expected, given] = [codeChallenge, shown].map((text) => Buffer.from(text))
  if (expected!.length !== given!.length || !timingSafeEqual(expected!, given!))
    throw refuse('PKCE verification failed: Code mismatch', 'pkce_verification_failed', 'Code mismatch')
}
