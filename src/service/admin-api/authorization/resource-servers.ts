// The REST operations on resource servers: clients with authorization services, and their settings.
import { ADMIN_PERMISSIONS, authorizationSchema, isAdminPermissions } from '../../../kinds/admin-permissions.ts'
import { defaultAuthorizationSettings } from '../../../kinds/client.ts'
import { kinds } from '../../../kinds/index.ts'
import { isList, isObject, type Json, type Representation, readObject } from '../../../kinds/json.ts'
import type { KindName } from '../../../kinds/kind.ts'
import { requireObjectPermission } from '../../authorization/object-permissions.ts'
import type { Context, WriteContext } from '../../context/context.ts'
import { duplicateResource, failure } from '../../context/errors.ts'
import { describeAdminEvent } from '../../journal/admin-events.ts'
import { writers } from '../../kinds/index.ts'
import { toWireRepresentation } from '../../kinds/wire-representation.ts'
import { findLiveRealm, type LiveObject } from '../../objects/live-objects.ts'
import { omitNulls } from '../../objects/put-body.ts'
import { isPermitted, requirePermissions } from '../../permissions/require-permissions.ts'
import { getClient } from '../common/client-lookup.ts'

/** The message of an error about a client without authorization services, or about an object that a resource server does not have. */
export const NOT_FOUND = 'HTTP 404 Not Found'

/** The ids in the URL of a policy or resource: its own, and that of its client. */
export interface ServerObjectAddress {
  readonly client: string
  readonly id: string
}

/** A permission for authorization services. */
type AuthorizationPermission = 'view-authorization' | 'manage-authorization'

/**
 * Returns the resource server with that client id. Keycloak: in a realm with admin permissions of version 2, a caller who may view or
 * manage a client may do so with its authorization services too. Those of the admin permissions themselves are for callers who may view or manage the realm.
 *
 * @throws forbidden, or not_found if the client has no authorization services
 */
export async function getResourceServer(
  context: Context,
  id: string,
  permission: AuthorizationPermission,
): Promise<LiveObject> {
  const purpose = permission === 'view-authorization' ? 'view' : 'manage'
  const hasRole = isPermitted(context, permission)
  if (!hasRole && (await findLiveRealm(context))?.representation.adminPermissionsEnabled !== true)
    requirePermissions(context, permission)
  const server = await getAnyResourceServer(context, id)
  if (isAdminPermissions(server.representation)) requirePermissions(context, `${purpose}-realm`)
  else if (!hasRole) await requireObjectPermission(context, { type: 'Clients', scope: purpose, objects: [server] })
  return server
}

/** Returns the resource server without a permission check. Throws not_found if the client has no authorization services. */
export async function getAnyResourceServer(context: Context, id: string): Promise<LiveObject> {
  const client = await getClient(context, id)
  if (client.representation.authorizationServicesEnabled !== true) throw failure('not_found', NOT_FOUND)
  return client
}

/**
 * Returns the resource server if the caller may manage its settings, resources and scopes.
 *
 * @throws not_found as `getResourceServer` does; invalid for the client of admin permissions, of which only policies can be managed.
 */
export async function getConfigurableResourceServer(context: Context, id: string): Promise<LiveObject> {
  const server = await getResourceServer(context, id, 'manage-authorization')
  refuseAdminPermissionsClient(server)
  return server
}

/** Throws invalid for the client of admin permissions. Keycloak: the response has no reason. */
export function refuseAdminPermissionsClient({ representation }: LiveObject): void {
  if (!isAdminPermissions(representation)) return
  const reason = `the settings, resources and scopes of client ${ADMIN_PERMISSIONS} are built in`
  throw failure('invalid', 'unknown_error', { form: 'error', reason })
}

/** Returns the settings of a resource server. Keycloak: ResourceServerRepresentation, with empty lists of objects. */
export function toServerRepresentation({ id, key, representation }: LiveObject): Representation {
  return {
    id,
    clientId: id,
    name: key[0]!,
    ...defaultAuthorizationSettings,
    ...readObject(representation.authorizationSettings),
    resources: [],
    policies: [],
    scopes: [],
    ...(key[0] === ADMIN_PERMISSIONS && { authorizationSchema }),
  }
}

/** Returns the settings of a resource server. */
export async function getServerSettings(context: Context, id: string): Promise<Representation> {
  return toServerRepresentation(await getResourceServer(context, id, 'view-authorization'))
}

/** Replaces the settings of a resource server; those that the body does not declare get their defaults. */
export async function replaceServerSettings(context: WriteContext, id: string, body: Representation): Promise<void> {
  const live = await getConfigurableResourceServer(context, id)
  const set = Object.entries(defaultAuthorizationSettings).map(([name, defaultValue]) => [
    `authorizationSettings.${name}`,
    body[name] ?? defaultValue,
  ])
  const [updated] = await writers.client.update(context, [{ live, set: Object.fromEntries(set) }])
  describeAdminEvent(context, { representation: toServerRepresentation(updated!) })
}

