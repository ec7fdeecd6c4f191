// Requests of browsers to the login pages of a realm.
import type { UserEvent } from '../../../service/context/context.ts'
import { type Service, SYSTEM } from '../../../service/context/service.ts'
import { meetsSslRequirement } from '../../../service/context/transport.ts'
import { type LiveObject, listObjects } from '../../../service/objects/live-objects.ts'
import { getIssuer, getOidcRealm, type OidcRealm } from '../../oidc-realm.ts'
import { errorPage } from '../../pages/messages.ts'
import { viewClient } from '../../views.ts'
import { AuthorizationError } from '../authorization-request.ts'
import { isSignedMode } from '../authorization-response.ts'
import { getEventType, type Login, recordLoginEvent } from '../login.ts'
import { LoginError } from '../login-error.ts'
import { renderPage, respondToClient } from '../page-response.ts'
import type { BrowserRequest, BrowserResponse } from './browser-request.ts'

/** A request of a browser to a realm. The user event of an error contains the login and the client, once they are known. */
export interface BrowserCall {
  readonly service: Service
  readonly realm: OidcRealm
  readonly request: BrowserRequest
  login?: Login | undefined
  /** The client id. */
  client?: string | undefined
  /** The type of the user event; absent: that of the login. */
  eventType?: UserEvent['type']
  /** The id of the user of the user event; absent: that of the login. */
  eventUser?: string
  /** Further details of the user event. */
  eventDetails?: NonNullable<UserEvent['details']>
}

/**
 * Handles a request of a browser. An error is recorded as a user event; the response is an error page or an authorization
 * response. Throws OAuthError where the realm does not exist.
 */
export async function handleBrowserCall(
  service: Service,
  request: BrowserRequest,
  work: (call: BrowserCall) => Promise<BrowserResponse>,
): Promise<BrowserResponse> {
  const client = (request.query.get('client_id') ?? getParameters(request).get('client_id')) || undefined
  const call: BrowserCall = { service, realm: await getOidcRealm(service, request.realm), request, client }
  try {
    checkRealm(call)
    return await work(call).catch((error) => {
      if (error instanceof AuthorizationError) return respondWithAuthorizationError(call, error)
      throw error
    })
  } catch (error) {
    if (error instanceof LoginError) return respondWithLoginError(call, error)
    throw error
  }
}

/** Returns the client with a client id. */
export async function findClient({ service, realm }: BrowserCall, clientId: string): Promise<LiveObject | undefined> {
  const [client] = await service.read(SYSTEM, realm, (context) =>
    listObjects(context, 'client', { keys: [[clientId]] }),
  )
  return client
}

/** Returns the client with an id. */
export async function findClientById({ service, realm }: BrowserCall, id: string): Promise<LiveObject | undefined> {
  const [client] = await service.read(SYSTEM, realm, (context) => listObjects(context, 'client', { ids: [id] }))
  return client
}

function checkRealm({ realm: { settings }, request }: BrowserCall): void {
  if (settings.enabled !== true) throw new LoginError('realmNotEnabledMessage', 'realm_disabled', { status: 403 })
  if (!meetsSslRequirement(settings, request)) throw new LoginError('httpsRequiredMessage', 'ssl_required')
}

async function respondWithAuthorizationError(
  call: BrowserCall,
  { error, eventError, target, description }: AuthorizationError,
): Promise<BrowserResponse> {
  // Keycloak: `login_required` is an expected response, not an error event.
  if (error !== 'login_required') {
    const requestDetails = call.login ? {} : getRequestDetails(call, target)
    await recordErrorEvent(call, eventError, { ...requestDetails, reason: description })
  }
  const client = isSignedMode(target.responseMode) ? await findClient(call, call.client ?? '') : undefined
  return respondToClient(call, target, {
    client,
    parameters: {
      error,
      ...(description !== undefined && { error_description: description }),
      ...(target.state !== undefined && { state: target.state }),
      iss: getIssuer(call.request.base, call.realm),
    },
  })
}

async function respondWithLoginError(call: BrowserCall, error: LoginError): Promise<BrowserResponse> {
  const { key, params, status } = error
  const details =
    error.error === 'invalid_redirect_uri'
      ? { redirect_uri: findRequestedRedirectUri(call) }
      : { reason: params.join(' ') || undefined }
  await recordErrorEvent(call, error.error, details)
  return renderPage(call, errorPage(key, { params, applicationUrl: findApplicationUrl(call) }), {
    status,
    languages: [call.login?.state.locale, call.login?.state.parameters.languages],
  })
}

/** Returns the parameters of the request's form or query. */
const getParameters = ({ form, query }: BrowserRequest): URLSearchParams =>
  form ? new URLSearchParams(Object.entries(form)) : query

function findRequestedRedirectUri({ request }: BrowserCall): string | undefined {
  const parameters = getParameters(request)
  return (parameters.get('redirect_uri') ?? parameters.get('post_logout_redirect_uri')) || undefined
}

/** Returns the event details of an authorization request for which no login was created. */
function getRequestDetails({ request }: BrowserCall, target: AuthorizationError['target']) {
  return {
    response_type: getParameters(request).get('response_type') ?? undefined,
    response_mode: target.responseMode,
    redirect_uri: target.redirectUri,
  }
}

function recordErrorEvent(call: BrowserCall, error: string, details: NonNullable<UserEvent['details']>): Promise<void> {
  const { service, realm, request, login, client, eventType, eventUser: user, eventDetails } = call
  if (login) return recordLoginEvent(login, eventType ?? getEventType(login), { error, details })
  const event = {
    type: eventType ?? ('LOGIN' as const),
    error,
    client,
    user,
    address: request.address,
    details: { ...eventDetails, ...details },
  }
  return service.recordUserEvents(realm, [event])
}

/** Returns the home page of the client of a login, if it has one. */
function findApplicationUrl({ login }: BrowserCall): string | undefined {
  if (!login) return undefined
  const { baseUrl, rootUrl } = viewClient(login.client)
  const url = baseUrl === undefined ? null : URL.parse(baseUrl, rootUrl)
  return url && /^https?:$/.test(url.protocol) ? url.href : undefined
}
