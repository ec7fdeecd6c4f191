// The client scopes that are assigned to a client, or to a realm for its new clients: as default or as optional scopes.

import { SERVICE_ACCOUNT_SCOPE } from '../../../kinds/client-scope.ts'
import { kinds } from '../../../kinds/index.ts'
import { type Json, type Representation, readTexts } from '../../../kinds/json.ts'
import { requireObjectPermission } from '../../authorization/object-permissions.ts'
import { getDefaultClientScopes, selectNamesOfProtocol } from '../../clients/new-client-defaults.ts'
import type { Context, WriteContext } from '../../context/context.ts'
import { duplicateResource } from '../../context/errors.ts'
import { writers } from '../../kinds/index.ts'
import { type LiveObject, listObjects } from '../../objects/live-objects.ts'
import { omitNulls } from '../../objects/put-body.ts'
import type { ObjectUpdate } from '../../objects/writers.ts'
import { requirePermissions } from '../../permissions/require-permissions.ts'
import { getClient, refuseAdminClient } from '../common/client-lookup.ts'
import { getCurrentRealm } from '../common/current-realm.ts'
import { getObject } from '../common/resource.ts'

const CLIENT_FIELDS = { default: 'defaultClientScopes', optional: 'optionalClientScopes' } as const
const REALM_FIELDS = { default: 'defaultDefaultClientScopes', optional: 'defaultOptionalClientScopes' } as const

/** The two ways in which a client scope is assigned: `default` or `optional`. */
export type ScopeAssignment = keyof typeof CLIENT_FIELDS

/** The client scope to assign, and to what: ids of both. */
export interface ScopeToAssign {
  readonly client: string
  readonly scope: string
  readonly assignment: ScopeAssignment
}

/** Lists the client scopes of a client. */
export async function listScopesOfClient(
  context: Context,
  clientId: string,
  assignment: ScopeAssignment,
): Promise<Representation[]> {
  await requireObjectPermission(context, { type: 'Clients', scope: 'view', objects: [{ id: clientId }] })
  const { representation } = await getClient(context, clientId)
  const scopes = await listScopesByName(context, representation[CLIENT_FIELDS[assignment]])
  return scopes.map(({ id, key: [name] }) => ({ id, name: name! }))
}

/** Assigns a scope to a client. Keycloak: one that is assigned already stays, and one of another protocol is ignored. */
export async function assignScopeToClient(
  context: WriteContext,
  { client, scope, assignment }: ScopeToAssign,
): Promise<void> {
  await requireObjectPermission(context, { type: 'Clients', scope: 'manage', objects: [{ id: client }] })
  const live = await getClient(context, client)
  refuseAdminClient(context, live)
  const { key, representation } = await getScope(context, scope)
  if (hasScope(live, Object.values(CLIENT_FIELDS), key[0]!)) return
  if (representation.protocol !== live.representation.protocol) return
  await writers.client.update(context, [{ live, set: {}, relations: { [CLIENT_FIELDS[assignment]]: { add: [key] } } }])
}

/** Removes a scope from a client. Keycloak: in either assignment. */
export async function removeScopeFromClient(context: WriteContext, clientId: string, scope: string): Promise<void> {
  await requireObjectPermission(context, { type: 'Clients', scope: 'manage', objects: [{ id: clientId }] })
  const live = await getClient(context, clientId)
  refuseAdminClient(context, live)
  const { key } = await getScope(context, scope)
  const relations = Object.fromEntries(Object.values(CLIENT_FIELDS).map((field) => [field, { remove: [key] }]))
  await writers.client.update(context, [{ live, set: {}, relations }])
}

/** Lists the client scopes that new clients of the realm get. */
export async function listScopesOfRealm(context: Context, assignment: ScopeAssignment): Promise<Representation[]> {
  requirePermissions(context, 'view-clients')
  const { representation } = await getCurrentRealm(context)
  const scopes = await listScopesByName(context, representation[REALM_FIELDS[assignment]])
  return scopes.map(({ id, key: [name], representation: { protocol } }) => ({ id, name: name!, protocol: protocol! }))
}

/** Assigns a scope to the new clients of the realm. Throws conflict if it is assigned already, in either way. */
export async function assignScopeToRealm(
  context: WriteContext,
  assignment: ScopeAssignment,
  scope: string,
): Promise<void> {
  requirePermissions(context, 'manage-clients')
  const { key } = await getScope(context, scope)
  const live = await getCurrentRealm(context)
  if (hasScope(live, Object.values(REALM_FIELDS), key[0]!)) throw duplicateResource()
  await writers.realm.update(context, [{ live, set: {}, relations: { [REALM_FIELDS[assignment]]: { add: [key] } } }])
}

