// The executors of client policies that apply to requests at endpoints. Keycloak: the errors are its own.
import { type Representation, readTexts } from '../../kinds/json.ts'
import { isAllowedAuthenticator, isSecureAlgorithm } from '../../service/client-policies/client-executors.ts'
import { isSet } from '../../service/client-policies/policy-conditions.ts'
import type { PolicyEventName } from '../../service/client-policies/policy-event.ts'
import { findRedirectUriProblem, isSecureUri } from '../../service/client-policies/uri-executors.ts'
import type { RequestObject } from '../authorization-requests/request-objects.ts'
import type { ResolvedRequest } from '../authorization-requests/resolve-request.ts'
import { parseAssertion } from '../client-authentication/client-assertion.ts'

/** A request to an endpoint. */
export interface EndpointRequest {
  readonly name: PolicyEventName
  /** The complete client. */
  readonly client: Representation
  readonly parameters: Readonly<Record<string, string | undefined>>
  /** The issuer of the realm's tokens. */
  readonly issuer: string
  /** The source of the parameters of an authorization request; `restarted`: a login that has started before. */
  readonly origin?: ResolvedRequest['origin'] | 'restarted' | undefined
  readonly object?: RequestObject | undefined
}

/** The refusal of a request. */
export interface RequestRefusal {
  /** The OAuth error code. */
  readonly error: string
  readonly description: string
}

/** An executor. */
interface RequestExecutor {
  /** The events at which it checks requests. */
  readonly events?: readonly PolicyEventName[]
  readonly check?: (configuration: Representation, request: EndpointRequest) => RequestRefusal | undefined
  /** Attributes that the client is treated as if it had. */
  readonly attributes?: Readonly<Record<string, string>>
}

const AUTHORIZATION = ['authorization', 'pushed authorization'] as const
const AUTHENTICATED = ['token', 'introspection', 'revocation', 'logout', 'pushed authorization'] as const

const invalidRequest = (description: string): RequestRefusal => ({ error: 'invalid_request', description })
const refuseUnless = (isAllowed: boolean, refusal: RequestRefusal) => (isAllowed ? undefined : refusal)

/** The executors by the id of their provider. Others do not concern requests. */
export const requestExecutors: Readonly<Record<string, RequestExecutor>> = {
  'confidential-client': {
    events: [...AUTHORIZATION, 'token'],
    check: (_, { client }) =>
      refuseUnless(client.publicClient !== true, {
        error: 'invalid_client',
        description: 'invalid client access type: public',
      }),
  },
  'dpop-bind-enforcer': {
    attributes: { 'dpop.bound.access.tokens': 'true' },
    events: AUTHORIZATION,
    check: (configuration, { parameters }) =>
      isSet(configuration['enforce-authorization-code-binding-to-dpop'])
        ? requireParameter(parameters, 'dpop_jkt')
        : undefined,
  },
  'holder-of-key-enforcer': { attributes: { 'tls.client.certificate.bound.access.tokens': 'true' } },
  'pkce-enforcer': { attributes: { 'pkce.code.challenge.method': 'S256' } },
  'reject-request': { check: () => invalidRequest('Request not allowed') },
  'reject-ropc-grant': {
    events: ['token'],
    check: (_, { parameters }) =>
      refuseUnless(parameters.grant_type !== 'password', {
        error: 'invalid_grant',
        description: 'resource owner password credentials grant is prohibited.',
      }),
  },
  'secure-client-authentication-assertion': { events: AUTHENTICATED, check: checkAssertionAudience },
  'secure-client-authenticator': {
    events: AUTHENTICATED,
    check: (configuration, { client }) =>
      refuseUnless(
        isAllowedAuthenticator(configuration, client),
        invalidRequest('Configured client authentication method not allowed for client'),
      ),
  },
  'secure-client-uris': {
    events: AUTHORIZATION,
    check: (_, { parameters }) =>
      refuseUnless(isSecureUri(parameters.redirect_uri ?? ''), invalidRequest('Invalid redirect_uri')),
  },
  'secure-par-content': {
    events: ['pre-authorization', 'authorization'],
    check: (_, { origin }) =>
      refuseUnless(origin === 'pushed' || origin === 'restarted', invalidRequest('PAR request_uri not included.')),
  },
  'secure-redirect-uris-enforcer': {
    events: ['pre-authorization', ...AUTHORIZATION],
    check(configuration, { parameters: { redirect_uri: uri, request_uri: reference, request: object } }) {
      // That of a request object or a pushed request is checked once it is known.
      if (uri === undefined && (reference !== undefined || object !== undefined)) return undefined
      const problem = findRedirectUriProblem(configuration, uri ?? '')
      return problem === undefined ? undefined : invalidRequest(problem)
    },
  },
  'secure-request-object': { events: AUTHORIZATION, check: checkRequestObject },
  'secure-response-type': {
    events: AUTHORIZATION,
    check: (_, { parameters: { response_type: type, response_mode: mode = '' } }) =>
      // Regent has no implicit and no hybrid flow. A code is protected by a signed response.
      refuseUnless(type === 'code' && /(?:^|\.)jwt$/.test(mode), invalidRequest('invalid response_type')),
  },
  'secure-session': {
    events: AUTHORIZATION,
    check: (_, { parameters }) =>
      requireParameter(parameters, parameters.scope?.split(' ').includes('openid') ? 'nonce' : 'state'),
  },
  'secure-signature-algorithm-signed-jwt': { events: AUTHENTICATED, check: checkAssertionAlgorithm },
  'use-lightweight-access-token': { attributes: { 'client.use.lightweight.access.token.enabled': 'true' } },
}

