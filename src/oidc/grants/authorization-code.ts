// Authorization codes, with PKCE. RFC 6749, section 4.1; RFC 7636.
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import * as z from 'zod'
import type { Context, RuntimeContext } from '../../service/context/context.ts'
import { SYSTEM } from '../../service/context/service.ts'
import { consumeSingleUse, createSingleUse, findSingleUse } from '../../service/context/single-use.ts'
import { findUserById } from '../../service/login/find-user.ts'
import { endClientSessions, findActiveSession } from '../../service/login/sessions.ts'
import { requireConsent } from '../consents.ts'
import { OAuthError } from '../oauth-error.ts'
import type { RealmSettings } from '../oidc-realm.ts'
import { checkRequestedKey } from '../sender-constraints/confirmation.ts'
import { requireOfflineAccess, resolveScopes } from '../tokens/scopes.ts'
import { viewClient, viewStoredUser } from '../views.ts'
import type { GrantHandler, GrantRequest } from './grant.ts'

const authorizationCode = z.object({
  /** The id of the user session. */
  session: z.string(),
  offline: z.boolean(),
  /** The id of the client. */
  client: z.string(),
  scope: z.string(),
  /** The redirect URI of the authorization request, if it had one. */
  redirectUri: z.string().exactOptional(),
  nonce: z.string().exactOptional(),
  codeChallenge: z.string().exactOptional(),
  codeChallengeMethod: z.enum(['S256', 'plain']).exactOptional(),
  /** The thumbprint of the DPoP key that redeems the code. */
  dpopJkt: z.string().exactOptional(),
})

/** The stored data of an authorization code: a client session, and parameters of the authorization request. */
export type AuthorizationCode = Readonly<z.infer<typeof authorizationCode>>

/** Stores the data of a new authorization code for its lifespan, and returns the code. One statement. */
export async function createAuthorizationCode(
  context: RuntimeContext,
  { accessCodeLifespan }: RealmSettings,
  data: AuthorizationCode,
): Promise<string> {
  const code = randomBytes(32).toString('base64url')
  const expiresAt = new Date(context.now.getTime() + accessCodeLifespan * 1000)
  await createSingleUse(context, { key: getKey(code), expiresAt, body: { ...data } })
  return code
}

/** Exchanges an authorization code for tokens of its session. A code that is used again ends the client session of its first use. */
export const grantByAuthorizationCode: GrantHandler = async (request) => {
  const { service, realm, client, form } = request
  const { code } = form
  if (!code) {
    const reason = 'Missing parameter: code'
    throw new OAuthError(400, 'invalid_request', { description: reason, event: { error: 'invalid_code', reason } })
  }
  return service.writeRuntime(SYSTEM, realm, async (context) => {
    const data = await redeemCode(context, request, code)
    const { user, session, clientSession } = await getSession(context, request, data)
    for (const check of [checkClient, checkRedirectUri, checkCodeVerifier, checkKey, checkStandardFlow])
      check(request, data)
    if (!clientSession) throw createError('Code not valid', 'invalid_code')
    const scopes = await resolveScopes(context, client, data.scope)
    await requireOfflineAccess(context, client, { user: user.id, scopes })
    await requireConsent(context, { client, user, scopes })
    return { user, scopes, session, clientSession, ...(data.nonce !== undefined && { nonce: data.nonce }) }
  })
}

/** Returns the scope of an authorization code, which is not used by that; undefined if there is no such code. One statement. */
export async function findCodeScope(context: Context, code: string): Promise<string | undefined> {
  const body = await findSingleUse(context, getKey(code))
  return body && authorizationCode.parse(body).scope
}

async function redeemCode(context: RuntimeContext, { event }: GrantRequest, code: string): Promise<AuthorizationCode> {
  const used = await consumeSingleUse(context, getKey(code))
  if (!used) throw createError('Code not valid', 'invalid_code')
  const data = authorizationCode.parse(used.body)
  event.session = data.session
  event.details.code_id = data.session
  if (!used.isFirst) {
    await endClientSessions(context, data.client, { id: data.session, offline: data.offline })
    throw createError('Code not valid', 'invalid_code')
  }
  return data
}

async function getSession(context: Context, { realm, client, event }: GrantRequest, data: AuthorizationCode) {
  const active = await findActiveSession(context, realm.settings, {
    id: data.session,
    offline: data.offline,
    client: client.id,
    lock: true,
  })
  const user = active && (await findUserById(context, active.user))
  if (!active || !user) throw createError('Code not valid', 'invalid_code')
  event.user = user.id
  if (viewStoredUser(user).enabled !== true) throw createError('User disabled', 'user_disabled')
  const { clientSession, ...session } = active
  return { user, session, clientSession }
}

function checkClient({ client }: GrantRequest, data: AuthorizationCode): void {
  if (data.client === client.id) return
  const reason = 'Auth error: Found different client_id in clientSession'
  throw createError(reason, 'invalid_client', reason)
}

function checkRedirectUri({ form }: GrantRequest, data: AuthorizationCode): void {
  if (data.redirectUri === undefined || data.redirectUri === form.redirect_uri) return
  const reason = `The authorization request had the redirect URI ${data.redirectUri}, but the token request has ${form.redirect_uri ?? 'none'}`
  throw createError('Incorrect redirect_uri', 'invalid_redirect_uri', reason)
}

function checkCodeVerifier({ form }: GrantRequest, { codeChallenge, codeChallengeMethod }: AuthorizationCode): void {
  const verifier = form.code_verifier
  // RFC 9700, section 4.8.2: a verifier without a challenge is a PKCE downgrade attack.
  if (codeChallenge === undefined) {
    const reason = 'PKCE code verifier specified but challenge not present in authorization'
    if (verifier !== undefined) throw createError(reason, 'invalid_code_verifier', reason)
    return
  }
  if (verifier === undefined) {
    const reason = 'PKCE code verifier not specified'
    throw createError(reason, 'code_verifier_missing', reason)
  }
  if (!/^[\w.~-]{43,128}$/.test(verifier)) {
    const reason = 'Invalid code verifier'
    throw createError(`PKCE verification failed: ${reason}`, 'invalid_code_verifier', reason)
  }
  const challenge =
    codeChallengeMethod === 'S256' ? createHash('sha256').update(verifier).digest('base64url') : verifier
  const [expected, actual] = [Buffer.from(codeChallenge), Buffer.from(challenge)]
  if (expected.length !== actual.length || !timingSafeEqual(expected, actual))
    throw createError('PKCE verification failed: Code mismatch', 'pkce_verification_failed', 'Code mismatch')
}

const checkKey = ({ confirmation }: GrantRequest, { dpopJkt }: AuthorizationCode): void =>
  checkRequestedKey(dpopJkt, confirmation)

function checkStandardFlow({ client }: GrantRequest): void {
  if (viewClient(client).standardFlowEnabled === true) return
  throw new OAuthError(400, 'unauthorized_client', { description: 'Client not allowed for direct access grants' })
}

/** Returns the key of a code: only a digest is stored, so that a leaked database reveals no codes. */
const getKey = (code: string) => `code ${createHash('sha256').update(code).digest('base64url')}`

const createError = (description: string, error: string, reason?: string) =>
  new OAuthError(400, 'invalid_grant', { description, event: { error, ...(reason && { reason }) } })
