// The errors of the service, by meaning. Each interface renders them in one place.

/** The meaning of an error. */
export type ErrorCode =
  /** The object does not exist, or the caller may not see it. */
  | 'not_found'
  /** A name or an id is taken, or the state of the object forbids the operation. */
  | 'conflict'
  /** The input is invalid. */
  | 'invalid'
  /** The caller is authenticated, but lacks a permission. */
  | 'forbidden'
  /** The caller is not authenticated. */
  | 'unauthorized'
  /** A precondition no longer holds: something has changed since it was read or planned. */
  | 'stale'
  /** The change would leave no administrator of all realms, or lock out the caller, and was not confirmed. */
  | 'lock_out'
  /** A source manages the object or field and refuses other changes. */
  | 'managed'
  /** Another process has taken over the lease. */
  | 'lease_lost'
  /** The deadline of the caller has passed. */
  | 'timeout'

/** Keycloak: a response body that differs from the usual one of the code: see http/errors.ts, the only reader. */
export type ErrorForm =
  /** The message is the member `error`. */
  | 'error'
  /** The message is the member `errorMessage`. */
  | 'errorMessage'
  /** The message is the member `errorMessage`, beside the params. */
  | 'params'
  /** No body. */
  | 'empty'
  /** The message is the member `error_description`, beside this `error`. */
  | { readonly error: string }

interface ErrorOptions {
  readonly form?: ErrorForm
  readonly detail?: string
  readonly cause?: unknown
  readonly params?: readonly (string | number | null)[]
  readonly errors?: readonly ServiceError[]
  readonly violations?: readonly string[]
  readonly pageText?: PageText
  readonly reason?: string
  readonly hidesReason?: true
  readonly field?: string
}

/** A message for pages, translated into the language of the reader. */
interface PageText {
  /** Key in the texts of the realm. */
  readonly key: string
  /** Values of the placeholders. */
  readonly params: readonly (string | number)[]
}

/** An error that the caller may read. Neither the message nor the detail contains a secret. */
export class ServiceError extends Error {
  readonly code: ErrorCode
  readonly form: ErrorForm | undefined
  /** For the log only. */
  readonly detail: string | undefined
  /** Keycloak: messages of its validators are keys of texts; these are the values of the placeholders, the field first. */
  readonly params: readonly (string | number | null)[] | undefined
  /** The single errors, where there is more than one. */
  readonly errors: readonly ServiceError[] | undefined
  /** Keycloak: the violated rules in its API of version 2, each as field and message. */
  readonly violations: readonly string[] | undefined
  /** The message for pages. */
  readonly pageText: PageText | undefined
  /** The reason for a refusal. */
  readonly reason: string | undefined
  /** Keycloak: the response of REST does not contain the reason. */
  readonly hidesReason: boolean
  /** The path of the refused field, such as `smtpServer.from`. A document declares it at a position of its own. */
  readonly field: string | undefined
  constructor(code: ErrorCode, message: string, options: ErrorOptions = {}) {
    super(message, { cause: options.cause })
    this.code = code
    this.form = options.form
    this.detail = options.detail
    this.params = options.params
    this.errors = options.errors
    this.violations = options.violations
    this.pageText = options.pageText
    this.reason = options.reason
    this.hidesReason = options.hidesReason === true
    this.field = options.field
  }
}

/** Creates an error: `throw failure('not_found', 'Could not find client')`. */
export const failure = (code: ErrorCode, message: string, options?: ErrorOptions): ServiceError =>
  new ServiceError(code, message, options)

/** A problem of an object, and the path of the field to correct. */
export interface ObjectProblem {
  readonly message: string
  readonly field: string
}

/** Creates the error of an object with a problem. */
export const invalidObject = ({ message, field }: ObjectProblem): ServiceError => failure('invalid', message, { field })

/** Creates the error of a unique constraint. Keycloak: without the name. */
export const duplicateResource = (options?: Pick<ErrorOptions, 'detail' | 'cause'>): ServiceError =>
  failure('conflict', 'Duplicate resource error', { form: { error: 'conflict' }, ...options })

/** Whether an error concerns the whole change rather than the single action that was being executed. */
export function concernsWholeChange(error: unknown): boolean {
  return error instanceof ServiceError && ['stale', 'lock_out', 'lease_lost', 'timeout'].includes(error.code)
}

/** The user event of a refusal: Keycloak's error code, and the reason if the event contains it. */
export interface RefusalEvent {
  readonly error: string
  readonly reason?: string
}

/**
 * Refuses a runtime call, and commits what it wrote before, such as a count of failures: see `Service.writeRuntime`.
 * Any other error rolls back the transaction.
 */
export class RuntimeRefusal extends Error {
  /** Absent: no user event is recorded. */
  readonly event: RefusalEvent | undefined
  constructor(message: string, event?: RefusalEvent) {
    super(message)
    this.event = event
  }
}
