// The caller of the protection API: a client with authorization services, or a user with a token of such a client.
import { isAdminPermissions } from '../../kinds/admin-permissions.ts'
import { MANAGEMENT_CLIENT } from '../../kinds/management-permissions.ts'
import { UMA_PROTECTION } from '../../kinds/role.ts'
import type { Caller, Service } from '../../service/context/service.ts'
import type { LiveObject } from '../../service/objects/live-objects.ts'
import { hasRole, toClaimAttributes } from '../../service/policy-evaluation/attributes.ts'
import type { ProtectionParty } from '../../service/protection/protection-party.ts'
import type { RealmEndpoint } from '../client-call.ts'
import { OAuthError } from '../oauth-error.ts'
import { getEnabledRealm, type OidcRealm, requireHttps } from '../oidc-realm.ts'
import { viewClient } from '../views.ts'
import { findParty } from './requesting-party.ts'

/** An authenticated request of the protection API. */
export interface ProtectionCall {
  readonly service: Service
  /** The address of the server, as the client sees it. */
  readonly base: string
  readonly realm: OidcRealm
  /** The caller of the service. */
  readonly caller: Caller
  readonly party: ProtectionParty
}

/** A request with its Authorization header. */
export interface ProtectionRequest {
  readonly authorization?: string | undefined
  readonly address: string
  readonly secure: boolean
}

/** Authenticates a request by its bearer token. Throws OAuthError. */
export async function authenticateProtection(
  { service, base, realmName }: RealmEndpoint,
  { authorization, address, secure }: ProtectionRequest,
): Promise<ProtectionCall> {
  const realm = await getEnabledRealm(service, realmName)
  requireHttps(realm, { address, secure })
  const token = /^Bearer +(\S+)$/i.exec(authorization ?? '')?.[1]
  const requester = token && (await findParty({ service, realm, address }, token, ['Bearer']))
  if (!requester) throw createRefusal('invalid_bearer_token', 'Could not obtain bearer access_token from request.')
  const { client, user, claims } = requester
  const clientId = client.key[0]!
  if (!isResourceServer(client))
    throw createRefusal('invalid_clientId', `Client application [${clientId}] is not registered as a resource server.`)
  const { id, username } = user
  const party = {
    server: client,
    user: { id, username },
    isServer: user.serviceAccountClient === client.id,
    hasProtectionRole: hasRole(toClaimAttributes(claims), ['client', clientId, UMA_PROTECTION]),
  }
  const actor = {
    kind: 'administrator',
    realm: realm.name,
    userId: id,
    user: username,
    address,
    client: clientId,
  } as const
  return {
    service,
    base,
    realm,
    party,
    caller: { actor, user: { realm: realm.name, id }, transport: { address, secure } },
  }
}

const createRefusal = (error: string, description: string) => new OAuthError(403, error, { description })

/** Whether a client manages resources of its own. Those of the clients with admin permissions are managed by administrators only. */
function isResourceServer(client: LiveObject): boolean {
  const { authorizationServicesEnabled, bearerOnly } = viewClient(client)
  const isOfAdministrators = isAdminPermissions(client.representation) || client.key[0] === MANAGEMENT_CLIENT
  return authorizationServicesEnabled === true && bearerOnly !== true && !isOfAdministrators
}
