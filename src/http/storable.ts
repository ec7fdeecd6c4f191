// No store keeps NUL or half a surrogate pair: requests that hold one are refused before anything is done with them.
import type { FastifyRequest } from 'fastify'
import { isStorable } from '../kinds/fields.ts'
import { HttpError } from './errors.ts'

/** Throws HttpError when the address, the query or the form of the request holds what cannot be kept. */
export async function demandStorable({ params, query, body }: FastifyRequest): Promise<void> {
  // A body of bytes is read later, by the operation.
  if (allStorable([params, query, Buffer.isBuffer(body) ? undefined : body])) return
  throw new HttpError(400, { error: 'invalid_request', error_description: 'NUL and lone surrogates are no text' })
}

/** Whether every text in the value can be kept, keys among them. */
export function allStorable(value: unknown): boolean {
  const left = [value]
  while (left.length) {
    const one = left.pop()
    if (typeof one === 'string') {
      if (!isStorable(one)) return false
    } else if (one !== null && typeof one === 'object') {
      for (const [key, inner] of Object.entries(one)) left.push(key, inner)
    }
  }
  return true
}
