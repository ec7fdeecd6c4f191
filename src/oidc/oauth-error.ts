import { KEY_ALGORITHMS } from '../kinds/key-providers.ts'
import { toHeaderValue } from '../lib/http/headers.ts'
import { type RefusalEvent, RuntimeRefusal } from '../service/context/errors.ts'

/** An error response of an OAuth endpoint. RFC 6749, section 5.2. It must not contain a secret. */
export class OAuthError extends RuntimeRefusal {
  readonly status: number
  readonly error: string
  constructor(
    status: number,
    error: string,
    { description, event }: { readonly description: string; readonly event?: RefusalEvent },
  ) {
    super(description, event)
    this.status = status
    this.error = error
  }
}

/** A page of an origin that is none of the client's web origins. Its scripts may not even read the response. */
export class OriginError extends OAuthError {
  constructor() {
    super(403, 'Invalid origin', { description: '' })
  }
}

/** An error response to a request with an access token, or without a required one. RFC 6750, section 3; RFC 9449, section 7.1. */
export class BearerError extends RuntimeRefusal {
  readonly status: number
  /** The WWW-Authenticate header. */
  readonly challenge: string
  constructor(
    status: number,
    realm: string,
    {
      error,
      description,
      scheme = 'Bearer',
    }: { readonly error?: string; readonly description?: string; readonly scheme?: 'Bearer' | 'DPoP' } = {},
  ) {
    const event = error === 'insufficient_scope' ? 'access_denied' : (error ?? 'invalid_token')
    super(description ?? 'no token', { error: event, reason: description ?? 'Missing token' })
    this.status = status
    const algs = scheme === 'DPoP' ? KEY_ALGORITHMS.join(' ') : undefined
    const parameters = Object.entries({ algs, realm, error, error_description: description })
    const quote = (text: string) => toHeaderValue(text).replace(/["\\]/g, '\\$&')
    const parts = parameters.flatMap(([name, text]) => (text === undefined ? [] : [`${name}="${quote(text)}"`]))
    this.challenge = `${scheme} ${parts.join(', ')}`
  }
}
