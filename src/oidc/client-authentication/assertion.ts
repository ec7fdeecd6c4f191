// Assertions: tokens that clients sign about themselves. RFC 7523. Keycloak: AbstractJWTClientValidator.
import { decodeJwt, decodeProtectedHeader, errors, type JWTPayload } from 'jose'
import { isStorable } from '../../kinds/fields.ts'
import { secondsOf } from '../../lib/seconds.ts'
import { SYSTEM } from '../../service/context/service.ts'
import { timesUsed } from '../../service/context/single-use.ts'
import type { LiveObject } from '../../service/objects/live.ts'
import { OAuthError } from '../oauth-error.ts'
import { issuerOf } from '../realm.ts'
import { statedCredentials } from './client-secret.ts'
import { type Attempt, type Outcome, type TokenRequest, unknownClient } from './method.ts'

const TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'
/** Clocks differ by so many seconds. */
const SKEW = 15
/** Assertions live no longer than this, in seconds, unless the client's settings say so. */
const MAX_LIFESPAN = 60

/** An assertion that was read, and is not verified yet. */
export interface Assertion {
  readonly text: string
  readonly algorithm: string
  readonly claims: JWTPayload
}

/** Verifies the signature. Throws what jose throws, and OAuthError. */
export type VerifySignature = (attempt: Attempt, client: LiveObject, assertion: Assertion) => Promise<void>

/** How a method tells assertions apart that are for it. */
export interface AssertionMethod {
  readonly id: string
  readonly accepts: (algorithm: string) => boolean
  readonly verify: VerifySignature
  /** What is said of a signature that is wrong. */
  readonly wrong: () => OAuthError
}

/** A refusal that says what is wrong with an assertion. */
export const refuse = (reason: string, error = 'invalid_client_credentials'): OAuthError =>
  new OAuthError(400, 'invalid_client', reason, { error, reason })

/** The client that a request says to come from by its assertion. */
export function assertedClient({ form }: TokenRequest): string | undefined {
  const { iss, sub } = read(form.client_assertion)?.claims ?? {}
  // Keycloak: what others sign about a client is none of its own assertions.
  return typeof sub === 'string' && iss === sub ? sub : undefined
}

/** What an assertion says of itself, for the event that tells of the request. */
export function assertionDetails({ form }: TokenRequest): Record<string, string | undefined> {
  const claims: Record<string, unknown> = read(form.client_assertion)?.claims ?? {}
  const text = (name: string) => (typeof claims[name] === 'string' ? claims[name] : undefined)
  return { client_assertion_id: text('jti'), client_assertion_issuer: text('iss'), client_assertion_sub: text('sub') }
}

/** What an assertion proves. */
export async function byAssertion(attempt: Attempt, method: AssertionMethod): Promise<Outcome> {
  const { request, clients } = attempt
  const { client_assertion_type: type, client_assertion: text, client_id: stated } = request.form
  const { id } = statedCredentials(request)
  const before = id === undefined ? undefined : clients.get(id)
  const problem = (why: string): Outcome => ({ client: before, problem: refuse(why) })
  if (type === undefined) return problem('Parameter client_assertion_type is missing')
  if (type !== TYPE) return problem(`Parameter client_assertion_type has value '${type}' but expected is '${TYPE}'`)
  if (text === undefined) return problem('client_assertion parameter missing')
  const assertion = read(text)
  if (!assertion) return { client: before, problem: method.wrong() }
  const sub = assertedClient(request)
  if (sub === undefined) return { client: before, problem: unknownClient() }
  if (stated !== undefined && stated !== sub) return problem('client_id parameter does not match sub claim')
  const client = clients.get(sub)
  attempt.notes.client = client?.key[0] ?? attempt.notes.client
  if (client?.representation.enabled !== true) return { client, problem: unknownClient(client) }
  if (client.representation.clientAuthenticatorType !== method.id) return { client }
  return { client, problem: await problemOf(attempt, client, assertion, method) }
}

async function problemOf(attempt: Attempt, client: LiveObject, assertion: Assertion, method: AssertionMethod) {
  const attributes = (client.representation.attributes ?? {}) as Record<string, string>
  const only = attributes['token.endpoint.auth.signing.alg']
  if (!method.accepts(assertion.algorithm) || (only && only !== assertion.algorithm))
    return refuse('Invalid signature algorithm')
  try {
    await method.verify(attempt, client, assertion)
  } catch (error) {
    if (error instanceof OAuthError) return error
    if (error instanceof errors.JOSEError || error instanceof TypeError) return method.wrong()
    throw error
  }
  const longest = Number(attributes['token.endpoint.auth.signing.max.exp']) || MAX_LIFESPAN
  const why = audienceProblem(attempt, assertion.claims) ?? timeProblem(attempt, assertion.claims, longest)
  return why === undefined ? reuseProblem(attempt, client, assertion.claims, longest) : refuse(why)
}

function audienceProblem({ realm, base }: Attempt, { aud }: JWTPayload): string | undefined {
  const audiences = [aud ?? []].flat()
  const issuer = issuerOf(base, realm.name)
  const endpoint = `${issuer}/protocol/openid-connect/token`
  if (!audiences.some((one) => [issuer, endpoint, `${endpoint}/introspect`].includes(one)))
    return 'Invalid token audience'
  // An assertion for several servers could be used at one of them by another.
  return audiences.length > 1 ? 'Multiple audiences not allowed' : undefined
}

/** What is no number is never in time. */
function timeProblem({ realm }: Attempt, { exp, iat, nbf }: JWTPayload, longest: number): string | undefined {
  const now = secondsOf(realm.now)
  if (typeof exp !== 'number') return 'Token exp claim is required'
  if (exp <= now || (nbf !== undefined && !(nbf - SKEW <= now))) return 'Token is not active'
  if (iat === undefined)
    return exp - now > longest
      ? 'Token expiration is too far in the future and iat claim not present in token'
      : undefined
  if (!(iat - SKEW <= now)) return 'Token was issued in the future'
  return now > iat + longest ? 'Token was issued too far in the past to be used now' : undefined
}

async function reuseProblem(
  { service, realm }: Attempt,
  { id }: LiveObject,
  { jti, exp }: JWTPayload,
  longest: number,
) {
  if (typeof jti !== 'string' || !isStorable(jti)) return refuse('Token jti claim is required')
  // It is too old to be used before its id is forgotten.
  const forgotten = new Date(Math.min(exp!, secondsOf(realm.now) + longest + SKEW) * 1000)
  const uses = await service.runtime(SYSTEM, realm, (context) =>
    timesUsed(context, `assertion ${id} ${jti}`, forgotten),
  )
  return uses > 1 ? refuse('Token reuse detected') : undefined
}

function read(text: string | undefined): Assertion | undefined {
  if (text === undefined) return undefined
  try {
    return { text, algorithm: String(decodeProtectedHeader(text).alg), claims: decodeJwt(text) }
  } catch {
    return undefined
  }
}
