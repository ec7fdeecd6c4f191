// What an application asks for when it sends a browser to log in, and what is refused: on a page where the application
// cannot be trusted with the answer, otherwise in the answer to it.
import type { Representation } from '../../kinds/json.ts'
import type { LiveObject } from '../../service/objects/live.ts'
import { isRegistered } from '../redirect-uris.ts'
import { LoginError } from './login-error.ts'
import { type ResponseMode, responseModes } from './response.ts'
import type { Parameters } from './session/state.ts'

/** An answer to the application that says no. `event` is the reference server's word for it where that differs. */
export class Refused extends Error {
  readonly to: Pick<Parameters, 'redirectUri' | 'responseMode' | 'state'>
  readonly error: string
  readonly description: string | undefined
  readonly event: string
  constructor(to: Refused['to'], error: string, description?: string, event = error) {
    super(description ?? error)
    this.to = to
    this.error = error
    this.description = description
    this.event = event
  }
}

/** An S256 challenge is as long as its hash; a plain one is its verifier (RFC 7636). */
const CHALLENGE = /^[A-Za-z0-9\-._~]{43,128}$/
/** Keycloak: how many characters a parameter of a request has at most; a longer hint is ignored. */
const LONGEST = 4000
const LONGEST_HINT = 255
/** How many characters all of them have: no longer address gets through the usual proxies. */
const LONGEST_REQUEST = 8 * 1024

/** Throws unless the client exists and may send browsers here. */
export function demandBrowserClient(client: LiveObject | undefined): asserts client is LiveObject {
  if (!client) throw new LoginError('clientNotFoundMessage', 'client_not_found')
  const { enabled, bearerOnly, protocol } = client.representation
  if (enabled !== true) throw new LoginError('clientDisabledMessage', 'client_disabled')
  if (bearerOnly === true) throw new LoginError('bearerOnlyMessage', 'not_allowed', [], 403)
  if (protocol !== 'openid-connect') throw new LoginError('wrongProtocolMessage', 'invalid_client')
}

/** The address that the client is answered at. Throws where it is none of its own. */
export function redirectUriOf(client: Representation, query: URLSearchParams, base: string): string {
  const address = query.get('redirect_uri')
  const rootUrl = String(client.rootUrl ?? '').replace('${authBaseUrl}', base)
  const redirectUris = (client.redirectUris ?? []) as string[]
  if (address === null || !isRegistered(address, { redirectUris, rootUrl: rootUrl || base })) {
    throw new LoginError('invalidParameterMessage', 'invalid_redirect_uri', ['redirect_uri'])
  }
  return address
}

/** The parameters of a request of a client that may be answered at that address. Throws Refused or LoginError. */
export function readParameters(client: Representation, query: URLSearchParams, redirectUri: string): Parameters {
  const one = (name: string) => query.get(name) ?? undefined
  const mode = one('response_mode')
  const type = one('response_type')
  const implicit = type !== undefined && /\b(token|id_token)\b/.test(type)
  const responseMode = (mode ?? (implicit ? 'fragment' : 'query')) as ResponseMode
  const to = {
    redirectUri,
    responseMode: responseModes.includes(responseMode) ? responseMode : ('query' as const),
    ...texts({ state: one('state') }),
  }
  const refuse = (error: string, description?: string, event?: string) => new Refused(to, error, description, event)
  const missing = (name: string) => refuse('invalid_request', `Missing parameter: ${name}`)
  const invalid = (name: string) => refuse('invalid_request', `Invalid parameter: ${name}`)

  if (new Set(query.keys()).size < query.size) throw refuse('invalid_request', 'duplicated parameter')
  const lengths = [...query.values()].map(({ length }) => length)
  if (lengths.some((length) => length > LONGEST)) throw refuse('invalid_request')
  if (lengths.reduce((sum, length) => sum + length, 0) > LONGEST_REQUEST) throw refuse('invalid_request')
  if (type === undefined) throw missing('response_type')
  if (!type.split(' ').every((word) => ['code', 'token', 'id_token', 'none'].includes(word))) {
    throw refuse('unsupported_response_type', undefined, 'invalid_request')
  }
  if (!responseModes.includes(responseMode)) throw invalid('response_mode')
  const flow = (name: string) =>
    `Client is not allowed to initiate browser login with given response_type. ${name} flow is disabled for the client.`
  if (implicit && client.implicitFlowEnabled !== true) {
    throw refuse('unauthorized_client', flow('Implicit'), 'not_allowed')
  }
  if (type !== 'code') throw refuse('unsupported_response_type', undefined, 'invalid_request')
  if (client.standardFlowEnabled !== true) throw refuse('unauthorized_client', flow('Standard'), 'not_allowed')
  if (query.has('request')) throw refuse('request_not_supported')
  if (query.has('request_uri')) throw refuse('request_uri_not_supported')
  const maxAge = one('max_age')
  if (maxAge !== undefined && !/^\d{1,9}$/.test(maxAge))
    throw new LoginError('invalidRequestMessage', 'invalid_request')
  const proof = challengeOf(client, one('code_challenge'), one('code_challenge_method'), { missing, invalid })
  return {
    ...to,
    scope: one('scope') ?? '',
    prompt: (one('prompt') ?? '').split(' ').filter(Boolean),
    ...(maxAge !== undefined && { maxAge: Number(maxAge) }),
    ...proof,
    ...texts({
      nonce: one('nonce'),
      loginHint: (one('login_hint')?.length ?? 0) > LONGEST_HINT ? undefined : one('login_hint'),
      acrValues: one('acr_values'),
      claims: one('claims'),
      action: one('kc_action'),
      providerHint: one('kc_idp_hint'),
      languages: one('kc_locale') ?? one('ui_locales'),
    }),
  }
}

/** PKCE. A client that names a method in its settings must use that one. */
function challengeOf(
  client: Representation,
  challenge: string | undefined,
  stated: string | undefined,
  says: Record<'missing' | 'invalid', (name: string) => Refused>,
): Pick<Parameters, 'codeChallenge' | 'codeChallengeMethod'> {
  const demanded = ((client.attributes ?? {}) as Record<string, string>)['pkce.code.challenge.method'] || undefined
  if (demanded !== undefined) {
    if (stated === undefined) throw says.missing('code_challenge_method')
    if (stated !== demanded) throw says.invalid('code challenge method is not matching the configured one')
  }
  if (challenge === undefined) {
    if (stated !== undefined || demanded !== undefined) throw says.missing('code_challenge')
    return {}
  }
  const method = stated ?? 'plain'
  if (method !== 'plain' && method !== 'S256') throw says.invalid('code_challenge_method')
  if (!CHALLENGE.test(challenge)) throw says.invalid('code_challenge')
  return { codeChallenge: challenge, codeChallengeMethod: method }
}

/** What is there. */
function texts<T extends Record<string, string | undefined>>(values: T): { [K in keyof T]?: string } {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as never
}
