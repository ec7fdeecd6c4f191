// Permission tickets that owners of resources have granted. Each is a permission on the resource for its requester.
import type { AccessIdentity } from './identity.ts'
import type { GrantedTicket, Policy, ProtectedResource, ResourceServer } from './resource-server.ts'

/** Returns the settings with permissions for granted tickets. */
export function addGrantedTickets(server: ResourceServer, tickets: readonly GrantedTicket[]): ResourceServer {
  const existing = tickets.filter(({ resource }) => server.resourcesById.has(resource))
  if (!existing.length) return server
  const permissionsByResource = new Map(server.permissionsByResource)
  const policiesByName = new Map(server.policiesByName)
  for (const ticket of existing) {
    const { name } = server.resourcesById.get(ticket.resource)!
    const requester = toRequesterPolicy(ticket)
    const permissions = permissionsByResource.get(name) ?? []
    policiesByName.set(requester.name, requester)
    permissionsByResource.set(name, [...permissions, toPermission(ticket, name)])
  }
  return { ...server, permissionsByResource, policiesByName, grantedTickets: [...server.grantedTickets, ...existing] }
}

/** Returns the resources of other users to which an identity has granted tickets, each once. */
export function listGrantedResources(server: ResourceServer, { id }: AccessIdentity): ProtectedResource[] {
  const granted = server.grantedTickets.filter(({ requester }) => requester.id === id)
  return [...new Set(granted.map(({ resource }) => server.resourcesById.get(resource)!))]
}

const getRequesterPolicyName = ({ id }: GrantedTicket): string => `${id}-requester`

function toPermission(ticket: GrantedTicket, resource: string): Policy {
  const { id, scope } = ticket
  const scopes = scope === undefined ? [] : [scope]
  return {
    id,
    name: id,
    fields: { type: 'uma', resources: [resource], scopes, policies: [getRequesterPolicyName(ticket)] },
  }
}

function toRequesterPolicy(ticket: GrantedTicket): Policy {
  const name = getRequesterPolicyName(ticket)
  return { id: name, name, fields: { type: 'user', users: [ticket.requester.username] } }
}
