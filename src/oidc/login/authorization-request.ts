// The parameters of an authorization request, and its errors: on a page of the server where the client or its redirect URI
// is invalid, otherwise in the authorization response. RFC 6749, section 4.1.2.1.
import type { LiveObject } from '../../service/objects/live-objects.ts'
import {
  acceptsResponseParameters,
  isRegisteredRedirectUri,
  listCommandRedirectUris,
  listServerRedirectUris,
  omitConsolePath,
  resolveRootUrl,
} from '../redirect-uris.ts'
import { type ClientFields, viewClient } from '../views.ts'
import { type ResponseMode, responseModes } from './authorization-response.ts'
import { LoginError } from './login-error.ts'
import type { AuthorizationParameters } from './session/login-state.ts'

/** An error in the authorization response. */
export class AuthorizationError extends Error {
  readonly target: Pick<AuthorizationParameters, 'redirectUri' | 'responseMode' | 'state'>
  readonly error: string
  readonly description: string | undefined
  /** Keycloak: the error code of the user event. */
  readonly eventError: string
  constructor(
    target: AuthorizationError['target'],
    error: string,
    { description, eventError = error }: { readonly description?: string; readonly eventError?: string } = {},
  ) {
    super(description ?? error)
    this.target = target
    this.error = error
    this.description = description
    this.eventError = eventError
  }
}

/** An S256 challenge has the length of its hash, a plain one that of its verifier. RFC 7636. */
const CHALLENGE = /^[A-Za-z0-9\-._~]{43,128}$/
/** Keycloak: the maximum length of a parameter; a longer login hint is ignored. */
const MAX_LENGTH = 4000
const MAX_HINT_LENGTH = 255
/** The maximum length of all parameters, since common proxies accept no longer URLs. */
const MAX_REQUEST_LENGTH = 8 * 1024

/** Throws LoginError unless the client exists and may request logins. */
export function requireBrowserClient(client: LiveObject | undefined): asserts client is LiveObject {
  if (!client) throw new LoginError('clientNotFoundMessage', 'client_not_found')
  const { enabled, bearerOnly, protocol } = viewClient(client)
  if (enabled !== true) throw new LoginError('clientDisabledMessage', 'client_disabled')
  if (bearerOnly === true) throw new LoginError('bearerOnlyMessage', 'not_allowed', { status: 403 })
  if (protocol !== 'openid-connect') throw new LoginError('wrongProtocolMessage', 'invalid_client')
}

/** Returns the redirect URI of a request. Throws LoginError where it is not registered for the client. */
export function readRedirectUri(client: LiveObject, query: URLSearchParams, base: string): string {
  const address = query.get('redirect_uri')
  const { clientId, redirectUris = [], rootUrl, attributes } = viewClient(client)
  const allowed = [
    ...redirectUris,
    ...listServerRedirectUris(clientId, base),
    ...listCommandRedirectUris(clientId, base),
  ]
  const registered = {
    redirectUris: allowed,
    rootUrl: resolveRootUrl(rootUrl, base),
    acceptsResponseParameters: acceptsResponseParameters({ attributes }),
  }
  if (address === null || !isRegisteredRedirectUri(omitConsolePath(clientId, address), registered)) {
    throw new LoginError('invalidParameterMessage', 'invalid_redirect_uri', { params: ['redirect_uri'] })
  }
  return address
}

/** An authorization request that is being checked. */
interface RawRequest {
  readonly client: ClientFields
  readonly query: URLSearchParams
  readonly target: AuthorizationError['target']
  readonly responseType: string | undefined
}

/** The checks of an authorization request, in their order. They throw AuthorizationError or LoginError. */
const checks: readonly ((request: RawRequest) => void)[] = [
  checkDuplicates,
  checkLengths,
  checkResponseType,
  checkResponseMode,
  checkClientFlow,
  checkMaxAge,
  checkPkce,
]

/** Returns the recipient of the response to a request with a valid redirect URI. */
export function readResponseTarget(query: URLSearchParams, redirectUri: string): AuthorizationError['target'] {
  const get = (name: string) => query.get(name) ?? undefined
  const mode = get('response_mode') ?? getDefaultResponseMode(get('response_type'))
  return { redirectUri, responseMode: findResponseMode(mode) ?? 'query', ...omitAbsent({ state: get('state') }) }
}

