// Token introspection. RFC 7662.
import { type Service, SYSTEM } from '../../service/context/service.ts'
import type { Endpoint, EventNotes } from '../call.ts'
import type { TokenRequest } from '../client-authentication.ts'
import { forClient } from '../client-call.ts'
import { OAuthError } from '../oauth-error.ts'
import type { TokenRealm } from '../realm.ts'
import { type Claims, tokenContent } from '../tokens/token-content.ts'
import { subjectOf } from '../tokens/token-subject.ts'
import { type GoodToken, verifyStanding } from '../tokens/tokens.ts'

/** What a token says, to a client that it is meant for; to any other, and of any other token: that it is not active. Throws OAuthError. */
export async function introspect(endpoint: Endpoint, request: TokenRequest): Promise<Record<string, unknown>> {
  const { service } = endpoint
  const event = { type: 'INTROSPECT_TOKEN', details: {} } as const
  // Servers ask, not pages.
  const asked = { ...request, origin: undefined }
  return forClient(endpoint, { request: asked, event }, async ({ realm, client, notes }) => {
    const clientId = client.key[0]!
    if (client.representation.publicClient === true) throw refuse(notes, 403, 'Client not allowed.')
    const { token } = request.form
    if (!token) throw refuse(notes, 400, 'Token not provided.')
    const inactive = (reason: string) => {
      notes.error = 'invalid_token'
      notes.details.reason = reason
      return { active: false }
    }
    const verified = await verifyStanding(service, token, ['Bearer', 'ID', 'Refresh', 'Offline'])
    if (verified?.realm.number !== realm.number) return inactive('Access token JWT check failed')
    const { claims, issuedTo, standing } = verified
    notes.session = issuedTo.session
    Object.assign(notes.details, { token_id: claims.jti, token_type: claims.typ })
    if (!standing.counts) return inactive(standing.why ?? 'Token is not active any more')
    notes.user = standing.user.id
    notes.details.token_issued_for = standing.client
    if (![claims.aud].flat().includes(clientId)) return inactive(`Client '${clientId}' is not in the token audience`)
    const said = claims.typ === 'Bearer' ? await contentOf(service, realm, { ...verified, standing }) : claims
    const { username } = standing.user
    return { username, ...said, client_id: standing.client, token_type: claims.typ, active: true }
  })
}

function refuse({ details }: EventNotes, status: number, why: string): OAuthError {
  details.detail = why
  return new OAuthError(status, 'invalid_request', why, { error: 'invalid_request' })
}

/** What mappers say of an access token now: it may say less than they do. */
async function contentOf(service: Service, realm: TokenRealm, verified: GoodToken): Promise<Claims> {
  const { exp, iat, jti, iss, aud, sub, typ, azp, sid, nonce, scope } = verified.claims
  const issued = { exp, iat, jti, iss, aud, sub, typ, azp, sid, nonce, scope }
  return service.read(SYSTEM, realm, async (context) => {
    const subject = await subjectOf(context, realm, verified)
    return (await tokenContent(service, context, subject, ['introspection'])).claims('introspection', issued)
  })
}
