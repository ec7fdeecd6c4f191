// The REST operations on clients.

import { ADMIN_PERMISSIONS } from '../../../kinds/admin-permissions.ts'
import { isBuiltIn } from '../../../kinds/built-in/index.ts'
import { addProtocolDefaults, readDirectGrantsOnly, toWebOrigins } from '../../../kinds/client.ts'
import { type FlatFields, flatten } from '../../../kinds/compare.ts'
import { kinds } from '../../../kinds/index.ts'
import { isList, type Representation, readObject, readObjects, readTexts } from '../../../kinds/json.ts'
import { maskRepresentation } from '../../../kinds/mask-representation.ts'
import type { ObjectFilter } from '../../../store/object-filter.ts'
import {
  getObjectVisibility,
  loadObjectAccess,
  requireListPermission,
  requireObjectPermission,
} from '../../authorization/object-permissions.ts'
import {
  configureClientUpdate,
  configureNewClient,
  requireClientAccess,
} from '../../client-policies/apply-client-policies.ts'
import type { UpdateSource } from '../../client-policies/policy-event.ts'
import { generateClientSecret } from '../../clients/clients.ts'
import type { Context, WriteContext } from '../../context/context.ts'
import { failure } from '../../context/errors.ts'
import { describeAdminEvent } from '../../journal/admin-events.ts'
import { writers } from '../../kinds/index.ts'
import { type ToWire, toWireRepresentation, toWireRepresentations } from '../../kinds/wire-representation.ts'
import { applySecretRotation } from '../../login/secret-rotation.ts'
import type { LiveObject } from '../../objects/live-objects.ts'
import { omitNulls, resolveReferenceIds, toReplacement } from '../../objects/put-body.ts'
import { findMissingRolesForClients } from '../../permissions/privilege-escalation.ts'
import { getClient, isAdminClient, refuseAdminClient } from '../common/client-lookup.ts'
import { parseAttributeQuery, parsePage } from '../common/list-query.ts'
import { createPlainResource, type PlainResourceDescription } from '../common/plain-resource.ts'
import type { AdminResource, Query } from '../common/resource.ts'
import { selectOwnScopes, updateAssignedScopes } from './assigned-scopes.ts'
import { omitInapplicable, requireSameType } from './client-types.ts'
import { readNestedMapper, replaceMappers } from './nested-mappers.ts'

/** Keycloak: the attributes by which clients can always be searched. A setting of the server adds others. */
const SEARCHABLE = [
  'saml_idp_initiated_sso_url_name',
  'saml.artifact.binding.identifier',
  'jwt.credential.issuer',
  'jwt.credential.sub',
]

const requireAccess: NonNullable<PlainResourceDescription['requireAccess']> = (context, scope, { id }) =>
  requireObjectPermission(context, { type: 'Clients', scope, objects: id === undefined ? 'new' : [{ id }] })

const description: PlainResourceDescription = {
  kind: 'client',
  view: 'view-clients',
  search: 'list-clients',
  manage: 'manage-clients',
  getObject: (context, { id }) => getClient(context, id),
  readChild: readNestedMapper,
}

const plainResource = createPlainResource({ ...description, requireAccess })
/** Its operations check no permission: their callers do. */
const uncheckedResource = createPlainResource({ ...description, requireAccess: async () => undefined })

/** Throws forbidden unless the caller may create clients. */
export const requireCreation = (context: Context): Promise<void> => requireAccess(context, 'manage', {})

