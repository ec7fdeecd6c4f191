// The only place that knows statuses and Keycloak's forms of error bodies.

import { describe } from '../kinds/tree.ts'
import { BearerError, OAuthError } from '../oidc/oauth-error.ts'
import { DocumentError } from '../realm-file/yaml/problem.ts'
import { ActionError } from '../reconcile/execute/apply.ts'
import { StalePlanError } from '../reconcile/run/saved.ts'
import { type ErrorCode, ServiceError } from '../service/context/errors.ts'

/** An answer that says no, for what only HTTP knows. */
export class HttpError extends Error {
  readonly status: number
  readonly body: object
  constructor(status: number, body: object) {
    super(JSON.stringify(body))
    this.status = status
    this.body = body
  }
}

/** An answer that says no. */
export interface ErrorAnswer {
  readonly status: number
  /** Absent: status and header say it all. */
  readonly body?: object
  /** The WWW-Authenticate header. */
  readonly challenge?: string
  /** Belongs into the log: it is nothing that the caller did. */
  readonly fault?: true
}

const forms: Readonly<Record<ErrorCode, (message: string, error: ServiceError) => ErrorAnswer>> = {
  not_found: (error) => ({ status: 404, body: { error } }),
  silent: () => ({ status: 404 }),
  absent: (errorMessage) => ({ status: 404, body: { errorMessage } }),
  conflict: (errorMessage) => ({ status: 409, body: { errorMessage } }),
  duplicate: (error_description) => ({ status: 409, body: { error: 'conflict', error_description } }),
  invalid: (errorMessage) => ({ status: 400, body: { errorMessage } }),
  invalid_input: (error_description) => ({ status: 400, body: { error: 'invalid_input', error_description } }),
  bad_request: (error_description) => ({ status: 400, body: { error: 'invalid_request', error_description } }),
  malformed: (error, { reason }) => ({
    status: 400,
    body: { error, ...(reason !== undefined && { error_description: reason }) },
  }),
  unmet: (error_description, { text }) => ({ status: 400, body: { error: text!.key, error_description } }),
  forbidden: (error, { reason, bare }) => ({
    status: 403,
    body: { error, ...(reason !== undefined && !bare && { error_description: reason }) },
  }),
  unauthorized: (error) => ({ status: 401, body: { error } }),
  changed: (errorMessage) => ({ status: 409, body: { errorMessage } }),
  owned: (errorMessage) => ({ status: 409, body: { errorMessage } }),
  lock_out: (errorMessage) => ({ status: 400, body: { errorMessage } }),
  fenced: (errorMessage) => ({ status: 409, body: { errorMessage } }),
  overdue: (errorMessage) => ({ status: 503, body: { errorMessage } }),
}

/** The answer to an error. `id` leads from an internal error to its entry in the log. */
export function errorAnswer(error: unknown, id: string): ErrorAnswer {
  if (error instanceof ServiceError) {
    const answer = forms[error.code](error.message, error)
    const { params, all } = error
    if (all) return { ...answer, body: { errors: all.map((one) => errorAnswer(one, id).body) } }
    return params ? { ...answer, body: { field: params[0], ...answer.body, params } } : answer
  }
  if (error instanceof HttpError) return { status: error.status, body: error.body }
  if (error instanceof OAuthError) return { status: error.status, body: oauthBody(error) }
  if (error instanceof BearerError) return { status: error.status, challenge: error.challenge }
  if (error instanceof ActionError) return actionAnswer(error, id)
  if (error instanceof StalePlanError) return { status: 409, body: { errorMessage: error.message, stale: error.stale } }
  if (error instanceof DocumentError) return { status: 400, body: documentBody(error) }
  const { statusCode = 500, code } = error as { statusCode?: number; code?: string }
  // Fastify's own refusals: a body that is too large, a length that is wrong.
  if (statusCode < 500 && code?.startsWith('FST_'))
    return { status: statusCode, body: { error: `HTTP ${statusCode} ${(error as Error).message}` } }
  const body = {
    error: 'unknown_error',
    error_description: consult(id),
  }
  return { status: 500, body, fault: true }
}

const consult = (id: string): string => `For more on this error consult the server log: ${id}`

/** No such address. */
export const notFound = (): HttpError => new HttpError(404, { error: 'HTTP 404 Not Found' })

/** The address exists, and the method does not. */
export const methodNotAllowed = (): HttpError => new HttpError(405, { error: 'HTTP 405 Method Not Allowed' })

/** An apply that failed: which action, where it is stated, and why. Nothing of it was kept. */
function actionAnswer({ action, cause, message: why }: ActionError, id: string): ErrorAnswer {
  const { status, fault } = errorAnswer(cause, id)
  // Of what nobody meant for callers, such as a database's words, only the log knows.
  const told = cause instanceof ServiceError || cause instanceof DocumentError
  const message = told ? why : consult(id)
  const text = `${action.operation} ${describe(action.kind, action.key)}: ${message}; nothing was changed`
  const problems = action.position && [{ position: action.position, message: text }]
  return {
    status,
    body: { error: 'action_failed', error_description: text, ...(problems && { problems }) },
    ...(fault && { fault }),
  }
}

function oauthBody({ error, message }: OAuthError): object {
  return { error, ...(message && { error_description: message }) }
}

function documentBody(error: DocumentError): object {
  return { error: 'invalid_request', error_description: error.message, problems: error.problems }
}
