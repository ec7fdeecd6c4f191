// Tickets of the protection API: signed lists of the permissions that a user needs. User-Managed Access 2.0, Federated Authorization, section 4.
import { randomUUID } from 'node:crypto'
import * as z from 'zod'
import { toEpochSeconds } from '../../lib/epoch-seconds.ts'
import type { Service } from '../../service/context/service.ts'
import type { LiveObject } from '../../service/objects/live-objects.ts'
import type { PermissionToRequest } from '../../service/protection/permission-tickets.ts'
import { getIssuer, type OidcRealm } from '../oidc-realm.ts'
import { INTERNAL_ALGORITHM } from '../signature-algorithms.ts'
import { getAccessTokenLifespan } from '../tokens/token-response.ts'
import { PERMISSION_TICKET, signToken, verifyPermissionTicket } from '../tokens/tokens.ts'

const claimsSchema = z.record(z.string(), z.array(z.string()))
const ticketSchema = z.object({
  /** Client id of the client with the resources. */
  azp: z.string(),
  permissions: z.array(z.object({ rsid: z.string().exactOptional(), scopes: z.array(z.string()).exactOptional() })),
  claims: claimsSchema.exactOptional(),
})

/** The content of a ticket: the claims of the token that it is. */
export type PermissionTicketContent = Readonly<z.infer<typeof ticketSchema>>

/** Claims that an application sends with the permissions of a ticket, for policies. */
export type TicketClaims = Readonly<z.infer<typeof claimsSchema>>

/** Signs a ticket for permissions on resources of a client. It is valid as long as an access token. */
export function signPermissionTicket(
  { service, base, realm }: { readonly service: Service; readonly base: string; readonly realm: OidcRealm },
  server: LiveObject,
  {
    user,
    permissions,
    claims,
  }: { readonly user: string; readonly permissions: readonly PermissionToRequest[]; readonly claims: TicketClaims },
): Promise<string> {
  const iat = toEpochSeconds(realm.now)
  const iss = getIssuer(base, realm)
  return signToken(service, realm, {
    claims: {
      exp: iat + getAccessTokenLifespan(realm, server, undefined),
      ...{ iat, jti: randomUUID(), iss, aud: iss, sub: user, azp: server.key[0]!, typ: PERMISSION_TICKET },
      permissions: permissions.map(({ resource, scopes }) => ({
        ...(scopes.length && { scopes }),
        ...(resource !== undefined && { rsid: resource }),
      })),
      ...(Object.keys(claims).length && { claims }),
    },
    algorithm: INTERNAL_ALGORITHM,
  })
}

/** Returns the content of a ticket of the realm; undefined if it is invalid or has expired. */
export async function readPermissionTicket(
  service: Service,
  realm: OidcRealm,
  ticket: string,
): Promise<PermissionTicketContent | undefined> {
  const claims = await verifyPermissionTicket(service, realm, ticket)
  return claims && ticketSchema.parse(claims)
}
