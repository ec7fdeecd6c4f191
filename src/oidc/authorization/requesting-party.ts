// The user or client for whom permissions are requested: that of an access token, or the service account of a client.
import type { Representation } from '../../kinds/json.ts'
import type { Context } from '../../service/context/context.ts'
import { type Service, SYSTEM } from '../../service/context/service.ts'
import { findActiveSession } from '../../service/login/sessions.ts'
import type { LiveObject } from '../../service/objects/live-objects.ts'
import { authenticateClient, type TokenRequest } from '../client-authentication/authenticate-client.ts'
import type { EventDraft } from '../event-draft.ts'
import { findServiceAccount, getServiceAccountNotes } from '../grants/client-credentials.ts'
import type { GrantResult } from '../grants/grant.ts'
import { hasLightweightAccessTokens } from '../mappers/active-mappers.ts'
import type { TokenSubject } from '../mappers/mapper.ts'
import { OAuthError } from '../oauth-error.ts'
import type { OidcRealm } from '../oidc-realm.ts'
import { addDefaultScopes } from '../tokens/scopes.ts'
import { buildTokenContent } from '../tokens/token-content.ts'
import { getTokenSubject } from '../tokens/token-subject.ts'
import { type ActiveToken, isActiveToken, type TokenType, verifyTokenStatus } from '../tokens/tokens.ts'
import { viewClient } from '../views.ts'
import { checkOrigin } from '../web-origins.ts'
import { createInvalidError, type PushedClaims } from './permission-parameters.ts'

/** The user or client that requests permissions. */
export interface RequestingParty {
  /** The client to which tokens are issued. */
  readonly client: LiveObject
  readonly user: TokenSubject['user']
  /** The claims of the access token. */
  readonly claims: Representation
  /** The token; absent for a client that has authenticated. */
  readonly token?: ActiveToken
  readonly sessionNotes?: GrantResult['sessionNotes']
}

/** A request for permissions in a realm. */
export interface PermissionCall {
  readonly service: Service
  readonly base: string
  readonly realm: OidcRealm
  readonly request: TokenRequest
  readonly event: EventDraft
}

/** Authenticates the caller of a request by its bearer token, or as a client. Returns the party of that token. Throws OAuthError. */
export async function authenticateCaller(
  call: PermissionCall,
): Promise<RequestingParty | { readonly client: LiveObject }> {
  const { service, base, realm, request, event } = call
  const [isBearer, bearer = ''] = /^Bearer +(.*)$/i.exec(request.authorization ?? '') ?? []
  if (isBearer === undefined) {
    const client = await authenticateClient({ service, base, realm }, request, event)
    checkOrigin(client.representation, base, request.origin)
    return { client }
  }
  const party = await findParty(toLookup(call), bearer, ['Bearer'])
  if (!party) throw createInvalidError('invalid_grant', 'Invalid bearer token', { event: 'invalid_token' })
  event.client = party.client.key[0]!
  event.user = party.user.id
  checkOrigin(party.client.representation, base, request.origin)
  return party
}

/** Returns the party for whom the authenticated caller requests permissions. Throws OAuthError. */
export async function findRequestingParty(
  call: PermissionCall,
  caller: RequestingParty | { readonly client: LiveObject },
  { token: pushedToken }: PushedClaims,
): Promise<RequestingParty> {
  const { event, request } = call
  const { subject_token: subject } = request.form
  const party = await findCallersParty(call, caller, subject)
  event.user = party.user.id
  return pushedToken === undefined ? party : findPushedParty(call, party, pushedToken)
}

async function findCallersParty(
  call: PermissionCall,
  caller: RequestingParty | { readonly client: LiveObject },
  subject: string | undefined,
): Promise<RequestingParty> {
  if ('user' in caller) return caller
  if (subject === undefined) return buildClientParty(call, caller.client)
  const party = await findParty(toLookup(call), subject, ['Bearer'])
  if (!party) throw createInvalidError('unauthorized_client', 'Invalid identity', { event: 'invalid_token' })
  return party
}