/** Removes a scope from those of new clients. Keycloak: in either assignment. */
export async function removeScopeFromRealm(context: WriteContext, scope: string): Promise<void> {
  requirePermissions(context, 'manage-clients')
  const { key } = await getScope(context, scope)
  const relations = Object.fromEntries(Object.values(REALM_FIELDS).map((field) => [field, { remove: [key] }]))
  await writers.realm.update(context, [{ live: await getCurrentRealm(context), set: {}, relations }])
}

function getScope(context: Context, id: string): Promise<LiveObject> {
  return getObject(context, 'clientScope', { id, notFound: 'Client scope not found' })
}

function listScopesByName(context: Context, names: Json | undefined): Promise<LiveObject[]> {
  return writers.clientScope.list(context, { keys: readTexts(names).map((name) => [name]) })
}

function hasScope(
  { representation }: Pick<LiveObject, 'representation'>,
  fields: readonly string[],
  name: string,
): boolean {
  return fields.some((field) => readTexts(representation[field]).includes(name))
}

/**
 * Returns the body of a new client with the client scopes that it gets. Keycloak: scopes that the realm does not have, or that
 * are of another protocol, are ignored; one in both lists is a default one. One statement, or none.
 */
export async function selectOwnScopes(context: Context, body: Representation): Promise<Representation> {
  const { protocol } = { ...kinds.client.defaults(body), ...body }
  const defaultNames = readTexts(body.defaultClientScopes)
  const optionalNames = readTexts(body.optionalClientScopes)
  const names = [...defaultNames, ...optionalNames]
  if (!names.length) return body
  const scopes = await listObjects(context, 'clientScope', { keys: names.map((name) => [name]) })
  const usable = new Set(scopes.flatMap(({ key, representation }) => (representation.protocol === protocol ? key : [])))
  return {
    ...body,
    defaultClientScopes: defaultNames.filter((name) => usable.has(name)),
    optionalClientScopes: optionalNames.filter((name) => usable.has(name) && !defaultNames.includes(name)),
  }
}

/** Returns the change that the body of an update makes to the client scopes. Three statements at most. */
export function updateAssignedScopes(
  context: Context,
  live: LiveObject,
  body: Representation,
): Promise<Pick<ObjectUpdate, 'relations'>> {
  const { protocol = live.representation.protocol } = omitNulls(body)
  return protocol === live.representation.protocol
    ? updateServiceAccountScope(context, live, body)
    : replaceScopesOfProtocol(context, { ...live.representation, ...omitNulls(body) }, live)
}

/**
 * Returns the change that the body of an update makes to the client scope of service accounts. Keycloak: the scope is removed
 * with the account, and added by each update that declares the account, even if the client has one already.
 */
async function updateServiceAccountScope(
  context: Context,
  { representation }: LiveObject,
  { serviceAccountsEnabled = null }: Representation,
): Promise<Pick<ObjectUpdate, 'relations'>> {
  const key = [SERVICE_ACCOUNT_SCOPE]
  if (representation.serviceAccountsEnabled !== true || serviceAccountsEnabled === null) return {}
  if (serviceAccountsEnabled === false)
    return { relations: { defaultClientScopes: { remove: [key] }, optionalClientScopes: { remove: [key] } } }
  if (hasScope({ representation }, Object.values(CLIENT_FIELDS), SERVICE_ACCOUNT_SCOPE)) return {}
  const scopes = await listObjects(context, 'clientScope', { keys: [key] })
  const names = selectNamesOfProtocol(scopes, representation.protocol)
  return names.length ? { relations: { defaultClientScopes: { add: [key] } } } : {}
}

/**
 * Returns the change of the client scopes of a client whose protocol changes. Keycloak: scopes of the former protocol have no effect,
 * and the client gets those that the realm assigns to new clients of the protocol.
 */
async function replaceScopesOfProtocol(
  context: Context,
  { protocol, serviceAccountsEnabled }: Representation,
  { representation }: LiveObject,
): Promise<Pick<ObjectUpdate, 'relations'>> {
  const [defaultNames, optionalNames] = Object.values(CLIENT_FIELDS).map((field) => readTexts(representation[field]))
  const assigned = await listScopesByName(context, [...defaultNames!, ...optionalNames!])
  const retained = new Set(selectNamesOfProtocol(assigned, protocol))
  const realm = await getDefaultClientScopes(context)
  const withAccount = serviceAccountsEnabled === true && realm.serviceAccount ? [realm.serviceAccount] : []
  const toChange = (names: readonly string[], added: readonly (typeof realm.default)[number][]) => ({
    add: selectNamesOfProtocol(added, protocol).flatMap((name) => (retained.has(name) ? [] : [[name]])),
    remove: names.flatMap((name) => (retained.has(name) ? [] : [[name]])),
  })
  return {
    relations: {
      defaultClientScopes: toChange(defaultNames!, [...realm.default, ...withAccount]),
      optionalClientScopes: toChange(
        optionalNames!,
        realm.optional.filter((scope) => !withAccount.includes(scope)),
      ),
    },
  }
}
