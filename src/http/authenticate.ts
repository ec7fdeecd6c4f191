// Authenticates a request by its bearer token. The service authorizes each call.
import type { FastifyRequest } from 'fastify'
import { isActiveToken, verifyTokenStatus } from '../oidc/tokens/tokens.ts'
import { checkTokenOrigin } from '../oidc/web-origins.ts'
import { failure } from '../service/context/errors.ts'
import type { TokenAccess } from '../service/context/realm-cache.ts'
import type { Caller, Service } from '../service/context/service.ts'
import type { RealmRow } from '../service/context/store-types.ts'

/** The caller of a request, and the realm of its path if that exists. */
export interface AuthenticatedRequest {
  readonly caller: Caller
  readonly realm?: RealmRow | undefined
}

/**
 * Returns the caller of an admin request about the realm `about`, if it names one.
 *
 * @param options.base the server's URL as the caller sees it
 * @param options.issuer the base URL of valid issuers; absent: any URL of this server
 * @throws unauthorized without a valid token, OriginRefused for a web page whose origin the client does not list
 */
export async function authenticate(
  service: Service,
  request: FastifyRequest,
  { base, about, issuer }: { base: string; about?: string | undefined; issuer?: string | undefined },
): Promise<AuthenticatedRequest> {
  const token = /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? '')?.[1]
  const access = token && (await findAdminAccess(service, token, issuer))
  if (!access) throw failure('unauthorized', 'HTTP 401 Unauthorized')
  const { realm, issuedTo, client, user, maxPermissions, permissions } = access
  await checkTokenOrigin(service, access, { base, origin: request.headers.origin })
  const caller: Caller = {
    user: { realm: realm.name, id: user.id, ...(issuedTo.session !== undefined && { session: issuedTo.session }) },
    tokenPermissions: maxPermissions,
    transport: { address: request.ip, secure: request.protocol === 'https' },
    ...(permissions && { permissions }),
    actor: {
      kind: 'administrator',
      realm: realm.name,
      userId: user.id,
      user: user.username,
      address: request.ip,
      client,
    },
  }
  const [requestedRealm] = about === undefined ? [] : await service.cache.findRealms([about])
  return { caller, realm: requestedRealm }
}

/** Returns the access that a token gives; undefined if it is not valid. Two statements, or none if it is cached. */
function findAdminAccess(
  service: Service,
  token: string,
  issuerBase: string | undefined,
): Promise<TokenAccess | undefined> {
  return service.cache.findAccess(`${issuerBase ?? ''} ${token}`, async () => {
    const verified = await verifyTokenStatus(service, token, { types: ['Bearer'], issuerBase, withPermissions: true })
    if (!isActiveToken(verified)) return undefined
    const { realm, claims, issuedTo, status } = verified
    const { client, user, maxPermissions, permissions } = status
    const expiresAt = new Date(claims.exp! * 1000)
    return { id: claims.jti ?? '', realm, user, client, issuedTo, maxPermissions, permissions, expiresAt }
  })
}