/** The REST operations on clients. Keycloak: ClientsResource, ClientResource. */
export const clients: AdminResource = {
  ...plainResource,
  async list(context, _address, query) {
    await requireListPermission(context, 'Clients', 'list-clients')
    const matches = await writers.client.list(context, {
      ...toFilter(context, query),
      visible: await getObjectVisibility(context, 'Clients'),
    })
    return toWireRepresentations(context, matches, await createToWire(context, matches))
  },
  async get(context, { id }) {
    await requireObjectPermission(context, { type: 'Clients', scope: 'view', objects: [{ id }] })
    const live = [await getClient(context, id)]
    await requireClientAccess(context, live[0]!, 'view')
    return (await toWireRepresentations(context, live, await createToWire(context, live)))[0]!
  },
  async create(context, address, body) {
    await requireAccess(context, 'manage', address)
    return createClient(context, body)
  },
  async replace(context, { id }, body) {
    await requireObjectPermission(context, { type: 'Clients', scope: 'configure', objects: [{ id }] })
    const live = await getClient(context, id)
    refuseAdminClient(context, live)
    if (changesFullScope(live, body))
      await requireObjectPermission(context, { type: 'Clients', scope: 'manage', objects: [{ id }] })
    await updateClient(context, live, { body })
  },
  async delete(context, { id }) {
    await requireObjectPermission(context, { type: 'Clients', scope: 'manage', objects: [{ id }] })
    const live = await getClient(context, id)
    refuseAdminClient(context, live)
    if (isUndeletable(context, live))
      throw failure('invalid', 'Could not delete client', { form: { error: 'invalid_request' } })
    await requireClientAccess(context, live, 'delete')
    await writers.client.delete(context, [live])
    describeAdminEvent(context, { representation: { id, clientId: live.key[0]! } })
  },
}

/** The creation of a client. */
interface ClientCreation {
  /** Whether the body gets no defaults of its protocol. */
  readonly isComplete?: boolean
  /** The kind of its author, for client policies. */
  readonly source?: UpdateSource
}

/** Creates a client from the body of a request, and returns its id. The caller of it checks the permission to create clients. */
export async function createClient(
  context: WriteContext,
  body: Representation,
  { isComplete = false, source = 'ByAuthenticatedUser' }: ClientCreation = {},
): Promise<string> {
  const configured = await configureNewClient(context, omitNulls(omitServerFields(body)), source)
  const complete = isComplete ? configured : readDirectGrantsOnly(addProtocolDefaults(addSecret(context, configured)))
  const declared = await omitInapplicable(context, complete)
  const id = await uncheckedResource.create(context, {}, await selectOwnScopes(context, omitNulls(declared)))
  await applySecretRotation(context, async () => [await getClient(context, id)])
  return id
}

/** An update of a client. */
interface ClientUpdate {
  readonly body: Representation
  /** Other values than those that follow from the body, where null removes a value. */
  readonly fields?: FlatFields
  /** The kind of its author, for client policies. */
  readonly source?: UpdateSource
}

/** Updates a client from the body of a request. The caller of it checks the permission to change the client. */
export async function updateClient(
  context: WriteContext,
  live: LiveObject,
  { body, fields, source = 'ByAuthenticatedUser' }: ClientUpdate,
): Promise<void> {
  requireSameType(live, body)
  const applicable = await omitInapplicable(context, omitServerFields(body))
  const resolved = await resolveReferenceIds(context, 'client', applicable)
  const proposed = { ...toClientUpdate(context, live, resolved), ...fields }
  const set = await configureClientUpdate(context, { live, set: proposed }, source)
  const scopes = await updateAssignedScopes(context, live, body)
  const updated = await writers.client.update(context, [{ live, set, ...scopes }])
  await applySecretRotation(context, async () => updated)
  const { protocolMappers } = body
  if (isList(protocolMappers)) await replaceMappers(context, live, readObjects(protocolMappers))
}

/** Whether a client belongs to the realm, so that nobody can delete it. */
export const isUndeletable = ({ realm }: Context, { key }: LiveObject): boolean =>
  isBuiltIn(realm.name, 'client', key) || key[0] === ADMIN_PERMISSIONS

/** Whether a body switches the full scope of a client on or off. Keycloak: that takes the scope `manage`, not only `configure`. */
function changesFullScope({ representation }: LiveObject, { fullScopeAllowed = null }: Representation): boolean {
  return fullScopeAllowed !== null && fullScopeAllowed !== representation.fullScopeAllowed
}

