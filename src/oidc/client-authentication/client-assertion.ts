// Client assertions: tokens that clients sign to authenticate. RFC 7523. Keycloak: AbstractJWTClientValidator.
import { decodeJwt, decodeProtectedHeader, errors, type JWTPayload } from 'jose'
import { isStorable } from '../../kinds/fields.ts'
import { toEpochSeconds } from '../../lib/epoch-seconds.ts'
import { SYSTEM } from '../../service/context/service.ts'
import { recordKeyUse } from '../../service/context/single-use.ts'
import type { LiveObject } from '../../service/objects/live-objects.ts'
import { OAuthError } from '../oauth-error.ts'
import { getIssuer } from '../oidc-realm.ts'
import { viewClient } from '../views.ts'
import {
  type ClientAuthenticationAttempt,
  type ClientAuthenticationResult,
  createClientNotFoundError,
  type TokenRequest,
} from './client-authenticator.ts'
import { readClientCredentials } from './client-secret.ts'

/** The type of client assertions. RFC 7523, section 2.2. */
export const JWT_BEARER = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'
/** The end of the address to which clients push authorization requests. */
const PUSHED_REQUESTS = '/protocol/openid-connect/ext/par/request'
/** The tolerated clock difference, in seconds. */
const CLOCK_SKEW = 15
/** The maximum lifespan of an assertion in seconds, unless the client has its own. */
const MAX_LIFESPAN = 60

/** A parsed assertion, which is not verified yet. */
export interface Assertion {
  readonly text: string
  readonly algorithm: string
  readonly claims: JWTPayload
}

/** Verifies the signature of an assertion. Throws errors of jose, and OAuthError. */
export type VerifySignature = (
  attempt: ClientAuthenticationAttempt,
  client: LiveObject,
  assertion: Assertion,
) => Promise<void>

/** A client authenticator that accepts assertions, such as `client-jwt`. */
export interface AssertionAuthenticator {
  /** The provider id of the authenticator. */
  readonly id: string
  readonly acceptsAlgorithm: (algorithm: string) => boolean
  readonly verifySignature: VerifySignature
  /** Creates the error for an invalid signature. */
  readonly createSignatureError: () => OAuthError
}

/** Creates the error for an invalid assertion. */
export const createAssertionError = (reason: string, error = 'invalid_client_credentials'): OAuthError =>
  new OAuthError(400, 'invalid_client', { description: reason, event: { error, reason } })

/** Returns the client id in the request's client assertion, which is not verified. Keycloak: undefined where issuer and subject differ. */
export function findAssertedClient({ form }: TokenRequest): string | undefined {
  const { iss, sub } = parseAssertion(form.client_assertion)?.claims ?? {}
  return typeof sub === 'string' && iss === sub ? sub : undefined
}

/** Returns the claims of the request's assertion for the user event. */
export function getAssertionDetails({ form }: TokenRequest): Record<string, string | undefined> {
  const claims: Record<string, unknown> = parseAssertion(form.client_assertion)?.claims ?? {}
  const getText = (name: string) => (typeof claims[name] === 'string' ? claims[name] : undefined)
  return {
    client_assertion_id: getText('jti'),
    client_assertion_issuer: getText('iss'),
    client_assertion_sub: getText('sub'),
  }
}

/** Authenticates a client by an assertion. */
export async function authenticateByAssertion(
  attempt: ClientAuthenticationAttempt,
  authenticator: AssertionAuthenticator,
): Promise<ClientAuthenticationResult> {
  const { request, clients, event } = attempt
  const { client_assertion_type: type, client_assertion: text, client_id: clientId } = request.form
  const { id } = readClientCredentials(request)
  const namedClient = id === undefined ? undefined : clients.get(id)
  const reject = (error: OAuthError): ClientAuthenticationResult => ({ client: namedClient, error })
  if (type === undefined) return reject(createAssertionError('Parameter client_assertion_type is missing'))
  if (type !== JWT_BEARER) {
    const reason = `Parameter client_assertion_type has value '${type}' but expected is '${JWT_BEARER}'`
    return reject(createAssertionError(reason))
  }
  if (text === undefined) return reject(createAssertionError('client_assertion parameter missing'))
  const assertion = parseAssertion(text)
  if (!assertion) return reject(authenticator.createSignatureError())
  const subject = findAssertedClient(request)
  if (subject === undefined) return reject(createClientNotFoundError())
  if (clientId !== undefined && clientId !== subject)
    return reject(createAssertionError('client_id parameter does not match sub claim'))
  const client = clients.get(subject)
  event.client = client?.key[0] ?? event.client
  if (!client || viewClient(client).enabled !== true) return { client, error: createClientNotFoundError(client) }
  if (viewClient(client).clientAuthenticatorType !== authenticator.id) return { client }
  return { client, error: await findAssertionError(attempt, { client, assertion }, authenticator) }
}

