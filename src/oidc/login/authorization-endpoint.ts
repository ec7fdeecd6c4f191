// The authorization endpoint, which starts a login. RFC 6749, section 3.1.
import type { Cookie } from '../../lib/http/cookies.ts'
import { type Service, SYSTEM } from '../../service/context/service.ts'
import type { LiveObject } from '../../service/objects/live-objects.ts'
import { resolveAuthorizationRequest } from '../authorization-requests/resolve-request.ts'
import { OAuthError } from '../oauth-error.ts'
import { resolveScopes } from '../tokens/scopes.ts'
import { findUnenforcedProtection } from '../unenforced-protections.ts'
import { advanceLogin } from './advance-login.ts'
import {
  AuthorizationError,
  readAuthorizationParameters,
  readRedirectUri,
  requireBrowserClient,
} from './authorization-request.ts'
import { createLogin, requireRegistrationAllowed } from './create-login.ts'
import { LoginError } from './login-error.ts'
import { type BrowserCall, findClient, handleBrowserCall } from './session/browser-call.ts'
import type { BrowserRequest, BrowserResponse } from './session/browser-request.ts'
import { createCookie, RESTART, seal } from './session/cookies.ts'
import type { AuthorizationParameters } from './session/login-state.ts'

/** The maximum length of the restart cookie: browsers store cookies of up to 4 kB. */
const MAX_COOKIE_LENGTH = 3500

/** Handles an authorization request. A POST has the parameters in its form. */
export function authorize(service: Service, request: BrowserRequest, isRegistration = false): Promise<BrowserResponse> {
  const parameters = new URLSearchParams(request.form ? Object.entries(request.form) : request.query)
  return handleBrowserCall(service, request, async (call) => {
    const client = await getRequestClient(call, parameters)
    const query = await resolveAuthorizationRequest(call, client, parameters)
    if (isRegistration) query.set('prompt', 'create')
    return startAuthorization(call, { client, query })
  })
}

/** Starts a login again, with the parameters of an authorization request that started it before. */
export async function restartAuthorization(call: BrowserCall, query: URLSearchParams): Promise<BrowserResponse> {
  return startAuthorization(call, { client: await getRequestClient(call, query), query }, 'loginTimeout')
}

/** Starts a login for an authorization request. `info` is the key of a text for the first page. */
async function startAuthorization(
  call: BrowserCall,
  { client, query }: { readonly client: LiveObject; readonly query: URLSearchParams },
  info?: string,
): Promise<BrowserResponse> {
  const redirectUri = readRedirectUri(client, query, call.request.base)
  const parameters = readAuthorizationParameters(client, query, redirectUri)
  refuseUnenforced(call, client, parameters)
  await checkScopes(call, client, parameters)
  const isRegistration = parameters.prompt.includes('create')
  if (isRegistration) requireRegistrationAllowed(call.realm)
  const { login, saved, cookies } = createLogin(call, client, {
    binding: isRegistration ? 'registration' : 'browser',
    parameters,
    ...(info !== undefined && { info }),
    ...(parameters.loginHint !== undefined && { values: { username: parameters.loginHint } }),
  })
  return advanceLogin(login, saved, [...cookies, ...createRestartCookie(call, query)])
}

async function getRequestClient(call: BrowserCall, query: URLSearchParams): Promise<LiveObject> {
  const clientId = query.get('client_id')
  if (!clientId) throw new LoginError('invalidRequestMessage', 'invalid_request')
  call.client = clientId
  const client = await findClient(call, clientId)
  requireBrowserClient(client)
  return client
}

/** Throws AuthorizationError where something protects logins or tokens of the client that is not enforced. */
function refuseUnenforced({ realm }: BrowserCall, client: LiveObject, parameters: AuthorizationParameters): void {
  const description = findUnenforcedProtection(realm, client, ['logins', 'token requests'])
  if (description !== undefined)
    throw new AuthorizationError(parameters, 'unauthorized_client', { description, eventError: 'not_allowed' })
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
