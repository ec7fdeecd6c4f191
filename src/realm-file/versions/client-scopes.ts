// Client scopes that migrations assign to clients.
import { isList, isObject, type Json, type Representation } from '../../kinds/json.ts'

/** A client scope, with the lists that contain it. */
interface AssignedScope {
  readonly name: string
  readonly type: 'default' | 'optional'
  /** The protocol of the clients. Default: OpenID Connect. */
  readonly protocol?: string
}

const OPENID = 'openid-connect'

const LISTS = {
  default: { ofClient: 'defaultClientScopes', ofRealm: 'defaultDefaultClientScopes' },
  optional: { ofClient: 'optionalClientScopes', ofRealm: 'defaultOptionalClientScopes' },
} as const

/**
 * Whether a realm lacks a client scope, since it declares others. Keycloak: an import with client scopes creates only these. Regent has all
 * built-in ones.
 */
export function lacksClientScope({ clientScopes: scopes }: Representation, name: string): boolean {
  return isList(scopes) && !scopes.some((scope) => isObject(scope) && scope.name === name)
}

/** Assigns a client scope to all clients that declare client scopes and can have it, and to new clients if the realm lacks it. */
export function assignClientScope(
  realm: Representation,
  { name, type, protocol = OPENID }: AssignedScope,
): Representation {
  const { ofClient, ofRealm } = LISTS[type]
  const { clients, [ofRealm]: realmScopes } = realm
  const needsDefault = lacksClientScope(realm, name) && isList(realmScopes) && !realmScopes.includes(name)
  const isMissing = (client: Json) =>
    isObject(client) && usesProtocol(client, protocol) && lacksAssignedScope(client, name)
  if (!needsDefault && !(isList(clients) && clients.some(isMissing))) return realm
  return {
    ...realm,
    ...(needsDefault && { [ofRealm]: [...realmScopes, name] }),
    ...(isList(clients) && {
      clients: clients.map((client) =>
        isObject(client) && isMissing(client)
          ? { ...client, [ofClient]: [...(isList(client[ofClient]) ? client[ofClient] : []), name] }
          : client,
      ),
    }),
  }
}

/** Whether users can log in to a client with a protocol. */
export function usesProtocol(client: Representation, protocol = OPENID): boolean {
  return (client.protocol ?? OPENID) === protocol && client.bearerOnly !== true
}

/** Whether a client declares client scopes without this one. A client that declares none gets those of the realm. */
export function lacksAssignedScope(client: Representation, name: string): boolean {
  const lists = Object.values(LISTS).map(({ ofClient }) => client[ofClient] ?? null)
  return lists.some((list) => list !== null) && !lists.some((list) => isList(list) && list.includes(name))
}
