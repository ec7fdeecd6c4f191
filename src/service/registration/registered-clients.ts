// Clients that applications register, read, change and delete themselves. RFC 7591, RFC 7592. Keycloak: AbstractClientRegistrationProvider.
import { randomUUID } from 'node:crypto'
import { kinds } from '../../kinds/index.ts'
import { type Representation, readTexts } from '../../kinds/json.ts'
import { maskRepresentation } from '../../kinds/mask-representation.ts'
import { countClients, setRegistrationToken } from '../../store/registration-tokens.ts'
import { clients, createClient, isUndeletable, updateClient } from '../admin-api/clients/clients.ts'
import { describeInstalledClient } from '../admin-api/clients/installation/installed-client.ts'
import { renderAdapterJson } from '../admin-api/clients/installation/oidc-adapter.ts'
import { getClient, refuseAdminClient } from '../admin-api/common/client-lookup.ts'
import { requireObjectPermission } from '../authorization/object-permissions.ts'
import { listClientExecutors } from '../client-policies/apply-client-policies.ts'
import { getDefaultClientScopes } from '../clients/new-client-defaults.ts'
import type { Context, WriteContext } from '../context/context.ts'
import { failure } from '../context/errors.ts'
import { awaitWrites } from '../context/send-write.ts'
import { hasAdminEvents, recordAdminEvent } from '../journal/admin-events.ts'
import { writers } from '../kinds/index.ts'
import { toWireRepresentation, toWireRepresentations } from '../kinds/wire-representation.ts'
import { type LiveObject, listObjects } from '../objects/live-objects.ts'
import { omitNulls } from '../objects/put-body.ts'
import { requireControlOfClients } from '../permissions/privilege-escalation.ts'
import { createMetadataError, PolicyRefusedError, toRegistrationError } from './registration-errors.ts'
import {
  getAccessType,
  getCreationType,
  getUpdateSource,
  type RegistrationParty,
  requireChange,
  requireCreation,
  requireView,
} from './registration-party.ts'
import {
  findPolicyRefusal,
  imposeFields,
  listPolicies,
  type RegistrationPolicy,
  type RegistrationRequest,
  type RegistrationType,
} from './registration-policies.ts'

/** Keycloak: the default client scope of clients that declare optional client scopes only. */
const BASIC_SCOPE = 'basic'

/** A client as it is returned to its sender, and the token with which it may be changed. */
export interface RegisteredClient {
  readonly client: Representation
  /** Absent: the response contains no token. */
  readonly token?: { readonly id: string; readonly type: RegistrationType } | undefined
}

/** Lists the policies of the realm for a type of requests. One statement, or none if they are cached. */
export async function listRegistrationPolicies(
  context: Context,
  type: RegistrationType,
): Promise<RegistrationPolicy[]> {
  const components = await listObjects(context, 'component', {})
  return listPolicies(
    components.map(({ key, representation }) => ({ ...representation, path: key[0]! })),
    type,
  )
}

/** Registers a client. Its id in the body counts only for administrators. Throws unauthorized, forbidden, invalid. */
export async function registerClient(
  context: WriteContext,
  party: RegistrationParty,
  body: Representation,
): Promise<RegisteredClient> {
  await requireCreation(context, party)
  const type = getCreationType(party.credential)
  const policies = await listRegistrationPolicies(context, type)
  const { id = null, ...fields } = omitNulls(addBasicScope(body))
  await checkPolicies(context, policies, { operation: 'register', client: fields, senderHosts: party.senderHosts })
  const declared = imposeFields(policies, { fullScopeAllowed: fields.consentRequired !== true, ...fields })
  const isAdministrator = party.credential.kind === 'administrator'
  const created = await writeClient(context, () =>
    createClient(
      context,
      { ...(isAdministrator && id !== null && { id }), ...declared },
      { source: getUpdateSource(party.credential) },
    ),
  )
  const [live] = await writers.client.list(context, { ids: [created] })
  recordEvent(context, 'CREATE', { live: live!, body: { ...fields, id: created } })
  return { client: await toOwnRepresentation(context, live!), token: await rotateToken(context, live!, type) }
}

