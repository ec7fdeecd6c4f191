// The grant that issues tokens with permissions: urn:ietf:params:oauth:grant-type:uma-ticket. User-Managed Access 2.0.
import { type Representation, readObject, readObjects, readText, readTexts } from '../../kinds/json.ts'
import { listContextAttributes } from '../../service/authorization/context-attributes.ts'
import {
  addTicketsOfOthers,
  loadResourceServerFor,
  loadRolesAndGroups,
} from '../../service/authorization/evaluation-data.ts'
import type { Context } from '../../service/context/context.ts'
import { SYSTEM } from '../../service/context/service.ts'
import { writers } from '../../service/kinds/index.ts'
import type { LiveObject } from '../../service/objects/live-objects.ts'
import { type AccessDecision, decideAccess } from '../../service/policy-evaluation/access-decisions.ts'
import { type AccessRequest, requestEverything } from '../../service/policy-evaluation/access-requests.ts'
import type { Attributes } from '../../service/policy-evaluation/attributes.ts'
import {
  addEarlierPermissions,
  type PermissionFormat,
  type RequestedPermission,
  resolvePermissions,
  UnknownPermission,
} from '../../service/policy-evaluation/permission-requests.ts'
import { requestTickets } from '../../service/protection/permission-tickets.ts'
import type { TokenRequest } from '../client-authentication/authenticate-client.ts'
import type { RealmEndpoint } from '../client-call.ts'
import { applyRequestPolicies } from '../client-policies/apply-request-policies.ts'
import { type EventDraft, withUserEvent } from '../event-draft.ts'
import { getEnabledRealm, getTokenUrl, requireHttps } from '../oidc-realm.ts'
import { confirmSender } from '../sender-constraints/confirmation.ts'
import { issueGrantedTokens } from '../tokens/token-response.ts'
import { isActiveToken, verifyTokenStatus } from '../tokens/tokens.ts'
import { viewClient } from '../views.ts'
import { toAccessIdentity } from './evaluated-identity.ts'
import { toGrantedPermissions } from './granted-permissions.ts'
import {
  createInvalidError,
  type PermissionResponse,
  parsePermissionFormat,
  parsePermissionLimit,
  parsePermissionResponse,
  parsePermissions,
  parsePushedClaims,
} from './permission-parameters.ts'
import { type PermissionTicketContent, readPermissionTicket } from './permission-ticket-token.ts'
import {
  authenticateCaller,
  findRequestingParty,
  type PermissionCall,
  type RequestingParty,
  toGrant,
} from './requesting-party.ts'

/** The grant type. */
export const PERMISSION_GRANT = 'urn:ietf:params:oauth:grant-type:uma-ticket'

/** Returns the response to a request for permissions: a token with them, the permissions, or the decision. Throws OAuthError. */
export async function grantPermissions(endpoint: RealmEndpoint, request: TokenRequest): Promise<object> {
  const { service, base, realmName } = endpoint
  const realm = await getEnabledRealm(service, realmName)
  requireHttps(realm, request)
  const details = {
    grant_type: PERMISSION_GRANT,
    auth_method: 'oauth_credentials',
    audience: request.form.audience,
    permission: request.permissions?.join('|') || undefined,
  }
  const event: EventDraft = { type: 'PERMISSION_TOKEN', address: request.address, details }
  return withUserEvent({ service, realm, event }, () => decide({ service, base, realm, request, event }))
}

async function decide(call: PermissionCall): Promise<object> {
  const { service, realm, request } = call
  const caller = await authenticateCaller(call)
  const callingClient = await applyPolicies(call, caller.client)
  if (request.form.claim_token !== undefined && viewClient(caller.client).publicClient === true)
    throw createInvalidError('invalid_grant', 'Public clients are not allowed to send claims', { status: 403 })
  const ticket = await findTicket(call)
  const response = parsePermissionResponse(request)
  const pushed = parsePushedClaims(request)
  const earlier = await findEarlierToken(call)
  const requester = await findRequestingParty(call, caller, pushed)
  const isCaller = requester.client.id === caller.client.id
  const party = { ...requester, client: isCaller ? callingClient : await applyPolicies(call, requester.client) }
  const isUpgraded = earlier !== undefined && earlier.user === party.user.id
  const { server, granted } = await service.read(SYSTEM, realm, (context) =>
    evaluate(context, call, {
      party,
      ticket,
      claims: new Map([...Object.entries(ticket?.claims ?? {}), ...pushed.claims]),
      earlier: isUpgraded ? earlier.permissions : undefined,
    }),
  )
  if (!granted.length) return deny(call, { server, party, ticket })
  return toResponse(call, party, { server, granted, isUpgraded, response })
}

