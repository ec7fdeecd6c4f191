// Permission tickets: requests of users for access to resources of others. Keycloak: PermissionTicketService.
import { randomUUID } from 'node:crypto'
import { type Representation, readText, readTexts } from '../../kinds/json.ts'
import {
  countTickets,
  deleteTickets,
  insertTickets,
  type NewTicket,
  type PermissionTicket,
  selectTickets,
  type TicketFilter,
  updateTicket,
} from '../../store/permission-tickets.ts'
import { listServerObjects } from '../admin-api/authorization/resource-servers.ts'
import { findChild } from '../admin-api/common/resource.ts'
import { announceAccessChange } from '../context/access-changes.ts'
import type { Context, WriteContext } from '../context/context.ts'
import { failure } from '../context/errors.ts'
import { recordEntry } from '../journal/journal.ts'
import { writers } from '../kinds/index.ts'
import type { LiveObject } from '../objects/live-objects.ts'
import { getPartyId, type ProtectionParty, requireProtectionRole } from './protection-party.ts'

/** The query of a list of tickets. */
export interface TicketQuery extends Omit<TicketFilter, 'client' | 'party' | 'id'> {
  readonly first?: number | undefined
  readonly max?: number | undefined
  /** Whether the representations have the names of resource, scope, owner and requester. */
  readonly returnNames?: boolean | undefined
}

/** Lists tickets. A user lists those that they have requested, and those for their resources. One statement. */
export async function listTickets(
  { tx, realm }: Context,
  party: ProtectionParty,
  { returnNames = false, ...query }: TicketQuery,
): Promise<Representation[]> {
  requireProtectionRole(party)
  const tickets = await selectTickets(tx, realm.number, { ...query, ...getBounds(party) })
  return tickets.map((ticket) => ({ ...toRepresentation(ticket), ...(returnNames && toNames(ticket)) }))
}

/** Returns the number of tickets that `listTickets` lists. One statement. */
export async function getTicketCount(
  { tx, realm }: Context,
  party: ProtectionParty,
  { first: _, max: __, returnNames: ___, ...query }: TicketQuery,
): Promise<number> {
  requireProtectionRole(party)
  return countTickets(tx, realm.number, { ...query, ...getBounds(party) })
}

const getBounds = ({ server, user, isServer }: ProtectionParty): Pick<TicketFilter, 'client' | 'party'> => ({
  client: server.id,
  ...(!isServer && { party: user.id }),
})

/** Creates a ticket for a resource that its owner manages: by the owner, or by the client with the resources. */
export async function createTicket(
  context: WriteContext,
  party: ProtectionParty,
  body: Representation,
): Promise<Representation> {
  requireProtectionRole(party)
  if (!Object.keys(body).length) throw failure('invalid', 'invalid_permission', { form: { error: 'invalid_request' } })
  const resource = await getTicketResource(context, party, readText(body.resource))
  const scope = await getTicketScope(context, party, {
    resource,
    id: readText(body.scope),
    name: readText(body.scopeName),
  })
  const requester = await getRequester(context, readText(body.requester), readText(body.requesterName))
  const [ticket] = await addTickets(context, party.server, {
    requester,
    targets: [{ resource, scope }],
    isGranted: body.granted === true,
  })
  if (!ticket) throw createPermissionError('Permission already exists')
  return toRepresentation(ticket)
}

/** Grants a ticket, or deletes it: by the owner of the resource, or by the client. */
export async function replaceTicket(
  context: WriteContext,
  party: ProtectionParty,
  { id, granted, resource }: Representation,
): Promise<void> {
  requireProtectionRole(party)
  const ticket = await getTicket(context, party, readText(id))
  if (ticket.owner !== getPartyId(party) && !party.isServer)
    throw failure(
      'forbidden',
      `permissions for [${readText(resource) ?? null}] can be updated only by the owner or by the resource server`,
      { form: { error: 'not_authorised' } },
    )
  const { tx, realm, now } = context
  if (granted !== true) return removeTicket(context, ticket)
  await updateTicket(tx, realm.number, { id: ticket.id, grantedAt: now })
  await recordTicket(context, ticket, { before: describe(ticket), after: describe({ ...ticket, isGranted: true }) })
}

/** Deletes a ticket: by its requester, by the owner of the resource, or by the client. */
export async function deleteTicket(context: WriteContext, party: ProtectionParty, id: string): Promise<void> {
  requireProtectionRole(party)
  const ticket = await getTicket(context, party, id)
  const isParty = [ticket.owner, ticket.requester].includes(getPartyId(party))
  if (!isParty && !party.isServer)
    throw failure(
      'forbidden',
      `permissions for [${ticket.resource}] can be deleted only by the owner, the requester, or the resource server`,
      { form: { error: 'not_authorised' } },
    )
  await removeTicket(context, ticket)
}

