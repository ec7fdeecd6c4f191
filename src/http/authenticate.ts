// Authenticates a request by its bearer token. The service authorizes each call.
import type { FastifyRequest } from 'fastify'
import { isSenderOf } from '../oidc/sender-constraints/check-sender.ts'
import { toCaller } from '../oidc/tokens/token-caller.ts'
import { ACCESS_TOKENS, isActiveToken, verifyTokenStatus } from '../oidc/tokens/tokens.ts'
import { checkTokenOrigin } from '../oidc/web-origins.ts'
import { failure } from '../service/context/errors.ts'
import type { Caller, Service } from '../service/context/service.ts'
import { accessTokenOf, evidenceOf } from './server/sender-evidence.ts'

const REQUIREMENTS = { types: ACCESS_TOKENS, withPermissions: true, acceptsBound: true } as const

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
  const presented = accessTokenOf(request)
  const verified =
    presented && (await verifyTokenStatus(service, presented.accessToken, { ...REQUIREMENTS, issuerBase: issuer }))
  if (!verified || !isActiveToken(verified)) throw failure('unauthorized', 'HTTP 401 Unauthorized')
  const url = `${base}${request.url.split('?', 1)[0]}`
  const evidence = { ...evidenceOf(request), ...presented, method: request.method, url }
  if (!(await isSenderOf(service, verified, evidence))) throw failure('unauthorized', 'HTTP 401 Unauthorized')
  const transport = { address: request.ip, secure: request.protocol === 'https' }
  await checkTokenOrigin(service, verified.issued, { base, origin: request.headers.origin })
  return toCaller(verified, transport)
}
