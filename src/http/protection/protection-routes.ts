// The protection API, by which applications manage the resources of their client, and owners manage access to theirs. User-Managed Access 2.0.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type * as z from 'zod'
import { type Json, type Representation, readObject, readObjects, readText, readTexts } from '../../kinds/json.ts'
import { signPermissionTicket } from '../../oidc/authorization/permission-ticket-token.ts'
import { authenticateProtection, type ProtectionCall } from '../../oidc/authorization/protection-caller.ts'
import type { RealmEndpoint } from '../../oidc/client-call.ts'
import type { Context, WriteContext } from '../../service/context/context.ts'
import * as policies from '../../service/protection/owner-policies.ts'
import * as tickets from '../../service/protection/permission-tickets.ts'
import * as resources from '../../service/protection/protected-resources.ts'
import type { ProtectionParty } from '../../service/protection/protection-party.ts'
import { type BodyForm, readBody } from '../body.ts'
import { HttpError, methodNotAllowed, notFound } from '../errors.ts'
import { PROTECTION_LIMIT } from '../server/limits.ts'
import { bodyForms, queries } from './protection-bodies.ts'

const PATH = '/realms/:realm/authz/protection'

/** The parameters of paths and queries. */
interface RouteParameters {
  Params: { readonly id?: string }
  Querystring: Readonly<Record<string, string | string[]>>
}

/** A request of the protection API: the caller, the id in its path, its query and its body. */
interface RoutedCall extends ProtectionCall {
  readonly reply: FastifyReply
  readonly id: string
  readonly query: RouteParameters['Querystring']
  readonly bytes: Buffer | undefined
}

/** Adds the routes of the protection API. */
export function addProtectionRoutes(
  app: FastifyInstance,
  endpointOf: (request: FastifyRequest) => RealmEndpoint,
): void {
  const calls = new WeakMap<FastifyRequest, ProtectionCall>()
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit: PROTECTION_LIMIT }, (_request, body, parsed) =>
    parsed(null, body),
  )
  // The caller is authenticated before the body is read.
  app.addHook('onRequest', async (request) => {
    const { ip: address, protocol, headers } = request
    const { authorization } = headers
    calls.set(
      request,
      await authenticateProtection(endpointOf(request), { authorization, address, secure: protocol === 'https' }),
    )
  })
  const route = (
    method: 'GET' | 'POST' | 'PUT' | 'DELETE',
    path: string,
    handle: (call: RoutedCall) => Promise<unknown>,
  ) =>
    app.route<RouteParameters>({
      method,
      url: `${PATH}/${path}`,
      handler: (request, reply) => {
        const { params, query, body } = request
        const bytes = Buffer.isBuffer(body) ? body : undefined
        return handle({ ...calls.get(request)!, reply, id: params.id ?? '', query, bytes })
      },
    })
  addResourceRoutes(route)
  addTicketRoutes(route)
  addPolicyRoutes(route)
  app.all(`${PATH}/*`, async () => Promise.reject(methodNotAllowed()))
}

type AddRoute = (
  method: 'GET' | 'POST' | 'PUT' | 'DELETE',
  path: string,
  handle: (call: RoutedCall) => Promise<unknown>,
) => void

function addResourceRoutes(route: AddRoute): void {
  route('GET', 'resource_set', (call) =>
    read(call, (context, party) => resources.listResources(context, party, queryOf(call, queries.resources))),
  )
  route('POST', 'resource_set', (call) =>
    write(call, 201, (context, party) => resources.createResource(context, party, objectOf(call, bodyForms.resource))),
  )
  route('GET', 'resource_set/:id', (call) =>
    read(call, (context, party) => resources.getResource(context, party, call.id)),
  )
  route('PUT', 'resource_set/:id', (call) =>
    write(call, 204, (context, party) =>
      resources.replaceResource(context, party, { id: call.id, body: objectOf(call, bodyForms.resource) }),
    ),
  )
  route('DELETE', 'resource_set/:id', (call) =>
    write(call, 204, (context, party) => resources.deleteResource(context, party, call.id)),
  )
}

