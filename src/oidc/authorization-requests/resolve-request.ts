// The parameters of an authorization request: those of the request itself, or those that it contains or refers to.
import { readFlag } from '../../kinds/json.ts'
import { fetchText } from '../../lib/http/fetch-text.ts'
import type { LiveObject } from '../../service/objects/live-objects.ts'
import { AuthorizationError, readRedirectUri, readResponseTarget } from '../login/authorization-request.ts'
import { LoginError } from '../login/login-error.ts'
import type { BrowserCall } from '../login/session/browser-call.ts'
import { isRegisteredRedirectUri } from '../redirect-uris.ts'
import { viewClient } from '../views.ts'
import { InvalidRequestObject } from './invalid-request-object.ts'
import { isPushedRequest, takePushedRequest } from './pushed-requests.ts'
import { type RequestObject, type RequestObjectCall, readRequestObject } from './request-objects.ts'

/** Keycloak: the values of the attribute `request.object.required`, and the parameters of which each requires one. */
const requirements: ReadonlyMap<string, readonly string[]> = new Map([
  ['', []],
  ['not required', []],
  ['request only', ['request']],
  ['request_uri only', ['request_uri']],
])
/** An unknown value requires an object, too. */
const ANY_OBJECT = ['request', 'request_uri']

/** An authorization request whose parameters are known. */
export interface ResolvedRequest {
  readonly query: URLSearchParams
  /** The source of the parameters: the request itself, a request object, or a pushed request. */
  readonly origin: 'query' | 'object' | 'pushed'
  readonly object?: RequestObject
}

/**
 * Returns an authorization request with its parameters. Only those of a pushed request count, where the request refers to one.
 *
 * @throws LoginError if the pushed request is used or expired, or the request object is invalid or missing
 * @throws AuthorizationError if the client may only push requests
 */
export async function resolveAuthorizationRequest(
  call: BrowserCall,
  client: LiveObject,
  query: URLSearchParams,
): Promise<ResolvedRequest> {
  const address = query.get('request_uri') ?? ''
  if (isPushedRequest(address)) {
    const pushed = await takePushedRequest(call, client, address)
    if (!pushed) throw createInvalidError('PAR not found, not issued or used multiple times.')
    return { query: pushed, origin: 'pushed' }
  }
  if (readFlag(getAttribute(client, 'require.pushed.authorization.requests'))) {
    const target = readResponseTarget(query, readRedirectUri(client, query, call.request.base))
    const description = 'Pushed Authorization Request is only allowed.'
    throw new AuthorizationError(target, 'invalid_request', { description })
  }
  try {
    checkRequirement(query, listRequiredParameters(client))
    const { service, realm, request } = call
    return await resolveRequestObject({ service, realm, base: request.base }, client, query)
  } catch (error) {
    if (error instanceof InvalidRequestObject) throw createInvalidError(error.message)
    throw error
  }
}

/**
 * Returns the parameters of a request that a client pushes. Keycloak: the client may always push them without an object, unless it must send
 * the object itself.
 *
 * @throws InvalidRequestObject
 */
export async function resolvePushedRequest(
  call: RequestObjectCall,
  client: LiveObject,
  query: URLSearchParams,
): Promise<ResolvedRequest> {
  const isObjectRequired = getAttribute(client, 'request.object.required') === 'request only'
  checkRequirement(query, isObjectRequired ? ['request'] : [])
  return resolveRequestObject(call, client, query)
}

/** Returns the parameters of which the client must use one; none if it need not. */
const listRequiredParameters = (client: LiveObject): readonly string[] =>
  requirements.get(getAttribute(client, 'request.object.required')) ?? ANY_OBJECT

/** Throws InvalidRequestObject unless the request has the parameter that its client must use. */
function checkRequirement(query: URLSearchParams, names: readonly string[]): void {
  if (!names.length || names.some((name) => query.has(name))) return
  const list = names.map((name) => `'${name}'`).join(' or ')
  throw new InvalidRequestObject(`Client is required to use ${list} parameter.`)
}

/** Returns the request with the parameters of its request object, if it has one. */
async function resolveRequestObject(
  call: RequestObjectCall,
  client: LiveObject,
  query: URLSearchParams,
): Promise<ResolvedRequest> {
  const [text, address] = [query.get('request'), query.get('request_uri')]
  if (text === null && address === null) return { query, origin: 'query' }
  if (text !== null && address !== null)
    throw new InvalidRequestObject("Illegal to use both 'request' and 'request_uri' parameters together")
  const object = await readRequestObject(call, client, text ?? (await fetchRequestObject(call, client, address!)))
  const parameters = new URLSearchParams(object.parameters)
  parameters.set('client_id', client.key[0]!)
  const resolved = { query: parameters, origin: 'object', object } as const
  if (listRequiredParameters(client).length) return resolved
  // OpenID Connect Core 1.0, section 6.1: parameters outside of the object count where it has none of that name.
  for (const [name, value] of query)
    if (!parameters.has(name) && name !== 'request' && name !== 'request_uri') parameters.append(name, value)
  return resolved
}

/** Fetches the request object at an address that the client has registered. Keycloak: the fragment does not count. */
async function fetchRequestObject(
  { service }: RequestObjectCall,
  client: LiveObject,
  address: string,
): Promise<string> {
  const [url = ''] = address.split('#')
  const redirectUris = getAttribute(client, 'request.uris').split('##').filter(Boolean)
  // No response is sent to this address.
  const registered = { redirectUris, rootUrl: viewClient(client).rootUrl, acceptsResponseParameters: true }
  if (!isRegisteredRedirectUri(url, registered))
    throw new InvalidRequestObject("Specified 'request_uri' not allowed for this client.")
  try {
    return await fetchText(service.outbound, url)
  } catch {
    // The caller must not learn what is at the address.
    throw new InvalidRequestObject("Failed to fetch the object at 'request_uri'")
  }
}

const getAttribute = (client: LiveObject, name: string): string => viewClient(client).attributes?.[name] ?? ''

const createInvalidError = (reason: string): LoginError =>
  new LoginError('invalidRequestMessage', 'invalid_request', { params: [reason] })
