// The REST operations on clients in the API of version 2. They map its representation to that of version 1, and call the same functions.
import type { EventOperation } from '../../../kinds/admin-events.ts'
import { kinds } from '../../../kinds/index.ts'
import { isObject, type Json, type Representation, readTexts } from '../../../kinds/json.ts'
import { OIDC } from '../../../kinds/login-protocols.ts'
import { maskRepresentation } from '../../../kinds/mask-representation.ts'
import { type ChangeTimes, selectChangeTimes } from '../../../store/journal/history.ts'
import { requireObjectPermission } from '../../authorization/object-permissions.ts'
import type { Context, WriteContext } from '../../context/context.ts'
import { duplicateResource, failure, ServiceError } from '../../context/errors.ts'
import { describeAdminEvent } from '../../journal/admin-events.ts'
import { writers } from '../../kinds/index.ts'
import type { LiveObject } from '../../objects/live-objects.ts'
import { omitNulls } from '../../objects/put-body.ts'
import { clients, createClient, updateClient } from '../clients/clients.ts'
import { CLIENT_NOT_FOUND, refuseAdminClient } from '../common/client-lookup.ts'
import type { Query } from '../common/resource.ts'
import { createSelection, parseFilter, parseOrder } from './filter.ts'
import { toVersion1, toVersion2 } from './representation.ts'
import { listNamedRoles, replaceAccountRoles, replaceRoles } from './roles.ts'
import { clientFields, filterFields, parseClient } from './schemas.ts'
import { listViolations } from './violations.ts'

const NOT_FOUND = 'Cannot find the specified client'

/** Lists the clients that the caller may view. A filter and an order are evaluated in memory. A constant number of statements. */
export async function listClients(context: Context, query: Query): Promise<Representation[]> {
  const read = (name: string) => String(query[name] ?? '')
  const [q, sort, fields] = [read('q'), read('sort'), read('fields')]
  const [offset, limit] = [Number(query.offset ?? 0), Number(query.limit ?? 100)]
  if (offset < 0) throw refuse('offset must be greater than or equal to 0')
  if (limit < 1) throw refuse('limit must be greater than or equal to 1')
  const select = createSelection(fields, clientFields)
  const order = parseOrder(sort)
  if (q.trim() === '' && sort === '') {
    const page = await clients.list(context, {}, { first: offset, max: limit })
    return (await render(context, page)).map(select)
  }
  const matches = q.trim() === '' ? () => true : parseFilter(q, filterFields)
  const all = (await render(context, await clients.list(context, {}, {}))).filter(matches)
  return all
    .sort(order)
    .slice(offset, offset + limit)
    .map(select)
}

/** Returns the client with the client id. Throws not_found. */
export async function getClient(context: Context, clientId: string): Promise<Representation> {
  return read(context, await findClient(context, { clientId, scope: 'view', notFound: NOT_FOUND }))
}

/** Creates a client, and returns it. Throws invalid, conflict. */
export async function postClient(context: WriteContext, body: Representation): Promise<Representation> {
  await requireObjectPermission(context, { type: 'Clients', scope: 'manage', objects: 'new' })
  const declared = parseClient(body)
  requireValid(listViolations(declared))
  const [existing] = await writers.client.list(context, { keys: [[String(declared.clientId)]] })
  if (existing) throw duplicateResource()
  return create(context, declared)
}

/** A client after a PUT, and whether that has created it. */
export interface PutResult {
  readonly client: Representation
  readonly isCreated: boolean
}

/** Replaces the client with the client id, or creates it. Settings that version 2 does not have stay. Throws invalid. */
export async function putClient(context: WriteContext, clientId: string, body: Representation): Promise<PutResult> {
  const [live] = await writers.client.list(context, { keys: [[clientId]] })
  await requireObjectPermission(context, {
    type: 'Clients',
    ...(live ? { scope: 'configure', objects: [live] } : { scope: 'manage', objects: 'new' }),
  })
  if (live) refuseAdminClient(context, live)
  const declared = parseClient(body)
  requireClientId(declared, clientId)
  if (!live) {
    requireValid(listViolations(declared))
    return { client: await create(context, declared), isCreated: true }
  }
  requireValid(listViolations(declared, { uuid: live.id, protocol: live.representation.protocol ?? OIDC }))
  return { client: await update(context, live, declared), isCreated: false }
}

/** Changes a client by a JSON merge patch, RFC 7396, and returns it. Throws not_found, invalid. */
export async function patchClient(context: WriteContext, clientId: string, patch: Json): Promise<Representation> {
  const live = await findClient(context, { clientId, scope: 'configure', notFound: NOT_FOUND })
  refuseAdminClient(context, live)
  if (!isObject(patch)) throw refuse('Cannot replace client resource with non-object')
  const current = await read(context, live)
  const { createdTimestamp: _, updatedTimestamp: __, ...changed } = patch
  const declared = parseClient(mergePatch(current, changed))
  requireClientId(declared, clientId)
  requireValid(listViolations(declared, current))
  return update(context, live, declared)
}

/** Deletes the client with the client id. Throws not_found. */
export async function deleteClient(context: WriteContext, clientId: string): Promise<void> {
  const live = await findClient(context, { clientId, scope: 'manage', notFound: CLIENT_NOT_FOUND })
  await asVersion2(clients.delete(context, { id: live.id }))
  describeAdminEvent(context, { resourcePath: `clients/${live.id}`, details: { apiVersion: 'v2' } })
}

