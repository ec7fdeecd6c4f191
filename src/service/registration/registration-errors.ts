// The errors of client registration. RFC 7591, section 3.2.2; RFC 6750, section 3.1.
import { failure, ServiceError } from '../context/errors.ts'
import type { PolicyRefusal } from './registration-policies.ts'

/** The refusal of a request by a client registration policy. */
export class PolicyRefusedError extends ServiceError {
  /** The name of the policy. */
  readonly policy: string
  constructor({ policy, reason }: PolicyRefusal) {
    super('forbidden', `Policy '${policy}' rejected request to client-registration service. Details: ${reason}`, {
      form: { error: 'insufficient_scope' },
    })
    this.policy = policy
  }
}

/** Creates the error for a token that is invalid or does not suffice. */
export const createTokenError = (message: string): ServiceError =>
  failure('unauthorized', message, { form: { error: 'invalid_token' } })

/** Creates the error for an administrator who lacks a permission. */
export const createForbiddenError = (): ServiceError =>
  failure('forbidden', 'Forbidden', { form: { error: 'insufficient_scope' } })

/** Creates the error for metadata that a client cannot have. */
export const createMetadataError = (message: string, cause?: unknown): ServiceError =>
  failure('invalid', message, { form: { error: 'invalid_client_metadata' }, cause })

/** Returns the error of a write as client registration reports it. */
export function toRegistrationError(error: unknown): unknown {
  if (!(error instanceof ServiceError)) return error
  const { code, form, message } = error
  if (code === 'conflict') return createMetadataError('Client Identifier in use', error)
  if (code !== 'invalid' || (typeof form === 'object' && form.error !== 'invalid_input')) return error
  const isRedirectUri = message.split('; ').some((problem) => problem.startsWith('A redirect URI'))
  if (!isRedirectUri) return createMetadataError(message, error)
  return failure('invalid', message, { form: { error: 'invalid_redirect_uri' }, cause: error })
}
