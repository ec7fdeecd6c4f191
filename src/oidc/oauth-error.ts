import { Refusal } from '../service/errors.ts'

/** An answer of an OAuth endpoint that says no. Never a secret in it. */
export class OAuthError extends Refusal {
  readonly status: number
  readonly error: string
  constructor(status: number, error: string, description: string) {
    super(description)
    this.status = status
    this.error = error
  }
}

/** A refusal of a request that shows a bearer token, or should. RFC 6750, section 3. */
export class BearerError extends Refusal {
  readonly status: number
  /** The WWW-Authenticate header. */
  readonly challenge: string
  constructor(status: number, realm: string, error?: string, why?: string) {
    super(why ?? 'no token')
    this.status = status
    const parts = Object.entries({ realm, error, error_description: why })
    const quoted = (text: string) => text.replace(/["\\]/g, '\\$&')
    this.challenge = `Bearer ${parts.flatMap(([name, text]) => (text === undefined ? [] : [`${name}="${quoted(text)}"`])).join(', ')}`
  }
}
