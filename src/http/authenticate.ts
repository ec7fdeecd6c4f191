// Who calls: a bearer token becomes a caller. What the caller may do is decided anew, by the service, for each call.
import type { FastifyRequest } from 'fastify'
import { verifyStanding } from '../oidc/tokens.ts'
import { demandOriginOf } from '../oidc/web-origins.ts'
import { failure } from '../service/errors.ts'
import type { Caller, Service } from '../service/service.ts'

/**
 * The caller of an admin request. Throws unauthorized, or OriginRefused where a page calls that the client of the token
 * does not name. `issuer`: where tokens must come from; absent: from any of our names.
 */
export async function authenticate(
  service: Service,
  request: FastifyRequest,
  base: string,
  issuer?: string,
): Promise<Caller> {
  const token = /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? '')?.[1]
  const verified = token ? await verifyStanding(service, token, ['Bearer'], issuer) : undefined
  if (!verified?.standing.counts) throw failure('unauthorized', 'HTTP 401 Unauthorized')
  const { realm, claims, standing } = verified
  const { user, power } = standing
  await demandOriginOf(service, base, verified, request.headers.origin)
  return {
    user: { realm: realm.name, id: user.id, ...(claims.sid !== undefined && { session: claims.sid }) },
    limit: power,
    actor: {
      kind: 'administrator',
      realm: realm.name,
      userId: user.id,
      user: user.username,
      address: request.ip,
      ...(claims.azp && { client: claims.azp }),
    },
  }
}
