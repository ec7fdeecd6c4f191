// Access to resources of the server with tokens that are bound to a key.
import type { Service } from '../../service/context/service.ts'
import type { LiveObject } from '../../service/objects/live-objects.ts'
import type { RealmCall } from '../client-call.ts'
import { getOidcRealm } from '../oidc-realm.ts'
import type { VerifiedToken } from '../tokens/tokens.ts'
import {
  getThumbprint,
  readConfirmation,
  requiresCertificate,
  requiresDpop,
  type SenderEvidence,
} from './confirmation.ts'
import { InvalidProof, type ProofRequest, verifyProof } from './dpop-proof.ts'

/** An access token as a request presents it. */
export interface PresentedToken extends SenderEvidence, ProofRequest {
  /** The scheme of the Authorization header. RFC 6750; RFC 9449, section 7.1. */
  readonly scheme: 'Bearer' | 'DPoP'
  readonly accessToken: string
}

/** Whether the sender of a request may use its token: it has the key of a bound token. It must not be called inside a transaction. */
export async function isSender(
  call: RealmCall,
  { claims }: Pick<VerifiedToken, 'claims'>,
  { scheme, dpop, certificate, ...request }: PresentedToken,
): Promise<boolean> {
  const confirmation = readConfirmation(claims)
  const { jkt, 'x5t#S256': thumbprint } = confirmation ?? {}
  // An unknown kind of key cannot be checked.
  if (confirmation && jkt === undefined && thumbprint === undefined) return false
  if (thumbprint !== undefined && (!certificate || thumbprint !== getThumbprint(certificate))) return false
  if (scheme === 'Bearer') return jkt === undefined && claims.typ !== 'DPoP'
  if (dpop === undefined || jkt === undefined) return false
  try {
    return (await verifyProof(call, dpop, request)) === jkt
  } catch (error) {
    if (error instanceof InvalidProof) return false
    throw error
  }
}

/** Whether the sender of a request may use its token, whose realm is not read yet. No statement for a token that is not bound. */
export async function isSenderOf(
  service: Service,
  token: Pick<VerifiedToken, 'claims' | 'realm'>,
  presented: PresentedToken,
): Promise<boolean> {
  if (presented.scheme === 'Bearer' && !readConfirmation(token.claims)) return token.claims.typ !== 'DPoP'
  return isSender({ service, realm: await getOidcRealm(service, token.realm.name) }, token, presented)
}

/** Whether a token is bound as its client requires; the client may have changed since the token was issued. */
export function isBoundAsRequired(client: LiveObject, { claims }: Pick<VerifiedToken, 'claims'>): boolean {
  const { jkt, 'x5t#S256': thumbprint } = readConfirmation(claims) ?? {}
  return (!requiresDpop(client) || jkt !== undefined) && (!requiresCertificate(client) || thumbprint !== undefined)
}
