// The UserInfo endpoint. OpenID Connect Core 1.0, section 5.3.
import { readFlag, readTextMap } from '../../kinds/json.ts'
import { SYSTEM } from '../../service/context/service.ts'
import type { Transport } from '../../service/context/transport.ts'
import type { LiveObject } from '../../service/objects/live-objects.ts'
import type { RealmCall, RealmEndpoint } from '../client-call.ts'
import { applyRequestPolicies } from '../client-policies/apply-request-policies.ts'
import { CannotEncrypt, encryptForClient } from '../encryption/encrypt-for-client.ts'
import { type EventDraft, withUserEvent } from '../event-draft.ts'
import { hasLightweightAccessTokens } from '../mappers/active-mappers.ts'
import type { TokenSubject } from '../mappers/mapper.ts'
import { BearerError, OAuthError } from '../oauth-error.ts'
import { getIssuer, getOidcRealm, type OidcRealm } from '../oidc-realm.ts'
import { isBoundAsRequired, isSender, type PresentedToken } from '../sender-constraints/check-sender.ts'
import type { SenderEvidence } from '../sender-constraints/confirmation.ts'
import { findRequestedAlgorithm } from '../signature-algorithms.ts'
import { buildTokenContent, type Claims } from '../tokens/token-content.ts'
import { getTokenSubject } from '../tokens/token-subject.ts'
import { ACCESS_TOKENS, isActiveToken, signToken, verifyTokenStatus } from '../tokens/tokens.ts'
import { checkOrigin } from '../web-origins.ts'

/** A request with the access tokens of its header and of its form. */
export interface UserInfoRequest extends Transport, SenderEvidence {
  readonly method: string
  /** The token of the Authorization header. */
  readonly header?: Pick<PresentedToken, 'scheme' | 'accessToken'> | undefined
  /** The token of the form. */
  readonly form?: string | undefined
  /** The origin of the page that sent the request. */
  readonly origin?: string | undefined
}

/** Returns the claims about the user of an access token; a signed token where the client selects an algorithm. Throws BearerError and OAuthError. */
export async function getUserInfo(
  endpoint: RealmEndpoint,
  request: UserInfoRequest,
): Promise<Record<string, unknown> | string> {
  const { service, realmName } = endpoint
  const realm = await getOidcRealm(service, realmName)
  const details = { auth_method: 'validate_access_token' }
  const event: EventDraft = { type: 'USER_INFO_REQUEST', address: request.address, details }
  try {
    return await withUserEvent({ service, realm, event }, () => buildUserInfo({ ...endpoint, realm }, request, event))
  } catch (error) {
    if (!(error instanceof CannotEncrypt)) throw error
    throw new BearerError(403, realm.name, { error: 'unauthorized_client', description: error.message })
  }
}

async function buildUserInfo(
  { service, base, realm }: RealmEndpoint & { readonly realm: OidcRealm },
  { header, form, origin, ...request }: UserInfoRequest,
  event: EventDraft,
): Promise<Record<string, unknown> | string> {
  const createError = (status: number, error: string, description: string) =>
    new BearerError(status, realm.name, { error, description, scheme: header?.scheme ?? 'Bearer' })
  if (header && form)
    throw createError(400, 'invalid_request', 'More than one method used for including an access token')
  const token = header?.accessToken || form
  if (!token) throw new BearerError(401, realm.name)
  const verified = await verifyTokenStatus(service, token, { types: ACCESS_TOKENS, acceptsBound: true })
  if (!isActiveToken(verified) || verified.realm.number !== realm.number) {
    const reason = verified?.status.isValid === false ? verified.status.reason : undefined
    throw createError(401, 'invalid_token', reason ?? 'Token verification failed')
  }
  const { claims, issuedTo } = verified
  const presented = { scheme: 'Bearer' as const, accessToken: token, ...header }
  const url = `${getIssuer(base, realm)}/protocol/openid-connect/userinfo`
  if (!(await isSender({ service, realm }, verified, { ...request, ...presented, url })))
    throw createError(401, 'invalid_token', 'Token verification failed')
  if (!claims.scope?.split(' ').includes('openid')) throw createError(403, 'insufficient_scope', 'Missing openid scope')
  const { client, content } = await service.read(SYSTEM, realm, async (context) => {
    const subject = await getTokenSubject(context, realm, verified)
    const { user } = subject
    checkOrigin(subject.client.representation, base, origin)
    const client = await applyPolicies({ service, base, realm, context }, { subject, scope: claims.scope ?? '' })
    if (!isBoundAsRequired(client, verified)) throw createError(401, 'invalid_token', 'Token verification failed')
    if (hasLightweightAccessTokens(client) && !allowsLightweightTokens(client)) {
      throw createError(401, 'invalid_token', 'Lightweight access token not allowed for userinfo endpoint')
    }
    Object.assign(event, { client: client.key[0], user: user.id, session: issuedTo.session })
    event.details.username = user.username
    const content = await buildTokenContent(context, { service, subject, targets: ['userInfo'] })
    return { client, content: content.claims('userInfo') }
  })
  return toResponse({ service, realm }, { client, content, issuer: getIssuer(base, realm) }, event)
}

/** Signs and encrypts the claims as the client selects. Throws CannotEncrypt. */
async function toResponse(
  { service, realm }: RealmCall,
  { client, content, issuer }: { readonly client: LiveObject; readonly content: Claims; readonly issuer: string },
  { details }: EventDraft,
): Promise<Claims | string> {
  const algorithm = findRequestedAlgorithm(client.representation, 'userInfo') ?? 'none'
  details.signature_required = String(algorithm !== 'none')
  if (algorithm === 'none') {
    const text = JSON.stringify(content)
    const encrypted = await encryptForClient(service, client, { kind: 'userInfo', content: text, isToken: false })
    return encrypted === text ? content : encrypted
  }
  details.signature_algorithm = algorithm
  const claims = { ...content, iss: issuer, aud: client.key[0]! }
  const signed = await signToken(service, realm, { claims, algorithm })
  return encryptForClient(service, client, { kind: 'userInfo', content: signed })
}

/** Returns the client with the attributes that client policies require. Throws BearerError. */
async function applyPolicies(
  endpoint: Parameters<typeof applyRequestPolicies>[0],
  { subject: { client }, scope }: { readonly subject: TokenSubject; readonly scope: string },
): Promise<LiveObject> {
  try {
    return await applyRequestPolicies(endpoint, { name: 'user info', client, parameters: { scope } })
  } catch (error) {
    if (!(error instanceof OAuthError)) throw error
    throw new BearerError(error.status, endpoint.realm.name, { error: error.error, description: error.message })
  }
}

const allowsLightweightTokens = ({ representation }: LiveObject): boolean =>
  readFlag(readTextMap(representation.attributes)['allow.userinfo.with.lightweight.access.token'])