/** Throws OAuthError. With a ticket, first requests access from the owners of the resources, unless the request forbids it. */
async function deny(
  { service, realm, request }: PermissionCall,
  { server, party, ticket }: Pick<Grants, 'server'> & Pick<PermissionEvaluation, 'party' | 'ticket'>,
): Promise<never> {
  const createError = (reason: string) =>
    createInvalidError('access_denied', reason, { status: 403, event: 'access_denied' })
  const { submit_request: submits = 'true' } = request.form
  if (!ticket || submits.toLowerCase() !== 'true') throw createError('not_authorized')
  const { id, username, serviceAccountClient } = party.user
  const resources = ticket.permissions.flatMap(({ rsid: resource, scopes = [] }) =>
    resource === undefined ? [] : [{ resource, scopes }],
  )
  if (resources.length && serviceAccountClient !== server.id) {
    const client = party.client.key[0]!
    const { address } = request
    const identity = { realm: realm.name, userId: id, user: username, client }
    const actor = { kind: 'user', ...identity, ...(address !== undefined && { address }) } as const
    const caller = { actor, user: { realm: realm.name, id } }
    await service.write(caller, realm.name, (context) => requestTickets(context, server, { requester: id, resources }))
  }
  throw createError('request_submitted')
}

/** Returns the ticket of a request; undefined if it has none. Throws OAuthError. */
async function findTicket({ service, realm, request }: PermissionCall): Promise<PermissionTicketContent | undefined> {
  const { ticket } = request.form
  if (ticket === undefined) return undefined
  const content = await readPermissionTicket(service, realm, ticket)
  if (!content)
    throw createInvalidError('invalid_ticket', 'Ticket verification failed', {
      status: 403,
      event: 'invalid_permission_ticket',
    })
  return content
}

/** Returns the client with the attributes that client policies require. Throws OAuthError where one refuses the request. */
function applyPolicies({ service, base, realm, request }: PermissionCall, client: LiveObject): Promise<LiveObject> {
  return applyRequestPolicies({ service, base, realm }, { name: 'token', client, parameters: request.form })
}

/** Permissions of an earlier token. */
type EarlierPermissions = Parameters<typeof addEarlierPermissions>[2]

/** Returns the permissions of the token that a request extends, with the user whose they are. Throws OAuthError. */
async function findEarlierToken({
  service,
  realm,
  request,
}: PermissionCall): Promise<{ readonly user: string; readonly permissions: EarlierPermissions } | undefined> {
  const { rpt } = request.form
  if (rpt === undefined) return undefined
  const token = await verifyTokenStatus(service, rpt, { types: ['Bearer'] })
  if (!isActiveToken(token) || token.realm.number !== realm.number)
    throw createInvalidError('invalid_rpt', 'RPT signature is invalid', { status: 403 })
  const claims: Representation = JSON.parse(JSON.stringify(token.claims))
  const permissions = readObjects(readObject(claims.authorization).permissions).flatMap(({ rsid, scopes }) => {
    const resource = readText(rsid)
    return resource === undefined ? [] : [{ resource, scopes: readTexts(scopes) }]
  })
  return { user: token.user.id, permissions }
}

/** The subject of an evaluation: the party, its ticket, the claims that an application sends, and the permissions of an earlier token. */
interface PermissionEvaluation {
  readonly party: RequestingParty
  readonly ticket: PermissionTicketContent | undefined
  readonly claims: Attributes
  readonly earlier: EarlierPermissions | undefined
}

/** The permissions that are granted. */
interface Grants {
  /** The client with the resources. */
  readonly server: LiveObject
  readonly granted: readonly Representation[]
}

