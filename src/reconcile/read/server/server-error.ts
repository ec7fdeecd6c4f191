import { type Json, type Representation, readObject } from '../../../kinds/json.ts'
import { getFailureReason } from '../../../lib/http/http-request.ts'

/** A request to another server that failed. The message says why and what to do. */
export class ServerError extends Error {
  /** HTTP status; undefined where the server did not respond. */
  readonly status: number | undefined
  constructor(message: string, status?: number) {
    super(message)
    this.status = status
  }
}

/** Returns the error for a server that did not respond. */
export function toUnreachableError(url: string, error: Error): ServerError {
  return new ServerError(`${url} cannot be reached (${getFailureReason(error)}). Check the URL.`)
}

/** Parses the JSON object of a response; returns an empty object where the body is something else. */
export function parseBody(text: string): Representation {
  try {
    const body: Json = JSON.parse(text)
    return readObject(body)
  } catch {
    return {}
  }
}