async function create(context: WriteContext, declared: Representation): Promise<Representation> {
  const body = {
    ...omitNulls(toVersion1(declared)),
    // Keycloak: clients of version 1 have another value.
    fullScopeAllowed: false,
    nodeReRegistrationTimeout: 0,
    ...(declared.protocol !== OIDC && { webOrigins: [] }),
  }
  const id = await asVersion2(createClient(context, body, { isComplete: true }))
  const [live] = await writers.client.list(context, { ids: [id] })
  await replaceNamedRoles(context, live!, { declared, hadAccount: false })
  return describeChange(context, live!, { body, operationType: 'CREATE' })
}

async function update(context: WriteContext, live: LiveObject, declared: Representation): Promise<Representation> {
  const version1 = toVersion1(declared)
  const { name, description, baseUrl, webOrigins = live.representation.webOrigins ?? [] } = version1
  const { type, authorizationServicesEnabled, serviceAccountsEnabled } = live.representation
  const retained = omitNulls({ type: type ?? null, authorizationServicesEnabled: authorizationServicesEnabled ?? null })
  const body = { ...omitNulls(version1), ...retained }
  const fields = { name: name!, description: description!, baseUrl: baseUrl!, webOrigins: webOrigins! }
  await asVersion2(updateClient(context, live, { body, fields }))
  const [updated] = await writers.client.list(context, { ids: [live.id] })
  await replaceNamedRoles(context, updated!, { declared, hadAccount: serviceAccountsEnabled === true })
  return describeChange(context, updated!, { body, operationType: 'UPDATE' })
}

async function replaceNamedRoles(
  context: WriteContext,
  live: LiveObject,
  { declared, hadAccount }: { readonly declared: Representation; readonly hadAccount: boolean },
): Promise<void> {
  await replaceRoles(context, live, readTexts(declared.roles))
  const names = readTexts(declared.serviceAccountRoles)
  await replaceAccountRoles(context, live, { names, isNew: !hadAccount })
}

/** Describes the admin event of a created or changed client, and returns the client. */
async function describeChange(
  context: WriteContext,
  live: LiveObject,
  { body, operationType }: { readonly body: Representation; readonly operationType: EventOperation },
): Promise<Representation> {
  const representation = maskRepresentation(kinds.client, { id: live.id, ...body })
  describeAdminEvent(context, {
    operationType,
    resourcePath: `clients/${live.id}`,
    representation,
    details: { apiVersion: 'v2' },
  })
  return read(context, live)
}

/** The client id of a client, the scope that the caller needs, and the message of the error if there is none. */
interface ClientLookup {
  readonly clientId: string
  readonly scope: 'view' | 'configure' | 'manage'
  readonly notFound: string
}

/** Returns the client with the client id. Throws forbidden, not_found. */
async function findClient(context: Context, { clientId, scope, notFound }: ClientLookup): Promise<LiveObject> {
  const [live] = await writers.client.list(context, { keys: [[clientId]] })
  await requireObjectPermission(context, { type: 'Clients', scope, objects: [{ id: live?.id ?? clientId }] })
  if (!live) throw failure('not_found', notFound)
  return live
}

async function read(context: Context, { id }: LiveObject): Promise<Representation> {
  const [client] = await render(context, [await clients.get(context, { id })])
  return client!
}

/** Returns clients of version 1, as the caller may see them, in version 2. Four statements at most. */
async function render(context: Context, version1: readonly Representation[]): Promise<Representation[]> {
  const names = version1.map(({ id, clientId }) => ({ id: String(id), clientId: String(clientId) }))
  const getRoles = await listNamedRoles(context, names)
  const times = await readChangeTimes(
    context,
    names.map(({ id }) => id),
  )
  return version1.map((client, at) => toVersion2(client, { ...getRoles(names[at]!), ...times(names[at]!.id) }))
}

/** Returns the times of clients, which may have been changed in the transaction. One statement. */
async function readChangeTimes(
  context: Context | WriteContext,
  ids: readonly string[],
): Promise<(id: string) => ChangeTimes> {
  const stored = await selectChangeTimes(context.tx, context.realm.number, { kind: 'client', ids })
  const entries = 'entries' in context ? context.entries.filter(({ kind }) => kind === 'client') : []
  return (id) => {
    const changes = entries.filter(({ object }) => object === id)
    const isCreated = changes.some(({ operation }) => operation === 'create')
    const { created = context.now, updated = context.now } = stored.get(id) ?? {}
    return { created: isCreated ? context.now : created, updated: changes.length ? context.now : updated }
  }
}

/** Applies a merge patch to an object, without the members that become null. */
function mergePatch(target: Representation, patch: Representation): Representation {
  const merged: Representation = { ...target }
  for (const [name, value] of Object.entries(patch)) {
    const member = merged[name]
    merged[name] = isObject(value) ? mergePatch(isObject(member) ? member : {}, value) : value
  }
  return omitNulls(merged)
}

function requireClientId({ clientId = null }: Representation, expected: string): void {
  if (clientId !== null && clientId !== expected)
    throw refuse("Field 'clientId' in payload does not match the provided 'clientId'")
}

function requireValid(violations: readonly string[]): void {
  if (violations.length) throw failure('invalid', 'Provided data is invalid', { form: 'error', violations })
}

const refuse = (message: string) => failure('invalid', message, { form: 'error' })

/** Returns the result of a change; problems of the client have the form of version 2. */
async function asVersion2<T>(change: Promise<T>): Promise<T> {
  try {
    return await change
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'invalid' && typeof error.form === 'object')
      throw failure('invalid', error.message, { form: 'error', ...(error.field && { field: error.field }) })
    throw error
  }
}