/** Evaluates the requested permissions. The number of statements does not depend on what is stored or requested. */
async function evaluate(
  context: Context,
  { request }: PermissionCall,
  { party, ticket, claims, earlier }: PermissionEvaluation,
): Promise<Grants> {
  const server = await getServer(context, ticket?.azp ?? request.form.audience)
  const [settings, rolesAndGroups] = await Promise.all([
    loadResourceServerFor(context, server, party.user.id),
    loadRolesAndGroups(context, party.user.id),
  ])
  const identity = toAccessIdentity(party, rolesAndGroups)
  const permissions = ticket?.permissions.map(toRequestedPermission) ?? parsePermissions(request)
  const limit = parsePermissionLimit(request)
  const format = ticket ? ID_FORMAT : parsePermissionFormat(request)
  const requests = permissions
    ? resolveRequests(() => resolvePermissions(settings, identity, { permissions, format, limit }))
    : requestEverything(settings, identity)
  const actor = { ...context.actor, ...(request.address !== undefined && { address: request.address }) }
  const attributes = listContextAttributes({ ...context, actor }, party.client.key[0]!)
  const allRequests = earlier ? addEarlierPermissions(settings, requests, earlier) : requests
  const decisions = decideAccess(
    await addTicketsOfOthers(context, settings, { user: party.user.id, requests: allRequests }),
    { identity, attributes: new Map([...claims, ...attributes]) },
    allRequests,
  )
  // A token is extended by all of the requested permissions or by none.
  const isComplete = !earlier || !permissions || requests.every((request) => isGranted(request, decisions))
  const granted = isComplete ? toGrantedPermissions(decisions, claims) : []
  return { server, granted: permissions ? granted : granted.slice(0, limit) }
}

const ID_FORMAT: PermissionFormat = { isUri: false, matchesPatterns: false }

const toRequestedPermission = ({
  rsid: resource,
  scopes = [],
}: PermissionTicketContent['permissions'][number]): RequestedPermission => ({ resource, scopes })

/** Whether a decision permits the requested resource and, if the request has scopes, at least one of them. */
const isGranted = ({ resource, scopes }: AccessRequest, decisions: readonly AccessDecision[]): boolean =>
  decisions.some(
    (decision) =>
      decision.effect === 'PERMIT' &&
      decision.request.resource === resource &&
      (!scopes.length || decision.scopes.some((scope) => scopes.includes(scope))),
  )

/** Returns the client with the client id, whose resources are requested. Throws OAuthError. */
async function getServer(context: Context, audience: string | undefined): Promise<LiveObject> {
  if (audience === undefined) throw createInvalidError('invalid_request', 'You must provide the issuedFor')
  const [client] = await writers.client.list(context, { keys: [[audience]] })
  if (!client) throw createInvalidError('invalid_request', `Unknown resource server id: [${audience}]`)
  if (viewClient(client).authorizationServicesEnabled !== true)
    throw createInvalidError('invalid_request', 'Client does not support permissions')
  return client
}

/** Throws OAuthError where a requested resource or scope does not exist. */
function resolveRequests<T>(resolve: () => T): T {
  try {
    return resolve()
  } catch (error) {
    if (!(error instanceof UnknownPermission)) throw error
    throw createInvalidError(`invalid_${error.kind}`, error.message)
  }
}

async function toResponse(
  call: PermissionCall,
  party: RequestingParty,
  {
    server,
    granted,
    isUpgraded,
    response: { mode, includesNames },
  }: Grants & { readonly isUpgraded: boolean; readonly response: PermissionResponse },
): Promise<object> {
  if (mode === 'decision') return { result: true }
  const permissions = includesNames ? granted : granted.map(({ rsname: _, ...permission }) => permission)
  if (mode === 'permissions') return permissions
  const { service, realm, event, request } = call
  const { client } = party
  const confirmation = await confirmSender({ service, realm }, client, {
    ...{ method: 'POST', url: getTokenUrl(call.base, realm), dpop: request.dpop },
    certificate: request.certificate,
  })
  const grant = await service.read(SYSTEM, realm, (context) => toGrant(context, realm, party))
  const { response, accessTokenId, refreshToken } = await issueGrantedTokens(
    call,
    { realm, client, confirmation },
    { ...grant, permissions: { audience: server.key[0]!, authorization: { permissions } } },
  )
  Object.assign(event.details, {
    token_id: accessTokenId,
    scope: String(response.scope),
    ...(refreshToken && { refresh_token_type: refreshToken.type, refresh_token_id: refreshToken.id }),
  })
  const { scope: _, session_state: __, ...tokens } = response
  return { upgraded: isUpgraded, ...tokens }
}
