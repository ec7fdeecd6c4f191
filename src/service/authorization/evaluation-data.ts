// Reads what policies are evaluated with: the authorization settings of a client, and what users have.
import { authorizationPolicy } from '../../kinds/authorization-policy.ts'
import { authorizationResource } from '../../kinds/authorization-resource.ts'
import { client as clientKind, defaultAuthorizationSettings } from '../../kinds/client.ts'
import type { KindName } from '../../kinds/kind.ts'
import { viewOf } from '../../kinds/kind.ts'
import { type GrantedTicketRow, selectGrantedTickets, selectTicketsOfOthers } from '../../store/permission-tickets.ts'
import { getRolesAndGroups, type RolesAndGroups } from '../../store/users/effective-roles.ts'
import type { Context } from '../context/context.ts'
import { cacheLargeValues, getUserValue } from '../context/realm-values.ts'
import { type LiveObject, listObjects } from '../objects/live-objects.ts'
import type { AccessRequest } from '../policy-evaluation/access-requests.ts'
import { addGrantedTickets } from '../policy-evaluation/granted-tickets.ts'
import {
  type GrantedTicket,
  indexResourceServer,
  type Policy,
  type ProtectedResource,
  type ResourceServer,
} from '../policy-evaluation/resource-server.ts'

/** Indexed settings of clients. */
const getCachedServer = cacheLargeValues<ResourceServer>(
  ({ resources, scopes, policies }) => resources.length + scopes.length + policies.length,
)

/**
 * Returns the authorization settings of a client with all its resources, scopes and policies. Three statements, or none where a read finds
 * them in the cache.
 */
export function loadResourceServer(context: Context, client: LiveObject): Promise<ResourceServer> {
  return getCachedServer(context, client.id, () => readResourceServer(context, client))
}

async function readResourceServer(context: Context, client: LiveObject): Promise<ResourceServer> {
  const listChildren = (kind: KindName) => listObjects(context, kind, { parents: { kind: 'client', ids: [client.id] } })
  const [resources, scopes, policies] = await Promise.all([
    listChildren('authorizationResource'),
    listChildren('authorizationScope'),
    listChildren('authorizationPolicy'),
  ])
  const settings = viewOf(clientKind, client.representation).authorizationSettings
  const { policyEnforcementMode, decisionStrategy } = { ...defaultAuthorizationSettings, ...settings }
  return indexResourceServer({
    id: client.id,
    enforcementMode: policyEnforcementMode,
    decisionStrategy,
    resources: resources.map(toResource),
    scopes: scopes.map(({ id, key }) => ({ id, name: key.at(-1)! })),
    policies: policies.map(toPolicy),
  })
}

function toResource({ id, key, representation, references }: LiveObject): ProtectedResource {
  const { type, ownerManagedAccess = false, uris = [], scopes = [] } = viewOf(authorizationResource, representation)
  return { id, name: key.at(-1)!, type, owner: references.owner, isOwnerManaged: ownerManagedAccess, uris, scopes }
}

function toPolicy({ id, key, representation }: LiveObject): Policy {
  return { id, name: key.at(-1)!, fields: viewOf(authorizationPolicy, representation) }
}

/**
 * Returns the authorization settings of a client for decisions about a user: also with the tickets that concern the user. Four statements,
 * or none where a read finds both in the cache.
 */
export async function loadResourceServerFor(
  context: Context,
  client: LiveObject,
  user: string,
): Promise<ResourceServer> {
  const { tx, realm } = context
  const [server, tickets] = await Promise.all([
    loadResourceServer(context, client),
    getUserValue(context, { user, value: `granted tickets ${client.id}` }, () =>
      selectGrantedTickets(tx, realm.number, { client: client.id, user }),
    ),
  ])
  return addGrantedTickets(server, tickets.map(toGrantedTicket))
}

/**
 * Adds granted tickets of other users for the requested resources that their owners manage. They grant the user nothing, and as permissions they
 * deny what no other permission grants. One statement, or none.
 */
export async function addTicketsOfOthers(
  { tx, realm }: Context,
  server: ResourceServer,
  { user, requests }: { readonly user: string; readonly requests: readonly AccessRequest[] },
): Promise<ResourceServer> {
  const requested = requests.flatMap(({ resource }) => (resource ? [resource, ...listRelated(server, resource)] : []))
  const managed = requested.filter(({ isOwnerManaged, owner }) => isOwnerManaged && owner !== user)
  const resources = [...new Set(managed.map(({ id }) => id))]
  if (!resources.length) return server
  const tickets = await selectTicketsOfOthers(tx, realm.number, { user, resources })
  return addGrantedTickets(server, tickets.map(toGrantedTicket))
}

/** Returns the resources of the client whose permissions also apply to a resource of a user: those of its type. */
const listRelated = ({ ownResourcesByType }: ResourceServer, { owner, type }: ProtectedResource) =>
  owner === undefined || type === undefined ? [] : (ownResourcesByType.get(type) ?? [])

const toGrantedTicket = ({ id, resource, scopeName, requester, requesterName }: GrantedTicketRow): GrantedTicket => ({
  id,
  resource,
  scope: scopeName ?? undefined,
  requester: { id: requester, username: requesterName },
})

/** Returns the direct roles, the effective roles and the groups of a user. One statement, or none where a read finds them in the cache. */
export function loadRolesAndGroups(context: Context, user: string): Promise<RolesAndGroups> {
  const { tx, realm } = context
  return getUserValue(context, { user, value: 'roles and groups' }, () => getRolesAndGroups(tx, realm.number, user))
}
