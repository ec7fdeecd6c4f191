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