function requireParameter(parameters: EndpointRequest['parameters'], name: string): RequestRefusal | undefined {
  return refuseUnless(parameters[name] !== undefined, invalidRequest(`Missing parameter: ${name}`))
}

/** Keycloak: SecureRequestObjectExecutor. The signature and the times of an object are verified before. */
function checkRequestObject(
  configuration: Representation,
  { name, parameters, issuer, origin, object }: EndpointRequest,
): RequestRefusal | undefined {
  // A pushed request was checked when it was pushed.
  if (name === 'authorization' && (origin === 'pushed' || origin === 'restarted')) return undefined
  if (!object) return invalidRequest("Missing parameter: 'request' or 'request_uri'")
  const problem = findObjectProblem(configuration, { object, issuer })
  if (problem !== undefined) return { error: 'invalid_request_object', description: problem }
  const isInside = Object.keys(parameters).every((member) => member === 'client_id' || object.parameters.has(member))
  return refuseUnless(isInside, invalidRequest("All parameters must be members of the 'request' object"))
}

/** The seconds for which an object is valid, unless the configuration has others. */
const AVAILABLE_PERIOD = 3600

function findObjectProblem(
  configuration: Representation,
  { object: { claims, isEncrypted }, issuer }: { readonly object: RequestObject; readonly issuer: string },
): string | undefined {
  const { exp, nbf, aud } = claims
  const missing = (claim: string) => `Missing parameter in the 'request' object: ${claim}`
  if (exp === undefined) return missing('exp')
  if (isSet(configuration['verify-nbf'] ?? true)) {
    if (nbf === undefined) return missing('nbf')
    const period = Number(configuration['available-period'] ?? AVAILABLE_PERIOD)
    if (!(exp - nbf <= period)) return "Request's available period is long"
  }
  if (aud === undefined) return missing('aud')
  if (![aud].flat().includes(issuer)) return "Invalid parameter in the 'request' object: aud"
  return isSet(configuration['encryption-required']) && !isEncrypted ? 'Request object not encrypted' : undefined
}

function checkAssertionAlgorithm(
  configuration: Representation,
  { parameters: { client_assertion: text } }: EndpointRequest,
): RequestRefusal | undefined {
  const isRequired = text !== undefined || isSet(configuration['require-client-assertion'])
  const assertion = parseAssertion(text)
  if (!assertion) return refuseUnless(!isRequired, invalidRequest('client assertion is required.'))
  return refuseUnless(isSecureAlgorithm(assertion.algorithm), invalidRequest('not allowed signature algorithm.'))
}

/** FAPI 2.0 Security Profile, section 5.3.2.1: the audience of a client assertion is the issuer alone. */
function checkAssertionAudience(
  _: Representation,
  { parameters: { client_assertion: text }, issuer }: EndpointRequest,
): RequestRefusal | undefined {
  if (text === undefined) return undefined
  return refuseUnless(parseAssertion(text)?.claims.aud === issuer, {
    error: 'invalid_client',
    description: 'The audience of the client assertion must be the issuer as a single text',
  })
}

/** Returns the requested authentication context classes of an authorization request. */
export const readAcrValues = (parameters: EndpointRequest['parameters']): readonly string[] =>
  readTexts((parameters.acr_values ?? '').split(' '))