/** A resource with one of its scopes, by id and name. */
interface TicketTarget {
  readonly resource: LiveObject
  readonly scope?: { readonly id: string; readonly name: string } | undefined
}

/** A resource that a user requests, with names of its scopes; without scopes, all of them. */
export interface RequestedResource {
  /** Id of the resource. */
  readonly resource: string
  readonly scopes: readonly string[]
}

/** Requests access to resources of other users for a user, as far as their owners manage them. Requests that exist are ignored. */
export async function requestTickets(
  context: WriteContext,
  server: LiveObject,
  { requester, resources }: { readonly requester: string; readonly resources: readonly RequestedResource[] },
): Promise<void> {
  const [user] = await writers.user.list(context, { ids: [requester] })
  if (!user || !resources.length) return
  const scopes = await listServerObjects(context, server, { kind: 'authorizationScope' })
  const live = await listServerObjects(context, server, { kind: 'authorizationResource' })
  const targets = resources.flatMap(({ resource: id, scopes: names }): TicketTarget[] => {
    const resource = live.find((object) => object.id === id)
    const isManaged = resource?.representation.ownerManagedAccess === true && getOwner(resource) !== requester
    if (!resource || !isManaged) return []
    const ofResource = listScopes(resource, live)
    const requested = ofResource.filter((name) => !names.length || names.includes(name))
    if (!ofResource.length) return [{ resource }]
    return requested.map((name) => ({
      resource,
      scope: { name, id: scopes.find(({ key }) => key.at(-1) === name)!.id },
    }))
  })
  await addTickets(context, server, { requester: user, targets, isGranted: false })
}

const getOwner = ({ references, parent }: LiveObject): string => references.owner ?? parent!.id

/** Inserts tickets that do not exist. Returns the new ones. Two statements, or none. */
async function addTickets(
  context: WriteContext,
  server: LiveObject,
  {
    requester,
    targets,
    isGranted,
  }: { readonly requester: LiveObject; readonly targets: readonly TicketTarget[]; readonly isGranted: boolean },
): Promise<PermissionTicket[]> {
  if (!targets.length) return []
  const { tx, realm, now } = context
  const time = now.toISOString()
  const rows = targets.map(
    ({ resource, scope }): NewTicket => ({
      id: randomUUID(),
      client: server.id,
      resource: resource.id,
      scope: scope?.id ?? null,
      requester: requester.id,
      created_at: time,
      granted_at: isGranted ? time : null,
    }),
  )
  const created = new Set(await insertTickets(tx, realm.number, rows))
  const tickets = rows.flatMap(({ id }, at): PermissionTicket[] => {
    const { resource, scope } = targets[at]!
    if (!created.has(id)) return []
    const ticket = {
      id,
      resource: resource.id,
      resourceName: resource.key.at(-1)!,
      owner: getOwner(resource),
      ownerName: readText(resource.representation.owner) ?? server.key[0]!,
      requester: requester.id,
      requesterName: requester.key[0]!,
      scope: scope?.id ?? null,
      scopeName: scope?.name ?? null,
      isGranted,
    }
    return [ticket]
  })
  for (const ticket of tickets) await recordTicket(context, ticket, { before: null, after: describe(ticket) })
  return tickets
}

async function removeTicket(context: WriteContext, ticket: PermissionTicket): Promise<void> {
  await deleteTickets(context.tx, context.realm.number, [ticket.id])
  await recordTicket(context, ticket, { before: describe(ticket), after: null })
}

/** Journals a change of a ticket as one of its requester. Decisions about the owner change too. */
async function recordTicket(
  context: WriteContext,
  { id, owner, requester, requesterName }: PermissionTicket,
  { before, after }: { readonly before: string | null; readonly after: string | null },
): Promise<void> {
  const path = `permissionTickets.${id}`
  recordEntry(context, {
    operation: 'update',
    kind: 'user',
    object: { id: requester, key: [requesterName] },
    fields: { [path]: before },
    newValues: { [path]: after },
  })
  await announceAccessChange(context, owner)
}

const describe = ({ resourceName, scopeName, isGranted }: PermissionTicket): string =>
  `${resourceName}${scopeName === null ? '' : `#${scopeName}`} ${isGranted ? 'granted' : 'requested'}`

/** Returns the ticket with an id, which a user may see. Throws invalid. */
async function getTicket(
  { tx, realm }: Context,
  { server }: ProtectionParty,
  id: string | undefined,
): Promise<PermissionTicket> {
  const [ticket] = id === undefined ? [] : await selectTickets(tx, realm.number, { client: server.id, id })
  if (!ticket) throw failure('invalid', 'invalid_ticket', { form: { error: 'invalid_request' } })
  return ticket
}

const createPermissionError = (message: string) =>
  failure('invalid', message, { form: { error: 'invalid_permission' } })

