import { asHeader } from '../lib/http/header-value.ts'
import { Refusal, type RefusalEvent } from '../service/context/errors.ts'

/** An answer of an OAuth endpoint that says no. Never a secret in it. */
export class OAuthError extends Refusal {
  readonly status: number
  readonly error: string
  constructor(status: number, error: string, description: string, event?: RefusalEvent) {
    super(description, event)
    this.status = status
    this.error = error
  }
}

/** A page of another origin asks, which the client does not name. Its scripts may not even read that. */
export class OriginRefused extends OAuthError {
  constructor() {
    super(403, 'Invalid origin', '')
  }
}

/** A refusal of a request that shows a bearer token, or should. RFC 6750, section 3. */
export class BearerError extends Refusal {
  readonly status: number
  /** The WWW-Authenticate header. */
  readonly challenge: string
  constructor(status: number, realm: string, error?: string, why?: string) {
    const event = error === 'insufficient_scope' ? 'access_denied' : (error ?? 'invalid_token')
    super(why ?? 'no token', { error: event, reason: why ?? 'Missing token' })
    this.status = status
    const parts = Object.entries({ realm, error, error_description: why })
    const quoted = (text: string) => asHeader(text).replace(/["\\]/g, '\\$&')
    this.challenge = `Bearer ${parts.flatMap(([name, text]) => (text === undefined ? [] : [`${name}="${quoted(text)}"`])).join(', ')}`
  }
}
