// Token responses. No token outlives its session.

import { createHash, randomUUID } from 'node:crypto'
import { readFlag } from '../../kinds/json.ts'
import { isLifespan } from '../../kinds/setting-texts.ts'
import { toEpochSeconds } from '../../lib/epoch-seconds.ts'
import { type Service, SYSTEM } from '../../service/context/service.ts'
import type { ClientSession, UserSession } from '../../service/context/store-types.ts'
import { getSessionEnd, getSessionLifespan } from '../../service/login/sessions.ts'
import type { LiveObject } from '../../service/objects/live-objects.ts'
import type { ClientCall, RealmEndpoint } from '../client-call.ts'
import { CannotEncrypt, encryptForClient } from '../encryption/encrypt-for-client.ts'
import type { GrantRequest, GrantResult, TokenPermissions } from '../grants/grant.ts'
import type { TokenSubject } from '../mappers/mapper.ts'
import { OAuthError } from '../oauth-error.ts'
import { getIssuer, type OidcRealm } from '../oidc-realm.ts'
import { getRefreshConfirmation, toClaim } from '../sender-constraints/confirmation.ts'
import { getSignatureAlgorithm, INTERNAL_ALGORITHM } from '../signature-algorithms.ts'
import { viewClient, viewStoredUser } from '../views.ts'
import { buildTokenContent, type Claims, type TokenContent } from './token-content.ts'
import { readSessionSubject } from './token-subject.ts'
import { signToken } from './tokens.ts'

/** Issued tokens: the response to the client, and what identifies the tokens. */
export interface IssuedTokens {
  readonly response: Readonly<Record<string, unknown>>
  readonly accessTokenId: string
  readonly refreshToken: { readonly id: string; readonly type: string } | undefined
}

/** Issues the tokens of a granted token request. RFC 6749, section 5.1. */
export async function issueGrantedTokens(
  { service, base }: Pick<RealmEndpoint, 'service' | 'base'>,
  { realm, client, confirmation }: Pick<GrantRequest, 'realm' | 'client' | 'confirmation'>,
  granted: GrantResult,
): Promise<IssuedTokens> {
  const { user, session, clientSession } = granted
  const content = await loadContent({ service, base }, { realm, client }, granted)
  const now = toEpochSeconds(realm.now)
  const lifespan = getAccessTokenLifespan(realm, client, session)
  const [exp, iss] = [now + lifespan, getIssuer(base, realm)]
  const issuedTo = { client: client.id, ...(session ? { session: session.id } : { user: user.id }) }
  const sign = (typ: string, claims: Claims & { readonly jti: string }, algorithm: string) =>
    signToken(service, realm, { claims: { ...claims, iat: now, iss, typ }, algorithm, issuedTo })
  const accessTokenId = randomUUID()
  const { refreshScopes = content.scopes, permissions } = granted
  const claims = addPermissions(content.claims('accessToken'), permissions)
  // Keycloak: the type of the response is that of the claim, too.
  const type = confirmation?.jkt === undefined ? 'Bearer' : 'DPoP'
  const getAlgorithm = (token: 'access' | 'id') => getSignatureAlgorithm(realm.settings, client.representation, token)
  const accessClaims = { ...claims, ...toClaim(confirmation), exp, jti: accessTokenId }
  const accessToken = await sign(type, accessClaims, getAlgorithm('access'))
  const createIdToken = async () => {
    const hash = createHalfHash(accessToken, getAlgorithm('id'))
    const idClaims = { ...content.claims('idToken'), exp, at_hash: hash, jti: randomUUID() }
    return encryptIdToken(service, client, await sign('ID', idClaims, getAlgorithm('id')))
  }
  const refresh =
    session && clientSession && hasRefreshTokens(client)
      ? getRefreshTokenClaims(realm, client, { session, clientSession })
      : undefined
  // Keycloak: a refresh token has the subject of the access token, and all granted scope values.
  const refreshClaims = {
    aud: iss,
    ...(claims.sub !== undefined && { sub: claims.sub }),
    azp: client.key[0],
    sid: session?.id,
    scope: refreshScopes.join(' '),
    ...(permissions && { authorization: permissions.authorization }),
    ...toClaim(getRefreshConfirmation(client, confirmation)),
    ...refresh,
    jti: randomUUID(),
  }
  // Mappers may add members, but not these, not even where the response has none.
  const { refresh_token: _, id_token: __, session_state: ___, ...added } = content.claims('response')
  const response = {
    ...added,
    access_token: accessToken,
    expires_in: lifespan,
    refresh_expires_in: refresh?.exp === undefined ? 0 : refresh.exp - now,
    ...(refresh && { refresh_token: await sign(refresh.typ, refreshClaims, INTERNAL_ALGORITHM) }),
    token_type: type,
    ...(refreshScopes.includes('openid') && { id_token: await createIdToken() }),
    'not-before-policy': Math.max(realm.settings.notBefore, viewStoredUser(user).notBefore ?? 0),
    ...(session && { session_state: session.id }),
    scope: content.scope,
  }
  return { response, accessTokenId, refreshToken: refresh && { id: refreshClaims.jti, type: refresh.typ } }
}

/** Encrypts an ID token if the client requires it. Throws OAuthError where the client has no key. */
async function encryptIdToken(service: Service, client: LiveObject, content: string): Promise<string> {
  try {
    return await encryptForClient(service, client, { kind: 'id', content })
  } catch (error) {
    if (!(error instanceof CannotEncrypt)) throw error
    const reason = error.message
    throw new OAuthError(400, 'invalid_request', { description: reason, event: { error: 'invalid_request', reason } })
  }
}

