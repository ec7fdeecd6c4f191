// Answers in gzip, for callers who take it.
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { tagInGzip } from '../conditions.ts'

const compress = promisify(gzip)

/** Below that, what gzip adds is more than what it saves. */
const WORTH_IT = 1024

/** A hook that compresses long texts for callers who accept gzip. */
export async function compressed(request: FastifyRequest, reply: FastifyReply, payload: unknown): Promise<unknown> {
  if (typeof payload !== 'string' || payload.length < WORTH_IT) return payload
  reply.header('vary', [reply.getHeader('vary'), 'accept-encoding'].filter(Boolean).join(', '))
  if (!acceptsGzip(String(request.headers['accept-encoding'] ?? ''))) return payload
  reply.header('content-encoding', 'gzip')
  const tag = reply.getHeader('etag')
  if (typeof tag === 'string') reply.header('etag', tagInGzip(tag))
  return compress(payload)
}

/** Whether the header names gzip, or anything, and not with a weight of nothing. */
function acceptsGzip(header: string): boolean {
  const weights = new Map(
    header.split(',').map((one) => {
      const [name, ...parameters] = one.split(';').map((part) => part.trim().toLowerCase())
      const weight = parameters.find((parameter) => parameter.startsWith('q='))
      return [name, weight === undefined ? 1 : Number(weight.slice(2))]
    }),
  )
  return (weights.get('gzip') ?? weights.get('*') ?? 0) > 0
}
