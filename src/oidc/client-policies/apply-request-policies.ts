// Applies client policies to requests at endpoints.

import { decodeJwt, errors } from 'jose'
import { effects } from '../../kinds/effects/index.ts'
import { readTextMap } from '../../kinds/json.ts'
import { loadClientRoles } from '../../service/client-policies/apply-client-policies.ts'
import { type AppliedExecutor, hasConditions, listExecutors } from '../../service/client-policies/list-executors.ts'
import { roleConditions } from '../../service/client-policies/policy-conditions.ts'
import type { PolicyEventName, PolicyRequest } from '../../service/client-policies/policy-event.ts'
import type { Context } from '../../service/context/context.ts'
import { type Service, SYSTEM } from '../../service/context/service.ts'
import type { LiveObject } from '../../service/objects/live-objects.ts'
import { findCodeScope } from '../grants/authorization-code.ts'
import { OAuthError } from '../oauth-error.ts'
import { getIssuer, type OidcRealm } from '../oidc-realm.ts'
import { type EndpointRequest, type RequestRefusal, readAcrValues, requestExecutors } from './request-executors.ts'

/** A request of a client to an endpoint. */
export interface PolicedRequest {
  readonly name: PolicyEventName
  readonly client: LiveObject
  readonly parameters: Readonly<Record<string, string | undefined>>
  readonly origin?: EndpointRequest['origin']
  readonly object?: EndpointRequest['object']
}

/** The endpoint of a request. */
interface PolicedEndpoint {
  readonly service: Service
  /** The transaction of the caller, if it has one. */
  readonly context?: Context
  readonly base: string
  readonly realm: OidcRealm
}

/**
 * Returns the client of a request with the attributes that client policies require of it. Throws OAuthError where a policy refuses the request. One
 * statement, or none.
 */
export async function applyRequestPolicies(
  endpoint: PolicedEndpoint,
  { name, client, parameters, origin, object }: PolicedRequest,
): Promise<LiveObject> {
  const { base, realm } = endpoint
  if (!realm.hasClientPolicies) return client
  const { representation } = client
  const executors = listExecutors(realm.settings, {
    name,
    client: representation,
    clientRoles: await loadRoleNames(endpoint, client),
    request: await toPolicyRequest(endpoint, { name, parameters }),
  })
  const issuer = getIssuer(base, realm)
  const request: EndpointRequest = { name, client: representation, parameters, issuer, origin, object }
  for (const applied of executors) {
    const refusal = findRefusal(applied, request)
    if (refusal) throw toError(applied, refusal)
  }
  const required = executors.map(({ executor }) => findExecutor(executor)?.attributes)
  if (!required.some((attributes) => attributes !== undefined)) return client
  const attributes = Object.assign({}, readTextMap(representation.attributes), ...required)
  return { ...client, representation: { ...representation, attributes } }
}

const findExecutor = (id: string) => (Object.hasOwn(requestExecutors, id) ? requestExecutors[id] : undefined)

function findRefusal(applied: AppliedExecutor, request: EndpointRequest): RequestRefusal | undefined {
  const { executor: id, configuration } = applied
  if (guardedEvents.has(request.name) && isUnsupported(id))
    return {
      error: 'unauthorized_client',
      description: `A client policy requires ${id}, which this server does not support`,
    }
  const executor = findExecutor(id)
  const isChecked = executor?.events?.includes(request.name) ?? true
  return isChecked ? executor?.check?.(configuration, request) : undefined
}

/** The events that an executor may guard of which Regent does not know what it does. */
const guardedEvents: ReadonlySet<PolicyEventName> = new Set([
  'authorization',
  'pushed authorization',
  'token',
  'user info',
])

const executorEffects = effects.realm['clientProfiles.executors.executor']

function isUnsupported(executor: string): boolean {
  if (executorEffects?.effect !== 'provider') return false
  const { providers, unlisted } = executorEffects
  const { effect } = Object.hasOwn(providers, executor) ? providers[executor]! : unlisted
  return effect === 'refused'
}

function toError({ policy, profile, executor }: AppliedExecutor, { error, description }: RequestRefusal): OAuthError {
  const reason = `client policy "${policy}", profile "${profile}", executor ${executor}: ${description}`
  return new OAuthError(400, error, { description, event: { error, reason } })
}

/** Returns the parts of a request that conditions are about. One statement, or none. */
async function toPolicyRequest(
  { service, realm, context }: PolicedEndpoint,
  { name, parameters }: Omit<PolicedRequest, 'client'>,
): Promise<PolicyRequest> {
  const hasScopes = hasConditions(realm.settings, SCOPE_CONDITION)
  const read = <T>(work: (reader: Context) => Promise<T>) =>
    context ? work(context) : service.read(SYSTEM, realm, work)
  const isAuthorization = name === 'authorization' || name === 'pushed authorization'
  const grantType = isAuthorization ? 'authorization_code' : name === 'token' ? parameters.grant_type : undefined
  return {
    grantType,
    scopes: hasScopes ? await findRequestedScopes({ name, parameters }, read) : [],
    ...(isAuthorization && { acrValues: readAcrValues(parameters) }),
  }
}

const SCOPE_CONDITION = new Set(['client-scopes'])

/** Returns the names of the client's roles if a policy depends on them. One statement, or none. */
async function loadRoleNames(
  { service, realm, context }: PolicedEndpoint,
  client: LiveObject,
): Promise<readonly string[]> {
  if (!hasConditions(realm.settings, roleConditions)) return []
  const load = (reader: Context) => loadClientRoles(reader, realm.settings, [client])
  const roles = await (context ? load(context) : service.read(SYSTEM, realm, load))
  return roles.get(client.id) ?? []
}

/** Returns the scope values of a request. Those of a token are not verified: the grant does so. `read`: runs a read in the realm. */
async function findRequestedScopes(
  { name, parameters }: Omit<PolicedRequest, 'client'>,
  read: <T>(work: (context: Context) => Promise<T>) => Promise<T>,
): Promise<readonly string[]> {
  const { grant_type: grantType, code, scope, refresh_token: token } = parameters
  if (name === 'token' && grantType === 'authorization_code' && code !== undefined)
    return splitScope(await read((context) => findCodeScope(context, code)))
  if (name === 'token' && grantType === 'refresh_token' && token !== undefined) return splitScope(readTokenScope(token))
  return splitScope(scope)
}

const splitScope = (scope = ''): readonly string[] => scope.split(' ').filter(Boolean)

function readTokenScope(token: string): string | undefined {
  try {
    const { scope } = decodeJwt(token)
    return typeof scope === 'string' ? scope : undefined
  } catch (error) {
    if (error instanceof errors.JOSEError || error instanceof TypeError) return undefined
    throw error
  }
}
