// The user info endpoint. OpenID Connect Core 1.0, section 5.3.
import { findById } from '../service/login.ts'
import { type Service, SYSTEM } from '../service/service.ts'
import { BearerError } from './oauth-error.ts'
import { findTokenRealm } from './realm.ts'
import { profile } from './token-response.ts'
import { verifyStanding } from './tokens.ts'

/** What a request shows: tokens of its header and of its form. */
export interface UserInfoRequest {
  readonly bearer?: string | undefined
  readonly form?: string | undefined
}

/** What clients may know of whose token it is. Throws BearerError, OAuthError. */
export async function userInfo(
  service: Service,
  name: string,
  { bearer, form }: UserInfoRequest,
): Promise<Record<string, unknown>> {
  const realm = await findTokenRealm(service, name)
  const refuse = (status: number, error?: string, why?: string) => new BearerError(status, realm.name, error, why)
  if (bearer && form) throw refuse(400, 'invalid_request', 'More than one method used for including an access token')
  const token = bearer || form
  if (!token) throw refuse(401)
  const verified = await verifyStanding(service, token, ['Bearer'])
  if (verified?.realm.number !== realm.number || !verified.standing.counts) {
    throw refuse(401, 'invalid_token', verified?.standing.why ?? 'Token verification failed')
  }
  const { claims } = verified
  if (!claims.scope?.split(' ').includes('openid')) throw refuse(403, 'insufficient_scope', 'Missing openid scope')
  const user = await service.read(SYSTEM, name, (context) => findById(context, claims.sub!))
  if (!user) throw refuse(401, 'invalid_token', 'Token verification failed')
  return { sub: user.id, ...profile(user) }
}