/** Returns a client, with the token of the request. Throws unauthorized, forbidden, not_found. */
export async function readRegisteredClient(
  context: Context,
  party: RegistrationParty,
  clientId: string,
): Promise<RegisteredClient> {
  const { credential } = party
  const live = await requireView(context, party, await findClient(context, clientId))
  const policies = await listRegistrationPolicies(context, getAccessType(credential))
  await checkPolicies(context, policies, { operation: 'view', senderHosts: party.senderHosts })
  if (credential.kind !== 'administrator')
    return {
      client: await toOwnRepresentation(context, live),
      token: credential.kind === 'registration access token' ? credential : undefined,
    }
  const { access: _, ...client } = await clients.get(context, { id: live.id })
  return { client }
}

/** Returns the text of `keycloak.json`, the configuration of a client for Keycloak's adapters. Throws unauthorized, forbidden, not_found. */
export async function readAdapterConfig(
  context: Context,
  party: RegistrationParty,
  { clientId, base }: { readonly clientId: string; readonly base: string },
): Promise<string> {
  const { client } = await readRegisteredClient(context, party, clientId)
  return renderAdapterJson(await describeInstalledClient(context, client, { base, certificates: [] }))
}

/** An update of a client. */
export interface ClientChange {
  readonly clientId: string
  /** Returns the fields that the request declares, given the client before it. Throws invalid. */
  readonly readBody: (live: Representation) => Representation
}

/** Updates a client. A registration access token is replaced by a new one. Throws unauthorized, forbidden, not_found, invalid. */
export async function updateRegisteredClient(
  context: WriteContext,
  party: RegistrationParty,
  { clientId, readBody }: ClientChange,
): Promise<RegisteredClient> {
  const { credential } = party
  const live = await requireChange(context, party, await findClient(context, clientId))
  const type = getAccessType(credential)
  const former = await toOwnRepresentation(context, live)
  const fields = omitNulls(readBody(former))
  const policies = await listRegistrationPolicies(context, type)
  await checkPolicies(context, policies, {
    operation: 'update',
    client: fields,
    live: former,
    senderHosts: party.senderHosts,
  })
  if (fields.clientId !== clientId) throw createMetadataError('Client Identifier modified')
  refuseAdminClient(context, live)
  const { id: _, ...declared } = fields
  await writeClient(context, () => updateClient(context, live, { body: declared, source: getUpdateSource(credential) }))
  const updated = await replaceScopes(context, live.id, declared)
  recordEvent(context, 'UPDATE', { live, body: fields })
  if (credential.kind !== 'administrator') {
    const isKept = credential.kind === 'registration access token' && (await keepsToken(context, updated))
    const token = isKept ? credential : await rotateToken(context, updated, type)
    return { client: await toOwnRepresentation(context, updated), token }
  }
  const { access: __, ...client } = await clients.get(context, { id: live.id })
  return { client }
}

/** Deletes a client, and with it its token. Throws unauthorized, forbidden, not_found. */
export async function deleteRegisteredClient(
  context: WriteContext,
  party: RegistrationParty,
  clientId: string,
): Promise<void> {
  const live = await requireChange(context, party, await findClient(context, clientId))
  const policies = await listRegistrationPolicies(context, getAccessType(party.credential))
  await checkPolicies(context, policies, { operation: 'delete', senderHosts: party.senderHosts })
  refuseAdminClient(context, live)
  if (isUndeletable(context, live)) throw failure('forbidden', 'HTTP 403 Forbidden')
  await writers.client.delete(context, [live])
  recordEvent(context, 'DELETE', { live, body: { id: live.id, clientId } })
}

/** Creates a registration access token for a client, by its id, which replaces the previous one. Throws not_found, forbidden. */
export async function createRegistrationToken(context: WriteContext, id: string): Promise<RegisteredClient> {
  await requireObjectPermission(context, { type: 'Clients', scope: 'configure', objects: [{ id }] })
  const live = await getClient(context, id)
  // Who has the token reads the secret of the client, and can act as its service account.
  await requireControlOfClients(context, [id])
  return { client: await toOwnRepresentation(context, live), token: await rotateToken(context, live, 'authenticated') }
}

const ROTATION_DISABLED = 'registration-access-token-rotation-disabled'

/** Whether a client policy keeps the registration access token of a client when it updates itself. */
async function keepsToken(context: Context, live: LiveObject): Promise<boolean> {
  const executors = await listClientExecutors(context, live, 'update')
  return executors.some(({ executor }) => executor === ROTATION_DISABLED)
}

