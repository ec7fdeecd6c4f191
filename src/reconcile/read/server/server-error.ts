import { reasonOf } from '../../../lib/http/http-request.ts'

/** A server did not give what it was asked for: what, and what to do. */
export class ServerError extends Error {
  /** Absent: it did not answer. */
  readonly status: number | undefined
  constructor(message: string, status?: number) {
    super(message)
    this.status = status
  }
}

/** What is thrown where no answer came from the server. */
export function unreachable(base: string, error: Error): ServerError {
  return new ServerError(`nobody answers at ${base} (${reasonOf(error)}): look at the address`)
}
