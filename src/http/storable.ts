// No store keeps NUL or half a surrogate pair: requests that hold next are refused before anything is done with them.
import type { FastifyRequest } from 'fastify'
import { isStorable } from '../kinds/fields.ts'
import { HttpError } from './errors.ts'
import { FIELD_LIMIT } from './server/limits.ts'

/** Throws HttpError when the query or the form of the request has more fields than any has that is meant. */
export async function demandFewFields({ query, body }: FastifyRequest): Promise<void> {
  for (const fields of [query, Buffer.isBuffer(body) ? undefined : body]) {
    if (Object.values(fields ?? {}).flat().length <= FIELD_LIMIT) continue
    const error_description = `More than ${FIELD_LIMIT} parameters or fields of a form`
    throw new HttpError(400, { error: 'invalid_request', error_description })
  }
}

/** Throws HttpError when the address, the query or the form of the request holds what cannot be kept. */
export async function demandStorable({ params, query, body }: FastifyRequest): Promise<void> {
  // A body of bytes is read later, by the operation.
  if (isStorableValue([params, query, Buffer.isBuffer(body) ? undefined : body])) return
  throw new HttpError(400, { error: 'invalid_request', error_description: 'NUL and lone surrogates are no text' })
}

/** An escape of JSON, as a parser reads them next after the other. */
const ESCAPE = /\\(?:u([\da-f]{4})|.)/gis

/** Whether every text in the JSON can be kept. Text that was UTF-8 can hold what cannot be kept in escapes only. */
export function isStorableJson(json: string): boolean {
  if (!/\\u(0000|d[89a-f])/i.test(json)) return true
  // Where a pair whose first half was read is to end.
  let low = -1
  for (const { 0: text, 1: hex, index } of json.matchAll(ESCAPE)) {
    const code = hex === undefined ? undefined : Number.parseInt(hex, 16)
    const isLow = code !== undefined && code >= 0xdc00 && code <= 0xdfff
    if (isLow !== (low === index) || (low !== -1 && !isLow) || code === 0) return false
    low = code !== undefined && code >= 0xd800 && code <= 0xdbff ? index + text.length : -1
  }
  return low === -1
}

/** Whether every text in the value can be kept, keys among them. */
export function isStorableValue(value: unknown): boolean {
  const remaining = [value]
  while (remaining.length) {
    const next = remaining.pop()
    if (typeof next === 'string') {
      if (!isStorable(next)) return false
    } else if (next !== null && typeof next === 'object') {
      for (const [key, inner] of Object.entries(next)) remaining.push(key, inner)
    }
  }
  return true
}
