// Logout in a browser, and the account page, which links to it. OpenID Connect RP-Initiated Logout 1.0, Front-Channel Logout 1.0.
import { readFlag } from '../../kinds/json.ts'
import { type Service, SYSTEM } from '../../service/context/service.ts'
import type { EndedClientSession } from '../../service/context/store-types.ts'
import { findUserById } from '../../service/login/find-user.ts'
import { endSessions } from '../../service/login/sessions.ts'
import type { LiveObject } from '../../service/objects/live-objects.ts'
import { getIssuer } from '../oidc-realm.ts'
import { accountPage, infoPage, loggedOutPage, logoutPage } from '../pages/messages.ts'
import {
  acceptsResponseParameters,
  isRegisteredRedirectUri,
  listServerRedirectUris,
  resolveRootUrl,
} from '../redirect-uris.ts'
import { type IssuedTo, verifySignature } from '../tokens/tokens.ts'
import { viewClient } from '../views.ts'
import { LoginError } from './login-error.ts'
import { redirectTo, renderPage } from './page-response.ts'
import { type BrowserCall, findClient, findClientById, handleBrowserCall } from './session/browser-call.ts'
import type { BrowserRequest, BrowserResponse } from './session/browser-request.ts'
import { seal, unseal } from './session/cookies.ts'
import { expireIdentityCookies, findSsoSession } from './session/sso-session.ts'

/** A logout that the user must confirm; the confirmation page contains it, encrypted. */
interface PendingLogout {
  /** The id of the session. */
  readonly session: string
  /** The client id. */
  readonly client?: string | undefined
  readonly redirectUri?: string | undefined
}

const PURPOSE = 'logout'

/** Handles a logout request. The user must confirm it, unless the client has an ID token of the session. */
export function logOut(service: Service, request: BrowserRequest): Promise<BrowserResponse> {
  const query = readParameters(request)
  return handleBrowserCall(service, request, async (call) => {
    call.eventType = 'LOGOUT'
    const hint = await readIdTokenHint(call, query.get('id_token_hint'))
    const client = await findRequestClient(call, query, hint)
    const redirectUri = readPostLogoutRedirectUri(client, query, request.base)
    const session = await findSsoSession(call)
    if (!session || hint?.session === session.id) return endSession(call, session?.id, redirectUri)
    const pending: PendingLogout = { session: session.id, client: call.client, redirectUri }
    return askForConfirmation(call, pending, query.get('ui_locales') ?? undefined)
  })
}

/** Returns the parameters of a request. Keycloak: an empty one counts as absent. */
function readParameters({ form, query }: BrowserRequest): URLSearchParams {
  const parameters = form ? new URLSearchParams(form) : query
  return new URLSearchParams([...parameters].filter(([, value]) => value !== ''))
}

/** Handles the confirmation of a logout, which counts for the session that the page was shown for. */
export function confirmLogOut(service: Service, request: BrowserRequest): Promise<BrowserResponse> {
  return handleBrowserCall(service, request, async (call) => {
    call.eventType = 'LOGOUT'
    const pending = unseal<PendingLogout>(service.vault, PURPOSE, request.query.get('key') ?? undefined)
    if (!pending || !request.form) throw new LoginError('staleCodeMessage', 'expired_code')
    call.client = pending.client
    const session = await findSsoSession(call)
    return endSession(call, session?.id === pending.session ? session.id : undefined, pending.redirectUri)
  })
}

/** Shows who is logged in. Keycloak: an account console, which Regent does not have, is at this address. */
export function showAccount(service: Service, request: BrowserRequest): Promise<BrowserResponse> {
  return handleBrowserCall(service, request, async (call) => {
    const session = await findSsoSession(call)
    const user = session && (await service.read(SYSTEM, call.realm, (context) => findUserById(context, session.user)))
    const logoutUrl = `${getIssuer(request.base, call.realm)}/protocol/openid-connect/logout`
    return renderPage(call, accountPage(user && { username: user.username, logoutUrl }))
  })
}

/** Returns the client of a request, which `client_id` or the ID token names. Throws LoginError where they differ. */
async function findRequestClient(
  call: BrowserCall,
  query: URLSearchParams,
  hint: IssuedTo | undefined,
): Promise<LiveObject | undefined> {
  const clientId = query.get('client_id')
  const client =
    clientId === null ? hint && (await findClientById(call, hint.client)) : await findClient(call, clientId)
  call.client = client?.key[0] ?? clientId ?? undefined
  if (hint && clientId !== null && client?.id !== hint.client)
    throw new LoginError('invalidParameterMessage', 'invalid_client', { params: ['client_id'] })
  return client
}

