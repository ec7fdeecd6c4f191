import { sendRequest } from './http-request.ts'
import type { Outbound } from './outbound.ts'

/** In bytes. */
const LONGEST = 1_048_576
/** In milliseconds. */
const TIMEOUT = 5_000

/**
 * Returns the text at an address, of at most 1 MiB, within 5 seconds.
 * @throws Error that says why there is none: no response, a status other than success, an address that is not allowed, a text too long.
 */
export async function fetchText(outbound: Outbound, address: string): Promise<string> {
  const { ok, status, text } = await sendRequest(outbound, address, { timeout: TIMEOUT, limit: LONGEST })
  if (!ok) throw new Error(`the response has status ${status}`)
  return text
}