/** Returns the parameters of a request with a valid redirect URI. Throws AuthorizationError and LoginError. */
export function readAuthorizationParameters(
  client: LiveObject,
  query: URLSearchParams,
  redirectUri: string,
): AuthorizationParameters {
  const get = (name: string) => query.get(name) ?? undefined
  const responseType = get('response_type')
  const target = readResponseTarget(query, redirectUri)
  const request = { client: viewClient(client), query, target, responseType }
  for (const check of checks) check(request)
  const maxAge = get('max_age')
  const loginHint = get('login_hint')
  const codeChallenge = get('code_challenge')
  return {
    ...target,
    scope: get('scope') ?? '',
    prompt: (get('prompt') ?? '').split(' ').filter(Boolean),
    ...(maxAge !== undefined && { maxAge: Number(maxAge) }),
    ...(codeChallenge !== undefined && {
      codeChallenge,
      codeChallengeMethod: get('code_challenge_method') ?? 'plain',
    }),
    ...omitAbsent({
      nonce: get('nonce'),
      dpopJkt: get('dpop_jkt'),
      loginHint: (loginHint?.length ?? 0) > MAX_HINT_LENGTH ? undefined : loginHint,
      acrValues: get('acr_values'),
      claims: get('claims'),
      action: get('kc_action'),
      providerHint: get('kc_idp_hint'),
      languages: get('kc_locale') ?? get('ui_locales'),
    }),
  }
}

function checkDuplicates({ query, target }: RawRequest): void {
  if (new Set(query.keys()).size < query.size)
    throw new AuthorizationError(target, 'invalid_request', { description: 'duplicated parameter' })
}

function checkLengths({ query, target }: RawRequest): void {
  const lengths = [...query.values()].map(({ length }) => length)
  const total = lengths.reduce((sum, length) => sum + length, 0)
  if (lengths.some((length) => length > MAX_LENGTH) || total > MAX_REQUEST_LENGTH)
    throw new AuthorizationError(target, 'invalid_request')
}

function checkResponseType({ target, responseType }: RawRequest): void {
  if (responseType === undefined) throw createMissingError(target, 'response_type')
  if (!responseType.split(' ').every((type) => ['code', 'token', 'id_token', 'none'].includes(type)))
    throw new AuthorizationError(target, 'unsupported_response_type', { eventError: 'invalid_request' })
}

function checkResponseMode({ query, target }: RawRequest): void {
  const mode = query.get('response_mode')
  if (mode !== null && !findResponseMode(mode)) throw createInvalidError(target, 'response_mode')
}

/** Checks that the client may use the flow of the response type. Only the standard flow is supported. */
function checkClientFlow({ client, target, responseType }: RawRequest): void {
  const createFlowError = (flow: string) =>
    new AuthorizationError(target, 'unauthorized_client', {
      description: `Client is not allowed to initiate browser login with given response_type. ${flow} flow is disabled for the client.`,
      eventError: 'not_allowed',
    })
  if (isImplicit(responseType) && client.implicitFlowEnabled !== true) throw createFlowError('Implicit')
  if (responseType !== 'code')
    throw new AuthorizationError(target, 'unsupported_response_type', { eventError: 'invalid_request' })
  if (client.standardFlowEnabled !== true) throw createFlowError('Standard')
}

function checkMaxAge({ query }: RawRequest): void {
  const maxAge = query.get('max_age')
  if (maxAge !== null && !/^\d{1,9}$/.test(maxAge)) throw new LoginError('invalidRequestMessage', 'invalid_request')
}

/** RFC 7636. A client may require a challenge method in its attributes. */
function checkPkce({ client, query, target }: RawRequest): void {
  const challenge = query.get('code_challenge')
  const method = query.get('code_challenge_method')
  const requiredMethod = client.attributes?.['pkce.code.challenge.method'] || undefined
  if (requiredMethod !== undefined) {
    if (method === null) throw createMissingError(target, 'code_challenge_method')
    if (method !== requiredMethod)
      throw createInvalidError(target, 'code challenge method is not matching the configured one')
  }
  if (challenge === null) {
    if (method !== null) throw createMissingError(target, 'code_challenge')
    return
  }
  if (method !== null && method !== 'plain' && method !== 'S256')
    throw createInvalidError(target, 'code_challenge_method')
  if (!CHALLENGE.test(challenge)) throw createInvalidError(target, 'code_challenge')
}

const isImplicit = (responseType = ''): boolean => /\b(token|id_token)\b/.test(responseType)

const getDefaultResponseMode = (responseType: string | undefined): ResponseMode =>
  isImplicit(responseType) ? 'fragment' : 'query'

const findResponseMode = (text: string): ResponseMode | undefined => responseModes.find((mode) => mode === text)

const createMissingError = (target: AuthorizationError['target'], name: string) =>
  new AuthorizationError(target, 'invalid_request', { description: `Missing parameter: ${name}` })

const createInvalidError = (target: AuthorizationError['target'], name: string) =>
  new AuthorizationError(target, 'invalid_request', { description: `Invalid parameter: ${name}` })

/** Returns the members that are present. */
function omitAbsent<Name extends string>(
  values: Readonly<Record<Name, string | undefined>>,
): { readonly [Key in Name]?: string }
function omitAbsent(values: Readonly<Record<string, string | undefined>>): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined))
}
