// Checks the targets of requests: the path, and the Host header if no host name is configured, since links in emails are built from it.
import type { FastifyRequest } from 'fastify'
import { isLoopback } from '../../lib/http/loopback.ts'
import { HttpError } from '../errors.ts'

/**
 * Returns a hook that refuses requests whose Host is neither a loopback name nor `listenAddress`.
 */
export function checkHost(listenAddress: string): (request: FastifyRequest) => Promise<void> {
  const bare = listenAddress.replace(/^\[(.*)\]$/, '$1')
  return async ({ host }) => {
    const [, v6, plain = v6 ?? ''] = /^(?:\[([\da-f:.]+)\]|([\w.-]+))(?::\d{1,5})?$/i.exec(host) ?? []
    const name = plain.toLowerCase()
    if (isLoopback(name) || name.endsWith('.localhost') || name === bare) return
    const error_description =
      'The Host header of the request is not a host name of this server. Use localhost, or start the server with --hostname.'
    throw new HttpError(400, { error: 'invalid_request', error_description })
  }
}

/** An empty segment, or one of dots, also encoded. */
const NOT_NORMALIZED = /\/\/|\/(?:\.|%2e){1,2}(?:\/|$)/i

/** A hook that refuses paths that are not normalized. Keycloak: they could pass the rules of a proxy. */
export async function checkPath({ originalUrl }: FastifyRequest): Promise<void> {
  if (!NOT_NORMALIZED.test(originalUrl.split('?', 1)[0]!)) return
  throw new HttpError(400, { error: 'missingNormalization', error_description: 'Request path not normalized' })
}
