// Evaluation of client scopes: the mappers, roles and example tokens that a scope parameter gives. Keycloak: "Evaluate".

import { randomUUID } from 'node:crypto'
import { toEpochSeconds } from '../../lib/epoch-seconds.ts'
import { hasObjectPermission, requireObjectPermission } from '../../service/authorization/object-permissions.ts'
import type { Context } from '../../service/context/context.ts'
import { failure } from '../../service/context/errors.ts'
import type { Service } from '../../service/context/service.ts'
import type { MapperContainer, StoredMapper, StoredUser } from '../../service/context/store-types.ts'
import { writers } from '../../service/kinds/index.ts'
import { findUserById } from '../../service/login/find-user.ts'
import { listMapperContainers, listRolesInScope } from '../../service/login/token-content.ts'
import type { LiveObject } from '../../service/objects/live-objects.ts'
import type { ClaimTarget } from '../mappers/mapper.ts'
import { getIssuer, type OidcRealm, readOidcRealm } from '../oidc-realm.ts'
import { viewClient } from '../views.ts'
import { addDefaultScopes, findMapperContainer, listScopeNames, parseScope } from './scopes.ts'
import { buildTokenContent, type Claims } from './token-content.ts'
import { getAccessTokenLifespan } from './token-response.ts'

/** A protocol mapper, and the scope value that adds it; undefined for the client's own mappers. */
export interface ScopedMapper {
  readonly mapper: StoredMapper
  readonly container: string
  readonly scope: string | undefined
}

/** Returns the client with an id. Throws not_found, and forbidden unless the caller may view clients. */
async function getClient(context: Context, id: string): Promise<LiveObject> {
  const [client] = await writers.client.list(context, { ids: [id] })
  if (!client) throw failure('not_found', 'Could not find client')
  await requireObjectPermission(context, { type: 'Clients', scope: 'view', objects: [client] })
  return client
}

/** Returns the protocol mappers that a scope parameter gives to tokens of a client, given by id. */
export async function listEvaluatedMappers(context: Context, id: string, scope: string): Promise<ScopedMapper[]> {
  const client = await getClient(context, id)
  const containers = await listScopeContainers(context, client, scope)
  return containers.flatMap(({ scope, container }) =>
    container.mappers.map((mapper) => ({ mapper, container: container.id, scope })),
  )
}

/**
 * Returns the roles of a container that a scope parameter allows in tokens of a client; or those that it does not allow.
 * A container is the name of the realm, or the id of a client.
 */
export async function listEvaluatedRoles(
  context: Context,
  id: string,
  { scope, container, granted }: { readonly scope: string; readonly container: string; readonly granted: boolean },
): Promise<LiveObject[]> {
  const client = await getClient(context, id)
  const isRealm = container === context.realm.name
  const [roleClient] = isRealm ? [] : await writers.client.list(context, { ids: [container] })
  if (!isRealm && !roleClient) throw failure('not_found', 'Role Container not found')
  const roles = await writers.role.list(
    context,
    roleClient ? { parents: { kind: 'client', ids: [roleClient.id] } } : { topLevel: true },
  )
  if (viewClient(client).fullScopeAllowed === true) return granted ? roles : []
  const clientScopes = (await listScopeContainers(context, client, scope)).flatMap(({ scope, container }) =>
    scope === undefined ? [] : [container.id],
  )
  const inScope = new Set(await listRolesInScope(context, client.id, clientScopes))
  return roles.filter((role) => inScope.has(role.id) === granted)
}

/** The user, the scope parameter and the audience of an example token. */
export interface ExampleRequest {
  readonly client: string
  readonly user: string | undefined
  readonly scope: string
  /** Client ids; empty: no restriction. */
  readonly audience: readonly string[]
}

/** Returns the client, the user and the realm of an example. Throws not_found, and forbidden unless the caller may view both. */
export async function getExampleSubject(
  context: Context,
  request: Pick<ExampleRequest, 'client' | 'user'>,
): Promise<{ readonly client: LiveObject; readonly user: StoredUser; readonly realm: OidcRealm }> {
  const client = await getClient(context, request.client)
  if (request.user === undefined) throw failure('not_found', 'No userId provided')
  const user = await findUserById(context, request.user)
  if (!user) throw failure('not_found', 'No user found')
  const isVisible = await hasObjectPermission(context, { type: 'Users', scope: 'view', objects: [user] })
  if (!isVisible) throw failure('forbidden', 'You have no access to this user')
  return { client, user, realm: await readOidcRealm(context) }
}

/** Returns the claims of an example token for a client and a user, both given by id. */
export async function generateExample(
  context: Context,
  {
    service,
    base,
    target,
    ...request
  }: ExampleRequest & {
    readonly service: Service
    readonly base: string
    readonly target: Exclude<ClaimTarget, 'introspection' | 'response'>
  },
): Promise<Claims> {
  const { client, user, realm } = await getExampleSubject(context, request)
  const audienceClients = request.audience.length
    ? await writers.client.list(context, { keys: request.audience.map((name) => [name]) })
    : []
  const audience = audienceClients.length ? audienceClients.map(({ key }) => key[0]!) : undefined
  const scopes = addDefaultScopes(client, parseScope(request.scope))
  const subject = { base, realm, client, user, scopes, session: { id: randomUUID() }, audience }
  const content = await buildTokenContent(context, { service, subject, targets: [target] })
  const claims = content.claims(target)
  if (target === 'userInfo') return claims
  const now = toEpochSeconds(realm.now)
  return {
    exp: now + getAccessTokenLifespan(realm, client, undefined),
    iat: now,
    jti: randomUUID(),
    iss: getIssuer(base, realm),
    typ: target === 'idToken' ? 'ID' : 'Bearer',
    ...claims,
  }
}

/** Returns the client scopes of a scope parameter, the default client scopes included; the client itself is last. */
async function listScopeContainers(
  context: Context,
  client: LiveObject,
  scope: string,
): Promise<{ readonly scope: string | undefined; readonly container: MapperContainer }[]> {
  const scopes = addDefaultScopes(client, parseScope(scope))
  const containers = await listMapperContainers(context, {
    client: client.id,
    scopes: listScopeNames(scopes),
    protocol: String(viewClient(client).protocol),
  })
  const scoped = scopes.flatMap((scope) => {
    const container = findMapperContainer(containers, scope)
    return container ? [{ scope, container }] : []
  })
  return [...scoped, { scope: undefined, container: containers.at(-1)! }]
}