/** Keycloak: an ID token of the same client identifies the user. */
async function findPushedParty(
  call: PermissionCall,
  { client }: RequestingParty,
  token: string,
): Promise<RequestingParty> {
  const party = await findParty(toLookup(call), token, ['ID', 'Bearer'])
  if (!party) throw createInvalidError('unauthorized_client', 'Invalid signature', { event: 'invalid_token' })
  if (party.client.id !== client.id)
    throw createInvalidError('invalid_claim_token', 'Token issued to a different client')
  return party
}

const toLookup = ({ service, realm, request }: PermissionCall) => ({ service, realm, address: request.address })

/** Returns the party of a token of the realm; undefined if it is not active. `address`: the network address of the caller. */
export async function findParty(
  { service, realm, address }: Pick<PermissionCall, 'service' | 'realm'> & { readonly address?: string | undefined },
  text: string,
  types: readonly TokenType[],
): Promise<RequestingParty | undefined> {
  const token = await verifyTokenStatus(service, text, { types })
  if (!isActiveToken(token) || token.realm.number !== realm.number) return undefined
  return service.read(SYSTEM, realm, async (context) => {
    const subject = await getTokenSubject(context, realm, token)
    const { client, user } = subject
    if (viewClient(client).enabled !== true) return undefined
    const isComplete = token.claims.typ === 'Bearer' && !hasLightweightAccessTokens(client)
    const content = isComplete
      ? undefined
      : await buildTokenContent(context, { service, subject, targets: ['introspection'] })
    const claims = toRepresentation(content?.claims('introspection', token.claims) ?? token.claims)
    const isAccount = token.issuedTo.session === undefined && user.serviceAccountClient === client.id
    const sessionNotes = isAccount ? getServiceAccountNotes(client, address) : undefined
    return { client, user, claims, token, ...(sessionNotes && { sessionNotes }) }
  })
}

const toRepresentation = (claims: Readonly<Record<string, unknown>>): Representation =>
  JSON.parse(JSON.stringify(claims))

/** Returns the service account of a client, with the claims that its access token would have. Throws OAuthError. */
async function buildClientParty(call: PermissionCall, client: LiveObject): Promise<RequestingParty> {
  const { service, base, realm, request, event } = call
  const form = { ...request.form, scope: '' }
  const granted = await findServiceAccount({
    service,
    base,
    realm,
    client,
    form,
    event,
    address: request.address,
  })
  const { user, scopes, sessionNotes } = granted
  return service.read(SYSTEM, realm, async (context) => {
    const subject = { base, realm, client, user, scopes, notes: sessionNotes }
    const content = await buildTokenContent(context, { service, subject, targets: ['accessToken'] })
    return {
      client,
      user,
      claims: toRepresentation(content.claims('accessToken')),
      ...(sessionNotes && { sessionNotes }),
    }
  })
}

/** Returns the grant for which a token of the party is issued, within the session of its token. Throws OAuthError. */
export async function toGrant(
  context: Context,
  { settings }: OidcRealm,
  { client, user, token, sessionNotes }: RequestingParty,
): Promise<GrantResult> {
  const scopes = addDefaultScopes(client, [])
  const id = token?.issuedTo.session
  if (id === undefined) return { user, scopes, ...(sessionNotes && { sessionNotes }) }
  const search = { id, client: client.id }
  const active =
    (await findActiveSession(context, settings, { ...search, offline: false })) ??
    (await findActiveSession(context, settings, { ...search, offline: true }))
  if (!active?.clientSession)
    throw new OAuthError(400, 'invalid_grant', {
      description: 'Session not active',
      event: { error: 'invalid_token', reason: 'Session not active' },
    })
  const { clientSession, ...session } = active
  return { user, scopes, session, clientSession }
}
