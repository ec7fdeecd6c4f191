// The identity for which the policies of a client are evaluated: a user with the claims that a token of a client would have.
import { randomUUID } from 'node:crypto'
import { type Json, type Representation, readObject, readTexts } from '../../kinds/json.ts'
import { toEpochSeconds } from '../../lib/epoch-seconds.ts'
import { loadRolesAndGroups } from '../../service/authorization/evaluation-data.ts'
import type { Context } from '../../service/context/context.ts'
import { failure } from '../../service/context/errors.ts'
import type { Service } from '../../service/context/service.ts'
import type { RoleName, RolesAndGroups, StoredUser } from '../../service/context/store-types.ts'
import { writers } from '../../service/kinds/index.ts'
import { findUserById, findUserByName } from '../../service/login/find-user.ts'
import type { LiveObject } from '../../service/objects/live-objects.ts'
import { toClaimAttributes, toRoleKey } from '../../service/policy-evaluation/attributes.ts'
import type { AccessIdentity } from '../../service/policy-evaluation/identity.ts'
import { readOidcRealm } from '../oidc-realm.ts'
import { addDefaultScopes } from '../tokens/scopes.ts'
import { buildTokenContent } from '../tokens/token-content.ts'
import { getAccessTokenLifespan } from '../tokens/token-response.ts'
import { viewClient } from '../views.ts'

/** For whom policies are evaluated. */
export interface RequestedIdentity {
  /** Id or username of the user. */
  readonly user: string | undefined
  /** Id of the client to which the token is issued. Default: the client with the policies. */
  readonly client: string | undefined
  /** Names of realm roles that the token has in addition. */
  readonly roles: readonly string[]
}

/** An identity with the claims of its access token. */
export interface EvaluatedIdentity {
  readonly identity: AccessIdentity
  readonly client: LiveObject
  readonly claims: Representation
}

/** Builds the identity of a user at a client, by a constant number of statements. @throws invalid if the user or client does not exist */
export async function buildEvaluatedIdentity(
  context: Context,
  { service, base, server }: { readonly service: Service; readonly base: string; readonly server: LiveObject },
  requested: RequestedIdentity,
): Promise<EvaluatedIdentity> {
  const user = await getUser(context, requested.user)
  const client = await getClient(context, server, requested.client)
  const rolesAndGroups = await loadRolesAndGroups(context, user.id)
  const { directRoles } = rolesAndGroups
  const token = await buildClaims(context, { service, base, client, user })
  // Keycloak: the token has the direct roles of the user, also those outside of its scope, unless roles are given.
  const hasDirectRoles = !requested.roles.length && requested.user === user.id
  const added = hasDirectRoles ? directRoles : requested.roles.map((name) => ({ name, client: null }))
  const claims = addRoles(token, added)
  return { identity: toAccessIdentity({ user, client, claims }, rolesAndGroups), client, claims }
}

/** Returns the identity of a user with the claims of a token of a client. The service account of a client with authorization services is the client. */
export function toAccessIdentity(
  { user, client, claims }: { readonly user: StoredUser; readonly client: LiveObject; readonly claims: Representation },
  { effectiveRoles, groups }: RolesAndGroups,
): AccessIdentity {
  const isClient = user.serviceAccountClient === client.id && viewClient(client).authorizationServicesEnabled === true
  return {
    ...(isClient ? { id: client.id } : { id: user.id, username: user.username }),
    claims: toClaimAttributes(claims),
    roles: new Set(effectiveRoles.map((role) => JSON.stringify(toRoleKey(role)))),
    groups,
  }
}

async function getUser(context: Context, idOrName: string | undefined): Promise<StoredUser> {
  const user =
    idOrName === undefined
      ? undefined
      : ((await findUserById(context, idOrName)) ?? (await findUserByName(context, idOrName, false)))
  if (!user) throw failure('invalid', `There is no user ${idOrName ?? ''}. Set userId to the id or username of a user.`)
  return user
}

async function getClient(context: Context, server: LiveObject, id = server.id): Promise<LiveObject> {
  if (id === server.id) return server
  const [client] = await writers.client.list(context, { ids: [id] })
  if (!client) throw failure('invalid', `There is no client with the id ${id}.`)
  return client
}

async function buildClaims(
  context: Context,
  {
    service,
    ...subject
  }: { readonly service: Service; readonly base: string; readonly client: LiveObject; readonly user: StoredUser },
): Promise<Representation> {
  const realm = await readOidcRealm(context)
  const scopes = addDefaultScopes(subject.client, [])
  const content = await buildTokenContent(context, {
    service,
    subject: { ...subject, realm, scopes, session: { id: randomUUID() } },
    targets: ['accessToken'],
  })
  const iat = toEpochSeconds(realm.now)
  const exp = iat + getAccessTokenLifespan(realm, subject.client, undefined)
  const claims = { exp, iat, jti: randomUUID(), typ: 'Bearer', ...content.claims('accessToken') }
  return JSON.parse(JSON.stringify(claims))
}

function addRoles(claims: Representation, roles: readonly RoleName[]): Representation {
  const access = { ...readObject(claims.resource_access) }
  for (const [client, ofClient] of Map.groupBy(roles, (role) => role.client ?? undefined)) {
    if (client !== undefined) access[client] = addNames(access[client], ofClient)
  }
  const ofRealm = roles.filter(({ client }) => client === null)
  return {
    ...claims,
    realm_access: addNames(claims.realm_access, ofRealm),
    ...(Object.keys(access).length && { resource_access: access }),
  }
}

function addNames(access: Json | undefined, roles: readonly RoleName[]): Representation {
  const names = new Set([...readTexts(readObject(access).roles), ...roles.map(({ name }) => name)])
  return names.size ? { roles: [...names] } : {}
}
