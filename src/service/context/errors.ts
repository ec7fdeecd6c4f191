// The family of errors that callers can do something about. Each surface renders them in one place.

/** What went wrong, by meaning. */
export type ErrorCode =
  /** There is no such thing, for this caller. */
  | 'not_found'
  /** Keycloak: as `not_found`, in the form of `invalid`. */
  | 'absent'
  /** Keycloak: as `not_found`, without a word. */
  | 'silent'
  /** The name is taken. */
  | 'conflict'
  /** Keycloak: as `conflict`, where its database noticed. */
  | 'duplicate'
  /** The input says something that cannot be. */
  | 'invalid'
  /** Keycloak: as `invalid`, in the words of its validators. */
  | 'invalid_input'
  /** Keycloak: as `invalid`, where the request itself is wrong. */
  | 'bad_request'
  /** Keycloak: as `invalid`, in yet another form. */
  | 'malformed'
  /** A password that the realm's policy refuses; `text` says why in a form that can be said in any language. */
  | 'unmet'
  /** The caller is known, and may not. */
  | 'forbidden'
  /** The caller is not known. */
  | 'unauthorized'
  /** Something that was counted on has changed meanwhile. */
  | 'changed'
  /** It would leave nobody who administers every realm, and the caller does not say that this is meant. */
  | 'lock_out'
  /** A source states it, and refuses that anybody else changes it. */
  | 'owned'
  /** Another process has taken over what this one did. */
  | 'fenced'
  /** It has taken longer than its caller lets it. */
  | 'overdue'

interface ErrorOptions {
  readonly detail?: string
  readonly cause?: unknown
  readonly params?: readonly (string | number | null)[]
  readonly all?: readonly ServiceError[]
  readonly text?: Text
  readonly reason?: string
  readonly bare?: true
}

/** A text that pages say in the language of their reader: its name among the texts of the realm, and what it speaks of. */
interface Text {
  readonly key: string
  readonly params: readonly (string | number)[]
}

/** An error that is the caller's to read: the message is theirs, the detail is for the log. Never a secret in either. */
export class ServiceError extends Error {
  readonly code: ErrorCode
  readonly detail: string | undefined
  /** Keycloak: what its validators say is a key of a text; this is what the text is about, the field first. */
  readonly params: readonly (string | number | null)[] | undefined
  /** What is wrong one by one, where it is more than one thing. */
  readonly all: readonly ServiceError[] | undefined
  /** The message, for pages. */
  readonly text: Text | undefined
  /** Why the caller is refused; `bare`, Keycloak: without a word over REST. */
  readonly reason: string | undefined
  readonly bare: boolean
  constructor(code: ErrorCode, message: string, options: ErrorOptions = {}) {
    super(message, { cause: options.cause })
    this.code = code
    this.detail = options.detail
    this.params = options.params
    this.all = options.all
    this.text = options.text
    this.reason = options.reason
    this.bare = options.bare === true
  }
}

/** Makes an error: `throw failure('not_found', 'Could not find client')`. */
export const failure = (code: ErrorCode, message: string, options?: ErrorOptions): ServiceError =>
  new ServiceError(code, message, options)

/** Whether a failure is that of a whole change, whatever single thing was being done. */
export function isOfAll(error: unknown): boolean {
  return error instanceof ServiceError && ['changed', 'lock_out', 'fenced', 'overdue'].includes(error.code)
}

/** What an event tells of a refusal: Keycloak's word for it, and the words of the answer where the event has them too. */
export interface RefusalEvent {
  readonly error: string
  readonly reason?: string
}

/**
 * A runtime call that is refused: what was written before, such as a count of failures, is kept. See `Service.runtime`.
 * Any other error undoes everything.
 */
export class Refusal extends Error {
  /** Absent: no event tells of it. */
  readonly event: RefusalEvent | undefined
  constructor(message: string, event?: RefusalEvent) {
    super(message)
    this.event = event
  }
}