/** Returns the resource of a new ticket. Throws invalid, and forbidden unless the caller is the owner or the client. */
async function getTicketResource(
  context: Context,
  party: ProtectionParty,
  id: string | undefined,
): Promise<LiveObject> {
  if (id === undefined) throw createPermissionError('created permissions should have resource')
  const resource = await findChild(context, party.server, { kind: 'authorizationResource', id })
  if (!resource) throw createUnknownResourceError(id)
  if (!party.isServer && getOwner(resource) !== party.user.id)
    throw failure(
      'forbidden',
      `permissions for [${id}] can be only created by the owner or by the resource server itself`,
      { form: { error: 'not_authorised' } },
    )
  if (resource.representation.ownerManagedAccess !== true)
    throw createPermissionError('permission can only be created for resources with user-managed access enabled')
  return resource
}

/** Creates the error for a resource that does not exist. */
const createUnknownResourceError = (id: string) =>
  failure('invalid', `Resource set with id [${id}] does not exists in this server.`, {
    form: { error: 'invalid_resource_id' },
  })

const createUnknownScopeError = (scope: string) =>
  failure('invalid', `Scope [${scope}] is invalid`, { form: { error: 'invalid_scope' } })

async function getTicketScope(
  context: Context,
  { server }: ProtectionParty,
  {
    resource,
    id,
    name,
  }: { readonly resource: LiveObject; readonly id?: string | undefined; readonly name?: string | undefined },
): Promise<NonNullable<TicketTarget['scope']>> {
  if (id === undefined && name === undefined)
    throw createPermissionError('created permissions should have scope or scopeName')
  const scopes = await listServerObjects(context, server, { kind: 'authorizationScope' })
  const scope = scopes.find((live) => (name === undefined ? live.id === id : live.key.at(-1) === name))
  const scopeName = scope?.key.at(-1)
  if (!scope || !readTexts(resource.representation.scopes).includes(scopeName!))
    throw createUnknownScopeError(name ?? id!)
  return { id: scope.id, name: scopeName! }
}

async function getRequester(context: Context, id: string | undefined, name: string | undefined): Promise<LiveObject> {
  if (id === undefined && name === undefined)
    throw createPermissionError('created permissions should have requester or requesterName')
  const filter = id === undefined ? { keys: [[name!.toLowerCase()]] } : { ids: [id] }
  const [user] = await writers.user.list(context, filter)
  if (!user) throw createPermissionError('Requester does not exists in this server as user.')
  return user
}

/** A permission that an application requests a ticket for. */
export interface PermissionToRequest {
  /** Id of the resource, or its name if the client itself owns it. Absent: the scopes of all resources. */
  readonly resource?: string | undefined
  readonly scopes: readonly string[]
}

/** Returns the permissions with ids of their resources. Throws invalid if a resource or scope does not exist. Two statements, or none. */
export async function resolveRequestedPermissions(
  context: Context,
  { server }: ProtectionParty,
  permissions: readonly PermissionToRequest[],
): Promise<PermissionToRequest[]> {
  const resources = await listServerObjects(context, server, { kind: 'authorizationResource' })
  const scopes = await listServerObjects(context, server, { kind: 'authorizationScope' })
  return permissions.map(({ resource: name, scopes: names }) => {
    const resource = resources.find(
      ({ id, key, references }) => id === name || (key.at(-1) === name && references.owner === undefined),
    )
    if (name !== undefined && !resource) throw createUnknownResourceError(name)
    const available = resource ? listScopes(resource, resources) : scopes.map(({ key }) => key.at(-1)!)
    const unknown = names.find((scope) => !available.includes(scope))
    if (unknown !== undefined) throw createUnknownScopeError(unknown)
    return { ...(resource && { resource: resource.id }), scopes: names }
  })
}

/** Returns the scopes of a resource. Keycloak: a resource of a user also has those of the client's resources of its type. */
function listScopes({ references, representation }: LiveObject, resources: readonly LiveObject[]): string[] {
  const { type } = representation
  const isRelated = (other: LiveObject) => other.references.owner === undefined && other.representation.type === type
  const related = references.owner === undefined || type === undefined ? [] : resources.filter(isRelated)
  return [representation, ...related.map((other) => other.representation)].flatMap((fields) => readTexts(fields.scopes))
}

const toRepresentation = ({ id, owner, resource, scope, isGranted, requester }: PermissionTicket): Representation => ({
  id,
  owner,
  resource,
  ...(scope !== null && { scope }),
  granted: isGranted,
  requester,
})

const toNames = ({ ownerName, resourceName, scopeName, requesterName }: PermissionTicket): Representation => ({
  ...(scopeName !== null && { scopeName }),
  resourceName,
  ownerName,
  requesterName,
})