/** Adds permissions to the claims of an access token, whose first recipient is the client with the resources. */
function addPermissions(claims: Claims, permissions: TokenPermissions | undefined): Claims {
  if (!permissions) return claims
  const { audience, authorization } = permissions
  const recipients = [...new Set([audience ?? [], claims.aud ?? []].flat())]
  const aud = recipients.length > 1 ? recipients : recipients[0]
  return { ...claims, authorization, ...(aud !== undefined && { aud }) }
}

/** Loads the claims of the response's tokens. */
function loadContent(
  { service, base }: Pick<RealmEndpoint, 'service' | 'base'>,
  { realm, client }: Pick<ClientCall, 'realm' | 'client'>,
  { user, scopes, nonce, sessionNotes, session, clientSession }: GrantResult,
): Promise<TokenContent> {
  const subject: TokenSubject = {
    ...{ base, realm, client, user, scopes, nonce, notes: sessionNotes },
    ...(session && readSessionSubject(session, clientSession)),
  }
  return service.read(SYSTEM, realm, (context) =>
    buildTokenContent(context, { service, subject, targets: ['accessToken', 'idToken', 'response'] }),
  )
}

/** Returns the `at_hash` claim: the first half of a digest of the signature's size. OpenID Connect Core, section 3.1.3.6. */
function createHalfHash(token: string, algorithm: string): string {
  const size = algorithm === 'EdDSA' ? '512' : algorithm.slice(-3)
  const digest = createHash(`sha${size}`).update(token).digest()
  return digest.subarray(0, digest.length / 2).toString('base64url')
}

/** A user session with the client session of one client. */
export interface ClientSessionPair {
  readonly session: UserSession
  readonly clientSession: ClientSession
}

/** Returns the time when a client session ends unless it is used again. Keycloak: SessionExpirationUtils. */
export function getClientSessionEnd(
  { settings }: Pick<OidcRealm, 'settings'>,
  client: LiveObject,
  { session, clientSession: { startedAt, refreshedAt } }: ClientSessionPair,
): Date {
  const { attributes = {} } = viewClient(client)
  const getLimit = (attribute: string, setting: number | undefined) => Number(attributes[attribute] || setting || 0)
  const [max, idle] = session.offline
    ? [
        settings.offlineSessionMaxLifespanEnabled === true
          ? getLimit('client.offline.session.max.lifespan', settings.clientOfflineSessionMaxLifespan)
          : 0,
        getLimit('client.offline.session.idle.timeout', settings.clientOfflineSessionIdleTimeout),
      ]
    : [
        getLimit('client.session.max.lifespan', settings.clientSessionMaxLifespan),
        getLimit('client.session.idle.timeout', settings.clientSessionIdleTimeout),
      ]
  const ends = [getSessionEnd(settings, session).getTime()]
  if (max > 0) ends.push(startedAt.getTime() + max * 1000)
  if (idle > 0) ends.push(refreshedAt.getTime() + idle * 1000)
  return new Date(Math.min(...ends))
}

/** Keycloak: the lifespan of an access token that ends with a regular session. It has ended where such sessions have no end. */
const AS_SESSION = -1

/** Returns the lifespan of an access token in seconds. Throws OAuthError if the one of the client is invalid. */
export function getAccessTokenLifespan(
  { settings, now }: OidcRealm,
  client: LiveObject,
  session: UserSession | undefined,
): number {
  const { attributes = {} } = viewClient(client)
  const ofClient = attributes['access.token.lifespan']
  if (ofClient && !isLifespan(ofClient)) {
    const reason = `The client has the access.token.lifespan ${ofClient}, which is not a whole number of seconds`
    throw new OAuthError(400, 'invalid_request', { description: reason, event: { error: 'invalid_request', reason } })
  }
  const lifespan = Number(ofClient || settings.accessTokenLifespan)
  const { offline, rememberMe, startedAt } = session ?? { offline: false, rememberMe: false, startedAt: now }
  const age = (now.getTime() - startedAt.getTime()) / 1000
  const secondsLeft = (isOffline: boolean) => getSessionLifespan(settings, { offline: isOffline, rememberMe }).max - age
  const ofSession = Number.isFinite(secondsLeft(false)) ? secondsLeft(false) : 0
  const limited = lifespan === AS_SESSION ? ofSession : lifespan
  return session ? Math.floor(Math.min(limited, secondsLeft(offline))) : limited
}

/** Returns the type and the end of a refresh token. Keycloak: without a maximum lifespan of offline sessions, theirs have no end. */
function getRefreshTokenClaims(realm: OidcRealm, client: LiveObject, { session, clientSession }: ClientSessionPair) {
  const end = getClientSessionEnd(realm, client, {
    session: { ...session, refreshedAt: realm.now },
    clientSession: { ...clientSession, refreshedAt: realm.now },
  })
  const isUnlimited = session.offline && realm.settings.offlineSessionMaxLifespanEnabled !== true
  return { typ: session.offline ? 'Offline' : 'Refresh', ...(!isUnlimited && { exp: toEpochSeconds(end) }) }
}

function hasRefreshTokens(client: LiveObject): boolean {
  return readFlag(viewClient(client).attributes?.['use.refresh.tokens'], true)
}
