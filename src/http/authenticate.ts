// Authenticates a request by its bearer token. The service authorizes each call.
import type { FastifyRequest } from 'fastify'
import { toCaller } from '../oidc/tokens/token-caller.ts'
import { isActiveToken, verifyTokenStatus } from '../oidc/tokens/tokens.ts'
import { checkTokenOrigin } from '../oidc/web-origins.ts'
import { failure } from '../service/context/errors.ts'
import type { Caller, Service } from '../service/context/service.ts'

const REQUIREMENTS = { types: ['Bearer'], withPermissions: true } as const

/**
 * Returns the caller of an admin request. Two statements, or none if the token is cached.
 *
 * @param options.base the server's URL as the caller sees it
 * @param options.issuer the base URL of valid issuers; absent: any URL of this server
 * @throws unauthorized without a valid token, OriginRefused for a web page whose origin the client does not list
 */
export async function authenticate(
  service: Service,
  request: FastifyRequest,
  { base, issuer }: { readonly base: string; readonly issuer?: string | undefined },
): Promise<Caller> {
  const token = /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? '')?.[1]
  const verified = token && (await verifyTokenStatus(service, token, { ...REQUIREMENTS, issuerBase: issuer }))
  if (!verified || !isActiveToken(verified)) throw failure('unauthorized', 'HTTP 401 Unauthorized')
  const transport = { address: request.ip, secure: request.protocol === 'https' }
  await checkTokenOrigin(service, verified.issued, { base, origin: request.headers.origin })
  return toCaller(verified, transport)
}