/** Stores a new registration access token for a client, which replaces the previous one. One statement. */
async function rotateToken(
  { tx, realm }: WriteContext,
  { id: client }: Pick<LiveObject, 'id'>,
  type: RegistrationType,
): Promise<NonNullable<RegisteredClient['token']>> {
  const id = randomUUID()
  await setRegistrationToken(tx, realm.number, { client, id })
  return { id, type }
}

async function findClient(context: Context, clientId: string): Promise<LiveObject | undefined> {
  const [live] = await writers.client.list(context, { keys: [[clientId]] })
  return live
}

/** Throws forbidden where a policy refuses the request. Two statements at most. */
async function checkPolicies(
  context: Context,
  policies: readonly RegistrationPolicy[],
  request: Pick<RegistrationRequest, 'operation' | 'client' | 'live' | 'senderHosts'>,
): Promise<void> {
  const isWritten = request.client !== undefined
  const scopes = isWritten ? await getDefaultClientScopes(context) : { default: [], optional: [] }
  const refusal = findPolicyRefusal(policies, {
    ...request,
    clientCount: request.operation === 'register' ? await countClients(context.tx, context.realm.number) : 0,
    defaultScopes: [...scopes.default, ...scopes.optional].map(({ key }) => key[0]!),
  })
  if (refusal) throw new PolicyRefusedError(refusal)
}

/** Runs a write to its end. Throws the errors of client registration. */
async function writeClient<T>(context: WriteContext, write: () => Promise<T>): Promise<T> {
  try {
    return await awaitWrites(context, write)
  } catch (error) {
    throw toRegistrationError(error)
  }
}

function addBasicScope(body: Representation): Representation {
  const { defaultClientScopes = null, optionalClientScopes = null } = body
  return optionalClientScopes === null || defaultClientScopes !== null
    ? body
    : { ...body, defaultClientScopes: [BASIC_SCOPE] }
}

/**
 * Replaces the client scopes of a client if the body of its update declares any: then a list that it does not declare is empty. Names of
 * other scopes, and of those of another protocol, are ignored. Returns the client.
 */
async function replaceScopes(context: WriteContext, id: string, body: Representation): Promise<LiveObject> {
  const [live] = await writers.client.list(context, { ids: [id] })
  const { defaultClientScopes, optionalClientScopes } = body
  if (defaultClientScopes === undefined && optionalClientScopes === undefined) return live!
  const [defaults, optional] = [new Set(readTexts(defaultClientScopes)), new Set(readTexts(optionalClientScopes))]
  const scopes = await listObjects(context, 'clientScope', { keys: [...defaults, ...optional].map((name) => [name]) })
  const usable = scopes.flatMap(({ key, representation }) =>
    representation.protocol === live!.representation.protocol ? [key[0]!] : [],
  )
  const toChange = (field: string, declared: (name: string) => boolean) => {
    const present = readTexts(live!.representation[field])
    const desired = usable.filter(declared)
    return {
      add: desired.filter((name) => !present.includes(name)).map((name) => [name]),
      remove: present.filter((name) => !desired.includes(name)).map((name) => [name]),
    }
  }
  const relations = {
    defaultClientScopes: toChange('defaultClientScopes', (name) => defaults.has(name)),
    optionalClientScopes: toChange('optionalClientScopes', (name) => optional.has(name) && !defaults.has(name)),
  }
  const [updated] = await writers.client.update(context, [{ live: live!, set: {}, relations }])
  return updated!
}

/** Returns a client as its owner sees it: with its secret, unless it is public. */
async function toOwnRepresentation(context: Context, live: LiveObject): Promise<Representation> {
  const [client] = await toWireRepresentations(context, [live], (vault, object) => {
    const { secret = null, ...fields } = toWireRepresentation(vault, object)
    return fields.publicClient === true || secret === null ? fields : { ...fields, secret }
  })
  if (client!.authorizationServicesEnabled !== true) delete client!.authorizationServicesEnabled
  return client!
}

/** Records the admin event of a change, as for a change by REST. */
function recordEvent(
  context: WriteContext,
  operationType: 'CREATE' | 'UPDATE' | 'DELETE',
  { live, body }: { readonly live: LiveObject; readonly body: Representation },
): void {
  if (!hasAdminEvents(context)) return
  recordAdminEvent(context, {
    operationType,
    resourceType: kinds.client.events.type,
    resourcePath: `clients/${live.id}`,
    representation: maskRepresentation(kinds.client, body),
  })
}