function addTicketRoutes(route: AddRoute): void {
  const ticketsOf = (call: RoutedCall): tickets.TicketQuery => {
    const { scopeId: scope, resourceId: resource, granted, ...query } = queryOf(call, queries.tickets)
    return { ...query, scope, resource, isGranted: granted }
  }
  route('POST', 'permission', signTicket)
  route('GET', 'permission/ticket', (call) =>
    read(call, (context, party) => tickets.listTickets(context, party, ticketsOf(call))),
  )
  route('GET', 'permission/ticket/count', (call) =>
    read(call, (context, party) => tickets.getTicketCount(context, party, ticketsOf(call))),
  )
  route('POST', 'permission/ticket', (call) =>
    write(call, 200, (context, party) => tickets.createTicket(context, party, objectOf(call, bodyForms.ticket))),
  )
  route('PUT', 'permission/ticket', (call) =>
    write(call, 204, (context, party) => tickets.replaceTicket(context, party, objectOf(call, bodyForms.ticket))),
  )
  route('DELETE', 'permission/ticket/:id', (call) =>
    write(call, 204, (context, party) => tickets.deleteTicket(context, party, call.id)),
  )
}

function addPolicyRoutes(route: AddRoute): void {
  route('GET', 'uma-policy', (call) =>
    read(call, (context, party) => policies.listOwnerPolicies(context, party, queryOf(call, queries.policies))),
  )
  route('POST', 'uma-policy/:id', (call) =>
    write(call, 200, (context, party) =>
      policies.createOwnerPolicy(context, party, { resource: call.id, body: objectOf(call, bodyForms.policy) }),
    ),
  )
  route('GET', 'uma-policy/:id', (call) =>
    read(call, (context, party) => policies.getOwnerPolicy(context, party, call.id)),
  )
  route('PUT', 'uma-policy/:id', (call) =>
    write(call, 201, (context, party) =>
      policies.replaceOwnerPolicy(context, party, { id: call.id, body: objectOf(call, bodyForms.policy) }),
    ),
  )
  route('DELETE', 'uma-policy/:id', (call) =>
    write(call, 204, (context, party) => policies.deleteOwnerPolicy(context, party, call.id)),
  )
}

/** Responds with a signed ticket for permissions. */
async function signTicket(call: RoutedCall): Promise<FastifyReply> {
  const permissions = readObjects(bodyOf(call, bodyForms.permissions))
  if (!permissions.length)
    throw new HttpError(400, {
      error: 'invalid_permission_request',
      error_description: 'Invalid permission request.',
    })
  const { service, realm, caller, party, reply } = call
  const requested = permissions.map(({ resource_id: resource, resource_scopes: scopes }) => ({
    resource: readText(resource),
    scopes: readTexts(scopes),
  }))
  const resolved = await service.read(caller, realm, (context) =>
    tickets.resolveRequestedPermissions(context, party, requested),
  )
  const claims = permissions.flatMap((permission) => Object.entries(readObject(permission.claims)))
  const ticket = await signPermissionTicket(call, party.server, {
    user: party.user.id,
    permissions: resolved,
    claims: Object.fromEntries(claims.map(([name, values]) => [name, [...readTexts(values)]])),
  })
  return reply.code(201).send({ ticket })
}

/** Responds with the result of a read; 204 if there is none. */
async function read(
  { service, realm, caller, party, reply }: RoutedCall,
  work: (context: Context, party: ProtectionParty) => Promise<unknown>,
): Promise<FastifyReply> {
  const result = await service.read(caller, realm, (context) => work(context, party))
  return result === undefined ? reply.code(204).send() : sendJson(reply, result)
}

/** Responds with the result of a write and the status. */
async function write(
  { service, realm, caller, party, reply }: RoutedCall,
  status: number,
  work: (context: WriteContext, party: ProtectionParty) => Promise<unknown>,
): Promise<FastifyReply> {
  const result = await service.write(caller, realm.name, (context) => work(context, party))
  return result === undefined ? reply.code(status).send() : sendJson(reply.code(status), result)
}

const sendJson = (reply: FastifyReply, body: unknown): FastifyReply =>
  reply.type('application/json').send(JSON.stringify(body))

/** Returns the body of a call. @throws HttpError 400 */
function bodyOf({ bytes }: RoutedCall, form: BodyForm): Json {
  return JSON.parse(JSON.stringify(readBody(bytes, form) ?? null))
}

/** Returns the body of a call, which is an object; an empty one if it is null. @throws HttpError 400 */
const objectOf = (call: RoutedCall, form: BodyForm): Representation => readObject(bodyOf(call, form))

/** Returns the query of a call. Only the first value of a parameter counts. @throws HttpError 404 */
function queryOf<T extends z.ZodObject>({ query }: RoutedCall, schema: T): z.infer<T> {
  const entries = Object.entries(query).map(([name, value]) => [name, [value].flat()[0]])
  const parsed = schema.safeParse(Object.fromEntries(entries))
  if (!parsed.success) throw notFound()
  return parsed.data
}