/** Keycloak: a client whose body does not declare it public gets a secret, even if its protocol makes it public. */
function addSecret(context: Context, body: Representation): Representation {
  const { protocol, publicClient, secret } = omitNulls(body)
  return protocol !== 'openid-connect' || publicClient !== undefined || secret !== undefined
    ? body
    : { ...body, ...generateClientSecret(context, readObject(body.attributes)) }
}

/**
 * Omits what a body cannot set. Keycloak: authorization settings have operations of their own, and `realm_client` is true only for
 * the clients that are created with a realm.
 */
function omitServerFields({ authorizationSettings: _, ...body }: Representation): Representation {
  if ((body.attributes ?? null) === null) return body
  const { realm_client: __, ...attributes } = readObject(body.attributes)
  return { ...body, attributes }
}

function toClientUpdate(context: Context, live: LiveObject, body: Representation) {
  const next = { ...live.representation, ...omitNulls(body) }
  const { redirectUris, webOrigins, publicClient, bearerOnly } = next
  const replacement = toReplacement(live, body)
  const lacksSecret = publicClient !== true && (replacement.secret ?? live.representation.secret) === undefined
  const set = {
    ...replacement,
    // Keycloak: an update of a confidential client without a secret generates one.
    ...(lacksSecret && flatten(kinds.client, generateClientSecret(context, {}))),
    // Keycloak: an update of a client that is not confidential silently removes its authorization services.
    ...((publicClient === true || bearerOnly === true) && { authorizationServicesEnabled: null }),
  }
  // Keycloak: an update of a client without web origins derives them from its redirect URIs, unless the body declares some.
  if ((body.webOrigins ?? null) !== null || readTexts(webOrigins).length) return set
  return { ...set, webOrigins: toWebOrigins(readTexts(redirectUris)).sort() }
}

/**
 * Creates the function that renders clients for the caller. Who knows the secret of a client can act as its service account, so the
 * secret is masked for callers who may only view clients, or who have fewer admin permissions than the account. Keycloak: shows it
 * to all of them. One statement, or none.
 */
async function createToWire(context: Context, clients: readonly LiveObject[]): Promise<ToWire> {
  const access = await loadObjectAccess(context, { type: 'Clients', objects: clients })
  const withAccounts = clients.filter(
    (live) => live.representation.serviceAccountsEnabled === true && access('configure', live),
  )
  const stronger = await findMissingRolesForClients(
    context,
    withAccounts.map(({ id }) => id),
  )
  return (vault, live) => {
    const isHidden = !access('configure', live) || stronger.has(live.id)
    const representation = toWireRepresentation(vault, live)
    const result = isHidden ? maskRepresentation(kinds.client, representation) : representation
    if (result.publicClient === true) delete result.secret
    if (result.authorizationServicesEnabled !== true) delete result.authorizationServicesEnabled
    const isChangeable = !isAdminClient(context, live) && live.key[0] !== ADMIN_PERMISSIONS
    const [configure, manage] = [access('configure', live), access('manage', live)].map((has) => has && isChangeable)
    return { ...result, access: { view: true, configure: configure!, manage: manage! } }
  }
}

function toFilter(context: Context, query: Query): ObjectFilter {
  const { clientId, search } = query
  const page = parsePage(query)
  const attributes = parseAttributeQuery(String(query.q ?? ''))
  if (Object.keys(attributes).length)
    return { ...page, containing: { attributes: checkSearchable(context, attributes) } }
  if (!clientId) return page
  // Keycloak: a client id finds one client, whatever the page.
  return search === true ? { ...page, search: String(clientId) } : { keys: [[String(clientId)]] }
}

function checkSearchable(context: Context, attributes: Representation): Representation {
  const searchable = new Set([...SEARCHABLE, ...context.searchableClientAttributes])
  const refused = Object.keys(attributes).filter((name) => !searchable.has(name))
  if (refused.length)
    throw failure('invalid', `Attributes [${refused.join(', ')}] not allowed for search`, {
      form: { error: 'invalid_request' },
    })
  return attributes
}