async function findAssertionError(
  attempt: ClientAuthenticationAttempt,
  { client, assertion }: { readonly client: LiveObject; readonly assertion: Assertion },
  authenticator: AssertionAuthenticator,
): Promise<OAuthError | undefined> {
  const { attributes = {} } = viewClient(client)
  const requiredAlgorithm = attributes['token.endpoint.auth.signing.alg']
  const { algorithm, claims } = assertion
  if (!authenticator.acceptsAlgorithm(algorithm) || (requiredAlgorithm && requiredAlgorithm !== algorithm))
    return createAssertionError('Invalid signature algorithm')
  try {
    await authenticator.verifySignature(attempt, client, assertion)
  } catch (error) {
    if (error instanceof OAuthError) return error
    if (error instanceof errors.JOSEError || error instanceof TypeError) return authenticator.createSignatureError()
    throw error
  }
  const maxLifespan = Number(attributes['token.endpoint.auth.signing.max.exp']) || MAX_LIFESPAN
  return findClaimError(
    attempt,
    { client, claims },
    { audiences: listAudiences(attempt), maxLifespan, clockSkew: CLOCK_SKEW },
  )
}

/** Returns the addresses of the realm that a client may name as the audience. */
function listAudiences({ realm, base }: ClientAuthenticationAttempt): string[] {
  const issuer = getIssuer(base, realm)
  const endpoint = `${issuer}/protocol/openid-connect/token`
  return [issuer, endpoint, `${endpoint}/introspect`, `${issuer}${PUSHED_REQUESTS}`]
}

/** The rules for the claims of an assertion. Times are in seconds. */
export interface AssertionRules {
  /** The accepted audiences. */
  readonly audiences: readonly string[]
  readonly maxLifespan: number
  /** The tolerated clock difference. */
  readonly clockSkew: number
  /** Whether an assertion authenticates more than once, and needs no id. */
  readonly isReusable?: boolean
}

/** The claims of an assertion whose signature is valid, and its client. */
interface ClientClaims {
  readonly client: LiveObject
  readonly claims: JWTPayload
}

/** Returns the error for claims that break the rules, or for a repeated use. One statement, or none. */
export async function findClaimError(
  attempt: ClientAuthenticationAttempt,
  { client, claims }: ClientClaims,
  rules: AssertionRules,
): Promise<OAuthError | undefined> {
  const reason =
    findAudienceProblem(claims, rules) ??
    findTimeProblem(attempt, claims, rules) ??
    (rules.isReusable ? undefined : await findReuseProblem(attempt, { client, claims }, rules))
  return reason === undefined ? undefined : createAssertionError(reason)
}

function findAudienceProblem({ aud }: JWTPayload, { audiences: accepted }: AssertionRules): string | undefined {
  const audiences = [aud ?? []].flat()
  if (!audiences.some((audience) => accepted.includes(audience))) return 'Invalid token audience'
  // With several audiences, another server could use the assertion here.
  return audiences.length > 1 ? 'Multiple audiences not allowed' : undefined
}

/** Returns the problem of an assertion's times; a time that is not a number is invalid. */
function findTimeProblem(
  { realm }: ClientAuthenticationAttempt,
  { exp, iat, nbf }: JWTPayload,
  { maxLifespan, clockSkew }: AssertionRules,
): string | undefined {
  const now = toEpochSeconds(realm.now)
  if (typeof exp !== 'number') return 'Token exp claim is required'
  if (exp <= now || (nbf !== undefined && !(nbf - clockSkew <= now))) return 'Token is not active'
  if (iat === undefined)
    return exp - now > maxLifespan
      ? 'Token expiration is too far in the future and iat claim not present in token'
      : undefined
  if (!(iat - clockSkew <= now)) return 'Token was issued in the future'
  // Keycloak: its words.
  return now > iat + maxLifespan ? 'Token was issued too far in the past to be used now' : undefined
}

async function findReuseProblem(
  { service, realm }: ClientAuthenticationAttempt,
  { client, claims: { jti, exp } }: ClientClaims,
  { maxLifespan, clockSkew }: AssertionRules,
): Promise<string | undefined> {
  if (typeof jti !== 'string' || !isStorable(jti)) return 'Token jti claim is required'
  // The id is remembered until the assertion is too old to be used.
  const rememberedUntil = new Date(Math.min(exp!, toEpochSeconds(realm.now) + maxLifespan + clockSkew) * 1000)
  const uses = await service.writeRuntime(SYSTEM, realm, (context) =>
    recordKeyUse(context, `assertion ${client.id} ${jti}`, rememberedUntil),
  )
  return uses > 1 ? 'Token reuse detected' : undefined
}

/** Parses an assertion; returns undefined for any other text. */
export function parseAssertion(text: string | undefined): Assertion | undefined {
  if (text === undefined) return undefined
  try {
    return { text, algorithm: String(decodeProtectedHeader(text).alg), claims: decodeJwt(text) }
  } catch {
    return undefined
  }
}
