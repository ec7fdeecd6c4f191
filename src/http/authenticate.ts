// Who calls: a bearer token becomes a caller. What the caller may do is decided anew, by the service, for each call.
import type { FastifyRequest } from 'fastify'
import { verifyTokenStatus } from '../oidc/tokens/tokens.ts'
import { checkTokenOrigin } from '../oidc/web-origins.ts'
import { failure } from '../service/context/errors.ts'
import type { Caller, Service } from '../service/context/service.ts'
import type { RealmRow } from '../service/context/store-types.ts'

/** Who asks, and the realm that they ask about, as it was a moment ago, where there is one of that name. */
export interface Asked {
  readonly caller: Caller
  readonly realm?: RealmRow | undefined
}

/**
 * The caller of an admin request about a realm of that name, or about none. Throws unauthorized, or OriginRefused where a page calls that the client of the token
 * does not name. `base`: the server's own address, as the caller sees it. `issuer`: where tokens must come from; absent: from any of our names.
 */
export async function authenticate(
  service: Service,
  request: FastifyRequest,
  { base, about, issuer }: { base: string; about?: string | undefined; issuer?: string | undefined },
): Promise<Asked> {
  const token = /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? '')?.[1]
  const verified = token
    ? await verifyTokenStatus(service, token, {
        types: ['Bearer'],
        issuerBase: issuer,
        requestedRealm: about,
        withPermissions: true,
      })
    : undefined
  if (!verified?.status.isValid) throw failure('unauthorized', 'HTTP 401 Unauthorized')
  const { realm, issuedTo, status } = verified
  const { client, user, maxPermissions: limit, permissions: power } = status
  await checkTokenOrigin(service, verified, { base, origin: request.headers.origin })
  const caller: Caller = {
    user: { realm: realm.name, id: user.id, ...(issuedTo.session !== undefined && { session: issuedTo.session }) },
    tokenPermissions: limit,
    transport: { address: request.ip, secure: request.protocol === 'https' },
    ...(power && { permissions: power }),
    actor: {
      kind: 'administrator',
      realm: realm.name,
      userId: user.id,
      user: user.username,
      address: request.ip,
      client,
    },
  }
  return { caller, realm: verified.requestedRealm }
}
