// Rejects requests with texts that PostgreSQL cannot store: NUL and lone surrogates.
import type { FastifyRequest } from 'fastify'
import { isStorable } from '../kinds/fields.ts'
import { HttpError } from './errors.ts'
import { FIELD_LIMIT } from './server/limits.ts'

/** @throws HttpError 400 if the query or the form has too many fields */
export async function checkFieldCount({ query, body }: FastifyRequest): Promise<void> {
  for (const fields of [query, Buffer.isBuffer(body) ? undefined : body]) {
    if (Object.values(fields ?? {}).flat().length <= FIELD_LIMIT) continue
    const error_description = `The request has more than ${FIELD_LIMIT} query parameters or form fields.`
    throw new HttpError(400, { error: 'invalid_request', error_description })
  }
}

/** @throws HttpError 400 if the path, the query or the form has a text that cannot be stored */
export async function checkStorable({ params, query, body }: FastifyRequest): Promise<void> {
  // A body of bytes is parsed later, by the operation.
  if (isStorableValue([params, query, Buffer.isBuffer(body) ? undefined : body])) return
  throw new HttpError(400, {
    error: 'invalid_request',
    error_description: 'The request contains NUL or a lone surrogate.',
  })
}

/** An escape in JSON. */
const ESCAPE = /\\(?:u([\da-f]{4})|.)/gis

/** Whether all texts in the JSON can be stored. JSON in UTF-8 can contain NUL and lone surrogates only as escapes. */
export function isStorableJson(json: string): boolean {
  if (!/\\u(0000|d[89a-f])/i.test(json)) return true
  // The index at which the second half of a surrogate pair must be; -1 if none is expected.
  let low = -1
  for (const { 0: text, 1: hex, index } of json.matchAll(ESCAPE)) {
    const code = hex === undefined ? undefined : Number.parseInt(hex, 16)
    const isLow = code !== undefined && code >= 0xdc00 && code <= 0xdfff
    if (isLow !== (low === index) || (low !== -1 && !isLow) || code === 0) return false
    low = code !== undefined && code >= 0xd800 && code <= 0xdbff ? index + text.length : -1
  }
  return low === -1
}

/** Whether all texts in the value, including keys, can be stored. */
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
