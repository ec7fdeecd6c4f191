// By which names the server is called, where no setting says which is its own: links in mails are made of them.
import type { FastifyRequest } from 'fastify'
import { isLoopback } from '../../lib/http/loopback.ts'
import { HttpError } from '../errors.ts'

/**
 * A hook that refuses requests whose Host is neither a name of this machine alone, with any port, nor `own`: the address that the
 * server listens at.
 */
export function believedHosts(own: string): (request: FastifyRequest) => Promise<void> {
  const bare = own.replace(/^\[(.*)\]$/, '$1')
  return async ({ host }) => {
    const [, v6, plain = v6 ?? ''] = /^(?:\[([\da-f:.]+)\]|([\w.-]+))(?::\d{1,5})?$/i.exec(host) ?? []
    const name = plain.toLowerCase()
    if (isLoopback(name) || name.endsWith('.localhost') || name === bare) return
    const error_description =
      'The server does not know the host that the request names. Call it as localhost, or start it with --hostname.'
    throw new HttpError(400, { error: 'invalid_request', error_description })
  }
}