function askForConfirmation(
  call: BrowserCall,
  pending: PendingLogout,
  languages: string | undefined,
): Promise<BrowserResponse> {
  const { service, request } = call
  const key = seal(service.vault, PURPOSE, pending)
  const path = `login-actions/logout-confirm?${new URLSearchParams({ key })}`
  const action = `${getIssuer(request.base, call.realm)}/${path}`
  return renderPage(call, logoutPage, { action, languages: [languages] })
}

/** Ends a session. Clients with front-channel logout are notified by frames of a page. */
async function endSession(
  call: BrowserCall,
  session: string | undefined,
  redirectUri: string | undefined,
): Promise<BrowserResponse> {
  const { service, realm, request, client } = call
  const ended =
    session === undefined
      ? []
      : await service.writeRuntime(SYSTEM, realm.name, (context) =>
          endSessions(context, { id: session, offline: false }),
        )
  if (session !== undefined) {
    const details = { redirect_uri: redirectUri }
    const event = { client, user: ended[0]?.user, session, address: request.address, details }
    await service.recordUserEvents(realm, [{ type: 'LOGOUT', ...event }])
  }
  const cookies = expireIdentityCookies(request)
  const frames = ended.flatMap((clientSession) => listFrame(clientSession, getIssuer(request.base, realm)))
  if (frames.length) return renderPage(call, loggedOutPage(frames, redirectUri), { cookies, frames })
  return redirectUri === undefined
    ? renderPage(call, infoPage('successLogout'), { cookies })
    : redirectTo(redirectUri, cookies)
}

/** Returns the references of an ID token, which may have expired. Throws LoginError where the realm did not issue it. */
async function readIdTokenHint({ service, realm }: BrowserCall, token: string | null): Promise<IssuedTo | undefined> {
  if (token === null) return undefined
  const hint = await verifySignature(service, realm, token)
  if (hint?.claims.typ !== 'ID')
    throw new LoginError('invalidParameterMessage', 'invalid_token', { params: ['id_token_hint'] })
  return hint.issuedTo
}

/** Returns the address after logout. Throws LoginError where it is not registered. Keycloak: `+` means the redirect URIs. */
function readPostLogoutRedirectUri(
  client: LiveObject | undefined,
  query: URLSearchParams,
  base: string,
): string | undefined {
  const address = query.get('post_logout_redirect_uri')
  if (address === null) return undefined
  if (!query.has('id_token_hint') && !query.has('client_id')) {
    throw new LoginError('missingParameterMessage', 'invalid_request', { params: ['id_token_hint'] })
  }
  if (!client || !isPostLogoutRedirectUri(client, address, base)) {
    throw new LoginError('invalidRedirectUriMessage', 'invalid_redirect_uri')
  }
  const state = query.get('state')
  if (state === null) return address
  return `${address}${address.includes('?') ? '&' : '?'}${new URLSearchParams({ state })}`
}

function isPostLogoutRedirectUri(client: LiveObject, address: string, base: string): boolean {
  const { clientId, attributes = {}, redirectUris = [], rootUrl } = viewClient(client)
  const uris = (attributes['post.logout.redirect.uris'] || '+').split('##')
  const declared = uris.flatMap((uri) => (uri === '+' ? redirectUris : [uri]))
  return isRegisteredRedirectUri(address, {
    redirectUris: [...declared, ...listServerRedirectUris(clientId, base)],
    rootUrl: resolveRootUrl(rootUrl, base),
    acceptsResponseParameters: acceptsResponseParameters({ attributes }),
  })
}

/** Returns the front-channel logout URL of a client session, if its client has one. */
function listFrame({ session, attributes, frontchannel }: EndedClientSession, issuer: string): string[] {
  const url = URL.parse(attributes?.['frontchannel.logout.url'] ?? '')
  if (!url || !frontchannel) return []
  if (readFlag(attributes?.['frontchannel.logout.session.required'], true)) {
    url.searchParams.set('iss', issuer)
    url.searchParams.set('sid', session)
  }
  return [url.href]
}
