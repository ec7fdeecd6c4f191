// The authorization endpoint, which starts a login. RFC 6749, section 3.1.
import type { Cookie } from '../../lib/http/cookies.ts'
import { type Service, SYSTEM } from '../../service/context/service.ts'
import type { LiveObject } from '../../service/objects/live-objects.ts'
import { isPushedRequest } from '../authorization-requests/pushed-requests.ts'
import { type ResolvedRequest, resolveAuthorizationRequest } from '../authorization-requests/resolve-request.ts'
import { applyRequestPolicies, type PolicedRequest } from '../client-policies/apply-request-policies.ts'
import { OAuthError } from '../oauth-error.ts'
import { requiresCredentials } from '../redirect-uris.ts'
import { resolveScopes } from '../tokens/scopes.ts'
import { advanceLogin } from './advance-login.ts'
import { requireKnownLevels } from './authenticators/authentication-level.ts'
import {
  AuthorizationError,
  readAuthorizationParameters,
  readRedirectUri,
  readResponseTarget,
  requireBrowserClient,
} from './authorization-request.ts'
import { createLogin, requirePasswordResetAllowed, requireRegistrationAllowed } from './create-login.ts'
import { LoginError } from './login-error.ts'
import { type BrowserCall, findClient, handleBrowserCall } from './session/browser-call.ts'
import type { BrowserRequest, BrowserResponse } from './session/browser-request.ts'
import { createCookie, RESTART, seal } from './session/cookies.ts'
import type { AuthorizationParameters, FlowBinding } from './session/login-state.ts'

/** The maximum length of the restart cookie: browsers store cookies of up to 4 kB. */
const MAX_COOKIE_LENGTH = 3500

/** Handles an authorization request, whose login begins with a flow. A POST has the parameters in its form. */
export function authorize(
  service: Service,
  request: BrowserRequest,
  binding: FlowBinding = 'browser',
): Promise<BrowserResponse> {
  const parameters = new URLSearchParams(request.form ? Object.entries(request.form) : request.query)
  return handleBrowserCall(service, request, async (call) => {
    const client = await getRequestClient(call, parameters)
    await refuseByPolicies(call, client, parameters)
    const request = await resolveAuthorizationRequest(call, client, parameters)
    if (binding === 'registration') request.query.set('prompt', 'create')
    return startAuthorization(call, { client, ...request }, { binding })
  })
}

/** Starts a login again, with the parameters of an authorization request that started it before. */
export async function restartAuthorization(call: BrowserCall, query: URLSearchParams): Promise<BrowserResponse> {
  const client = await getRequestClient(call, query)
  return startAuthorization(call, { client, query, origin: 'restarted' }, { binding: 'browser', info: 'loginTimeout' })
}

/** An authorization request of a client. */
interface ClientAuthorizationRequest extends Omit<ResolvedRequest, 'origin'> {
  readonly client: LiveObject
  readonly origin: PolicedRequest['origin']
}

/** Starts a login for an authorization request. `info` is the key of a text for the first page. */
async function startAuthorization(
  call: BrowserCall,
  { client: live, ...request }: ClientAuthorizationRequest,
  { binding, info }: { readonly binding: FlowBinding; readonly info?: string },
): Promise<BrowserResponse> {
  const { query } = request
  const redirectUri = readRedirectUri(live, query, call.request.base)
  const client = await applyPolicies(call, live, { request, redirectUri })
  const parameters = requireCredentials(call, readAuthorizationParameters(client, query, redirectUri))
  await checkScopes(call, client, parameters)
  const isRegistration = parameters.prompt.includes('create')
  if (isRegistration) requireRegistrationAllowed(call.realm)
  else if (binding === 'resetCredentials') requirePasswordResetAllowed(call.realm)
  const { login, saved, cookies } = createLogin(call, client, {
    binding: isRegistration ? 'registration' : binding,
    parameters,
    ...(info !== undefined && { info }),
    ...(parameters.loginHint !== undefined && { values: { username: parameters.loginHint } }),
  })
  requireKnownLevels(login)
  return advanceLogin(login, saved, [...cookies, ...createRestartCookie(call, query)])
}

/** Returns the parameters with the prompt to log in, if their redirect URI requires it. */
function requireCredentials(
  { client, request: { base } }: BrowserCall,
  parameters: AuthorizationParameters,
): AuthorizationParameters {
  const isRequired = requiresCredentials(client, parameters.redirectUri, base)
  return isRequired ? { ...parameters, prompt: [...parameters.prompt, 'login'] } : parameters
}

async function getRequestClient(call: BrowserCall, query: URLSearchParams): Promise<LiveObject> {
  const clientId = query.get('client_id')
  if (!clientId) throw new LoginError('invalidRequestMessage', 'invalid_request')
  call.client = clientId
  const client = await findClient(call, clientId)
  requireBrowserClient(client)
  return client
}

/** Throws LoginError where a client policy refuses the request before its redirect URI is trusted. */
async function refuseByPolicies(call: BrowserCall, client: LiveObject, query: URLSearchParams): Promise<void> {
  try {
    const origin = isPushedRequest(query.get('request_uri') ?? '') ? 'pushed' : 'query'
    await policeRequest(call, { name: 'pre-authorization', client, query, origin })
  } catch (error) {
    if (!(error instanceof OAuthError)) throw error
    throw new LoginError('clientPolicyMessage', error.error, { params: [error.message] })
  }
}

/** Returns the client with the attributes that client policies require. Throws AuthorizationError where one refuses the request. */
async function applyPolicies(
  call: BrowserCall,
  client: LiveObject,
  {
    request,
    redirectUri,
  }: { readonly request: Omit<ClientAuthorizationRequest, 'client'>; readonly redirectUri: string },
): Promise<LiveObject> {
  try {
    return await policeRequest(call, { name: 'authorization', client, ...request })
  } catch (error) {
    if (!(error instanceof OAuthError)) throw error
    throw new AuthorizationError(readResponseTarget(request.query, redirectUri), error.error, {
      description: error.message,
    })
  }
}

function policeRequest(
  { service, realm, request: { base } }: BrowserCall,
  { query, ...policed }: Omit<PolicedRequest, 'parameters'> & { readonly query: URLSearchParams },
): Promise<LiveObject> {
  return applyRequestPolicies({ service, base, realm }, { ...policed, parameters: Object.fromEntries(query) })
}

async function checkScopes(
  { service, realm }: BrowserCall,
  client: LiveObject,
  parameters: AuthorizationParameters,
): Promise<void> {
  try {
    await service.read(SYSTEM, realm, (context) => resolveScopes(context, client, parameters.scope))
  } catch (error) {
    if (!(error instanceof OAuthError)) throw error
    throw new AuthorizationError(parameters, error.error, {
      description: error.message,
      eventError: 'invalid_request',
    })
  }
}

/** Returns the cookie with which the login starts again after it has expired, unless the request is too long for a cookie. */
function createRestartCookie({ service, request }: BrowserCall, query: URLSearchParams): Cookie[] {
  const value = seal(service.vault, RESTART, query.toString())
  return value.length < MAX_COOKIE_LENGTH ? [createCookie(request, RESTART, { value })] : []
}
