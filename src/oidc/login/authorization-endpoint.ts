// The authorization endpoint, which starts a login. RFC 6749, section 3.1.
import type { Cookie } from '../../lib/http/cookies.ts'
import { type Service, SYSTEM } from '../../service/context/service.ts'
import type { LiveObject } from '../../service/objects/live-objects.ts'
import { applyRequestPolicies, type PolicedRequest } from '../client-policies/apply-request-policies.ts'
import { OAuthError } from '../oauth-error.ts'
import { resolveScopes } from '../tokens/scopes.ts'
import { findUnenforcedProtection } from '../unenforced-protections.ts'
import { advanceLogin } from './advance-login.ts'
import {
  AuthorizationError,
  readAuthorizationParameters,
  readRedirectUri,
  readTarget,
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
  const query = new URLSearchParams(request.form ? Object.entries(request.form) : request.query)
  if (isRegistration) query.set('prompt', 'create')
  return handleBrowserCall(service, request, (call) => startAuthorization(call, query))
}

/** Starts a login for an authorization request. `info` is the key of a text for the first page. */
export async function startAuthorization(
  call: BrowserCall,
  query: URLSearchParams,
  info?: string,
): Promise<BrowserResponse> {
  const live = await getRequestClient(call, query)
  await refuseByPolicies(call, live, query)
  const redirectUri = readRedirectUri(live, query, call.request.base)
  const client = await applyPolicies(call, live, { query, redirectUri })
  const parameters = readAuthorizationParameters(client, query, redirectUri)
  refuseUnenforced(client, parameters)
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

/** Throws LoginError where a client policy refuses the request before its redirect URI is trusted. */
async function refuseByPolicies(call: BrowserCall, client: LiveObject, query: URLSearchParams): Promise<void> {
  try {
    await policeRequest(call, { name: 'pre-authorization', client, query })
  } catch (error) {
    if (!(error instanceof OAuthError)) throw error
    throw new LoginError('clientPolicyMessage', error.error, { params: [error.message] })
  }
}

/** Returns the client with the attributes that client policies require. Throws AuthorizationError where one refuses the request. */
async function applyPolicies(
  call: BrowserCall,
  client: LiveObject,
  { query, redirectUri }: { readonly query: URLSearchParams; readonly redirectUri: string },
): Promise<LiveObject> {
  try {
    return await policeRequest(call, { name: 'authorization', client, query })
  } catch (error) {
    if (!(error instanceof OAuthError)) throw error
    throw new AuthorizationError(readTarget(query, redirectUri), error.error, { description: error.message })
  }
}

function policeRequest(
  { service, realm, request: { base } }: BrowserCall,
  { name, client, query }: Pick<PolicedRequest, 'name' | 'client'> & { readonly query: URLSearchParams },
): Promise<LiveObject> {
  return applyRequestPolicies({ service, base, realm }, { name, client, parameters: Object.fromEntries(query) })
}

/** Throws AuthorizationError where something protects logins or tokens of the client that is not enforced. */
function refuseUnenforced(client: LiveObject, parameters: AuthorizationParameters): void {
  const description = findUnenforcedProtection(client, ['logins', 'token requests'])
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
