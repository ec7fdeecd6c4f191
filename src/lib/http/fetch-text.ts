// Reading a document from another server, within limits.
import { sendRequest } from './http-request.ts'
import type { Outbound } from './outbound.ts'

/** What a document may be at most, in bytes, and how long it may take, in milliseconds. */
const LONGEST = 1_048_576
const TIMEOUT = 5_000

/** The text at an address. Throws with what keeps it from being read: another scheme, no answer, a refusal, too much. */
export async function fetchText(outbound: Outbound, address: string): Promise<string> {
  const { ok, status, text } = await sendRequest(outbound, address, { timeout: TIMEOUT, limit: LONGEST })
  if (!ok) throw new Error(`the answer was ${status}`)
  return text
}
