// The only place that knows statuses and Keycloak's forms of error bodies.

import { BearerError, OAuthError } from '../oidc/oauth-error.ts'
import { DocumentError } from '../realm-file/yaml/problem.ts'
import { ActionError } from '../reconcile/execute/action-error.ts'
import { StalePlanError } from '../reconcile/run/saved-plans.ts'
import { type ErrorCode, type ErrorForm, ServiceError } from '../service/context/errors.ts'
import { StoreUnreachable } from '../service/context/store-types.ts'

/** An error that only the HTTP layer detects, with its status and body. */
export class HttpError extends Error {
  readonly status: number
  readonly body: object
  constructor(status: number, body: object) {
    super(JSON.stringify(body))
    this.status = status
    this.body = body
  }
}

/** The response for an error. */
export interface ErrorAnswer {
  readonly status: number
  /** Absent: the response has no body. */
  readonly body?: object
  /** The WWW-Authenticate header. */
  readonly challenge?: string
  /** A fault of the server, which is logged. */
  readonly fault?: true
  /** Seconds after which the request can be repeated. */
  readonly retryAfter?: number
}

/** Status and usual body of each code. */
const responses: Readonly<Record<ErrorCode, { readonly status: number; readonly form: ErrorForm }>> = {
  not_found: { status: 404, form: 'error' },
  conflict: { status: 409, form: 'errorMessage' },
  invalid: { status: 400, form: 'errorMessage' },
  forbidden: { status: 403, form: 'error' },
  unauthorized: { status: 401, form: 'error' },
  stale: { status: 409, form: 'errorMessage' },
  lock_out: { status: 400, form: 'errorMessage' },
  managed: { status: 409, form: 'errorMessage' },
  lease_lost: { status: 409, form: 'errorMessage' },
  timeout: { status: 503, form: 'errorMessage' },
}

function toResponse({ code, form, message, reason, hidesReason }: ServiceError): ErrorAnswer {
  const { status, form: usualForm } = responses[code]
  const chosen = form ?? usualForm
  if (chosen === 'empty') return { status }
  if (chosen === 'errorMessage' || chosen === 'params') return { status, body: { errorMessage: message } }
  if (chosen !== 'error') return { status, body: { error: chosen.error, error_description: message } }
  const hasReason = reason !== undefined && !hidesReason
  return { status, body: { error: message, ...(hasReason && { error_description: reason }) } }
}

/** Returns the response to an error. `id` is the request id, which leads to the log entry of an internal error. */
export function errorResponse(error: unknown, id: string): ErrorAnswer {
  if (error instanceof ServiceError) {
    const response = toResponse(error)
    const { params, errors, violations } = error
    if (errors) return { ...response, body: { errors: errors.map((single) => errorResponse(single, id).body) } }
    if (violations) return { ...response, body: { ...response.body, violations } }
    const field = error.form === 'params' ? undefined : params?.[0]
    return params ? { ...response, body: { field, ...response.body, params } } : response
  }
  if (error instanceof HttpError) return { status: error.status, body: error.body }
  if (error instanceof OAuthError) return { status: error.status, body: oauthBody(error) }
  if (error instanceof BearerError) return { status: error.status, challenge: error.challenge }
  if (error instanceof ActionError) return actionResponse(error, id)
  if (error instanceof StalePlanError) return { status: 409, body: { errorMessage: error.message, stale: error.stale } }
  if (error instanceof DocumentError) return { status: 400, body: documentBody(error) }
  if (error instanceof StoreUnreachable) return { status: 503, body: UNREACHABLE, retryAfter: 1 }
  const { statusCode = 500, code } = error as { statusCode?: number; code?: string }
  // Fastify's own refusals: a body that is too large, a length that is wrong.
  if (statusCode < 500 && code?.startsWith('FST_'))
    return { status: statusCode, body: { error: `HTTP ${statusCode} ${(error as Error).message}` } }
  const body = {
    error: 'unknown_error',
    error_description: referToLog(id),
  }
  return { status: 500, body, fault: true }
}

/** OAuth's error code for a server that is overloaded or under maintenance. RFC 6749, section 4.1.2.1. */
const UNREACHABLE = {
  error: 'temporarily_unavailable',
  error_description: 'The database of the server cannot be reached. Repeat the request in a moment.',
}

const referToLog = (id: string): string => `For more on this error consult the server log: ${id}`

/** The error for a path without a route. */
export const notFound = (): HttpError => new HttpError(404, { error: 'HTTP 404 Not Found' })

/** The error for a path that has no route for the method. */
export const methodNotAllowed = (): HttpError => new HttpError(405, { error: 'HTTP 405 Method Not Allowed' })

/** Returns the response to a failed action of an apply: the action, its position and the reason. */
function actionResponse(error: ActionError, id: string): ErrorAnswer {
  const { cause } = error
  const { status, fault, retryAfter } = errorResponse(cause, id)
  // Messages of the database and the like go to the log only.
  const isPublic = cause instanceof ServiceError || cause instanceof DocumentError
  const message = isPublic ? error.describe() : error.describe(referToLog(id))
  const problems = error.problems.map((problem) => ({
    position: problem.position,
    message: isPublic ? problem.message : message,
  }))
  return {
    status,
    body: { error: 'action_failed', error_description: message, ...(problems.length && { problems }) },
    ...(fault && { fault }),
    ...(retryAfter !== undefined && { retryAfter }),
  }
}

function oauthBody({ error, message }: OAuthError): object {
  return { error, ...(message && { error_description: message }) }
}

function documentBody(error: DocumentError): object {
  return { error: 'invalid_request', error_description: error.message, problems: error.problems }
}
