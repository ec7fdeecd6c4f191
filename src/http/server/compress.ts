// Compresses responses for callers who accept gzip.
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { toGzipTag } from '../conditions.ts'

const compress = promisify(gzip)

/** Shorter texts are not worth compressing. */
const MIN_LENGTH = 1024

/** An onSend hook that compresses long texts for callers who accept gzip. */
export async function compressResponse(
  request: FastifyRequest,
  reply: FastifyReply,
  payload: unknown,
): Promise<unknown> {
  if (typeof payload !== 'string' || payload.length < MIN_LENGTH) return payload
  reply.header('vary', [reply.getHeader('vary'), 'accept-encoding'].filter(Boolean).join(', '))
  if (!acceptsGzip(String(request.headers['accept-encoding'] ?? ''))) return payload
  reply.header('content-encoding', 'gzip')
  const tag = reply.getHeader('etag')
  if (typeof tag === 'string') reply.header('etag', toGzipTag(tag))
  return compress(payload)
}

/** Whether Accept-Encoding has gzip or `*` with a weight above 0. */
function acceptsGzip(header: string): boolean {
  const weights = new Map(
    header.split(',').map((encoding) => {
      const [name, ...parameters] = encoding.split(';').map((part) => part.trim().toLowerCase())
      const weight = parameters.find((parameter) => parameter.startsWith('q='))
      return [name, weight === undefined ? 1 : Number(weight.slice(2))]
    }),
  )
  return (weights.get('gzip') ?? weights.get('*') ?? 0) > 0
}