/**
 * Completes an import of settings, so that it replaces the objects that it names: fields that it does not declare are null, or have their
 * defaults. Keycloak: attributes of resources are kept if none are declared, and so are relations of policies. Two statements.
 */
export async function completeImport(
  context: Context,
  server: LiveObject,
  { scopes, resources, policies, ...settings }: Representation,
): Promise<Representation> {
  const [liveResources, livePolicies] = await Promise.all([
    listServerObjects(context, server, { kind: 'authorizationResource' }),
    listServerObjects(context, server, { kind: 'authorizationPolicy' }),
  ])
  const findLive = (live: readonly LiveObject[], name: Json | undefined) =>
    live.find(({ key }) => key.at(-1) === name)?.representation
  return {
    ...defaultAuthorizationSettings,
    ...omitNulls(settings),
    ...completeList('scopes', scopes, () => ({ displayName: null, iconUri: null })),
    ...completeList('resources', resources, ({ name, attributes = null }) => ({
      ...{ type: null, displayName: null, icon_uri: null, uris: [], ownerManagedAccess: false, scopes: [] },
      ...(attributes !== null && {
        attributes: completeMap(readObject(findLive(liveResources, name)?.attributes), attributes),
      }),
    })),
    ...completeList('policies', policies, ({ name, config = {} }) => ({
      ...{ description: null, logic: 'POSITIVE', decisionStrategy: 'UNANIMOUS' },
      config: completeMap(readObject(findLive(livePolicies, name)?.config), config),
    })),
  }
}

/** Returns the list with completed objects; no list if none is declared. */
function completeList(
  field: string,
  list: Json | undefined,
  complete: (object: Representation) => Representation,
): Representation {
  if (!isList(list)) return {}
  const completeObject = (object: Representation) => {
    const { attributes, config, ...fields } = complete(object)
    const maps = { ...(attributes !== undefined && { attributes }), ...(config !== undefined && { config }) }
    return { ...fields, ...omitNulls(object), ...maps }
  }
  return { [field]: list.map((element) => (isObject(element) ? completeObject(element) : element)) }
}

/** Returns the declared map, with null for the other keys of the live one. */
function completeMap(live: Representation, declared: Json): Representation {
  return { ...Object.fromEntries(Object.keys(live).map((key) => [key, null])), ...readObject(declared) }
}

/** Returns the settings, resources, scopes and policies of a resource server as a document declares them: without ids. */
export async function exportServer(context: Context, id: string): Promise<Representation> {
  const server = await getConfigurableResourceServer(context, id)
  const content: Representation = {
    authorizationSettings: {
      ...defaultAuthorizationSettings,
      ...readObject(server.representation.authorizationSettings),
    },
  }
  for (const [field, kind] of Object.entries(kinds.client.children)) {
    if (kinds[kind].isSeparate)
      content[field] = (await listServerObjects(context, server, { kind })).map((live) => toDocument(context, live))
  }
  return content
}

function toDocument(context: Context, live: LiveObject): Representation {
  const { [kinds[live.kind].idField]: _, ...rest } = toWireRepresentation(context.vault, live)
  return rest
}

/** Lists the objects of a kind of a resource server, by name; those that have the search text in their name. */
export function listServerObjects(
  context: Context,
  { id }: Pick<LiveObject, 'id'>,
  { kind, search = '' }: { readonly kind: KindName; readonly search?: string },
): Promise<LiveObject[]> {
  return writers[kind].list(context, { parents: { kind: 'client', ids: [id] }, ...(search && { search }) })
}

/** Returns the object of a resource server with that name, if there is one. */
export async function findByName(
  context: Context,
  { key }: LiveObject,
  { kind, name }: { readonly kind: KindName; readonly name: string },
): Promise<LiveObject | undefined> {
  return (await writers[kind].list(context, { keys: [['client', ...key, name]] }))[0]
}

/** Returns a page of a list. Keycloak: it has 100 elements by default. */
export function toPage<T>(all: readonly T[], { first, max }: Readonly<Record<string, unknown>>): T[] {
  const start = typeof first === 'number' && first >= 0 ? first : 0
  return all.slice(start, start + (typeof max === 'number' && max >= 0 ? max : 100))
}

/** Returns the name in a body. Throws conflict if there is none. Keycloak: the error is that of its database. */
export function requireName({ name }: Representation): string {
  if (typeof name !== 'string' || name === '') throw duplicateResource()
  return name
}
