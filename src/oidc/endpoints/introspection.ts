// Token introspection. RFC 7662.
import { readFlag } from '../../kinds/json.ts'
import { type Service, SYSTEM } from '../../service/context/service.ts'
import type { TokenStatus } from '../../service/login/token-status.ts'
import type { LiveObject } from '../../service/objects/live-objects.ts'
import type { TokenRequest } from '../client-authentication/authenticate-client.ts'
import type { RealmEndpoint } from '../client-call.ts'
import { handleClientRequest } from '../client-request.ts'
import type { EventDraft } from '../event-draft.ts'
import { isClaims } from '../mappers/claims.ts'
import { OAuthError } from '../oauth-error.ts'
import type { OidcRealm } from '../oidc-realm.ts'
import { buildTokenContent, type Claims } from '../tokens/token-content.ts'
import { getTokenSubject } from '../tokens/token-subject.ts'
import { ACCESS_TOKENS, type ActiveToken, isAccessToken, isActiveToken, verifyTokenStatus } from '../tokens/tokens.ts'
import { viewClient } from '../views.ts'

/** Keycloak: the hint that the permissions of a token are requested, instead of claims about its user. */
const PERMISSION_HINT = 'requesting_party_token'

/** The types of tokens that a request may name. */
const HINTS = ['access_token', 'refresh_token', 'id_token', PERMISSION_HINT]

/** Returns the claims of an active token to a client that may introspect it; `active: false` for any other token. Throws OAuthError. */
export async function introspectToken(
  endpoint: RealmEndpoint,
  request: TokenRequest,
): Promise<Record<string, unknown>> {
  const { service } = endpoint
  const event = { type: 'INTROSPECT_TOKEN', details: {} } as const
  // Only resource servers call this endpoint, so that web origins do not count.
  const withoutOrigin = { ...request, origin: undefined }
  return handleClientRequest(
    endpoint,
    { request: withoutOrigin, event, policyEvent: 'introspection', acceptsBearerOnly: true },
    async ({ realm, client, event }) => {
      const clientId = client.key[0]!
      if (viewClient(client).publicClient === true) throw createError(event, 403, 'Client not allowed.')
      const { token, token_type_hint: hint } = request.form
      if (!token) throw createError(event, 400, 'Token not provided.')
      if (hint !== undefined && !HINTS.includes(hint)) throw createError(event, 400, 'Unsupported token type.')
      const reject = (reason: string) => {
        event.error = 'invalid_token'
        event.details.reason = reason
        return { active: false }
      }
      const verified = await verifyTokenStatus(service, token, {
        types: [...ACCESS_TOKENS, 'ID', 'Refresh', 'Offline'],
        acceptsBound: true,
      })
      if (verified?.realm.number !== realm.number) return reject('Access token JWT check failed')
      const { claims, issuedTo } = verified
      event.session = issuedTo.session
      Object.assign(event.details, { token_id: claims.jti, token_type: claims.typ })
      if (!isActiveToken(verified)) return reject(getReason(verified.status) ?? 'Token is not active any more')
      const { status } = verified
      event.user = status.user.id
      event.details.token_issued_for = status.client
      const isOwn = hint === 'refresh_token' && isRefreshToken(claims) && issuedTo.client === client.id
      if (!isOwn && !mayIntrospectAny(client) && ![claims.aud].flat().includes(clientId))
        return reject(`Client '${clientId}' is not in the token audience`)
      if (hint === PERMISSION_HINT) return toPermissions(claims) ?? reject('The token has no permissions')
      const content = await buildClaims(service, realm, verified)
      const { username } = status.user
      const bound = claims.cnf !== undefined && { cnf: claims.cnf }
      return { username, ...content, ...bound, client_id: status.client, token_type: claims.typ, active: true }
    },
  )
}

/** Returns the permissions of an access token, also by the names of User-Managed Access; undefined if it has none. Keycloak: without claims about the user. */
function toPermissions({ exp, iat, jti, aud, typ, acr, authorization }: Claims): Claims | undefined {
  if (!isAccessToken({ typ }) || !isClaims(authorization) || !Array.isArray(authorization.permissions)) return undefined
  const permissions = authorization.permissions.filter(isClaims).map((permission) => {
    const { rsid, scopes = [] } = permission
    return { ...permission, ...(rsid !== undefined && { resource_id: rsid }), resource_scopes: scopes }
  })
  return { exp, iat, jti, aud: [aud].flat()[0], typ, acr, permissions, active: true }
}

/** Whether claims are those of a refresh token, whose audience is the realm. Keycloak: its client may introspect it if it names the type. */
const isRefreshToken = ({ typ }: { readonly typ?: string }): boolean => typ === 'Refresh' || typ === 'Offline'

/** Whether a client need not be in the audience of the tokens that it introspects. */
const mayIntrospectAny = (client: LiveObject): boolean =>
  readFlag(viewClient(client).attributes?.['allow.token.introspection.without.audience.check'])

const getReason = (status: TokenStatus) => (status.isValid ? undefined : status.reason)

function createError({ details }: EventDraft, status: number, description: string): OAuthError {
  details.detail = description
  return new OAuthError(status, 'invalid_request', { description, event: { error: 'invalid_request' } })
}

/** Returns the claims that mappers write for a token now: the token itself may have fewer. */
async function buildClaims(service: Service, realm: OidcRealm, token: ActiveToken): Promise<Claims> {
  const { exp, iat, jti, iss, aud, sub, typ, azp, sid, nonce, scope } = token.claims
  const issued = { exp, iat, jti, iss, aud, sub, typ, azp, sid, nonce, scope }
  return service.read(SYSTEM, realm, async (context) => {
    const subject = await getTokenSubject(context, realm, token)
    const content = await buildTokenContent(context, { service, subject, targets: ['introspection'] })
    return content.claims('introspection', issued)
  })
}
