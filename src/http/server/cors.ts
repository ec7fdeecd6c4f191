// CORS headers. The origins of clients are checked in oidc/.
import type { FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods } from 'fastify'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Scripts of other origins may read the responses and these headers, unless their origin is refused. */
    readable?: { readonly headers?: string }
  }
}

/** Keycloak: the headers that a script may send; and those of conditional requests. */
const ALLOWED_HEADERS =
  'Origin, Accept, X-Requested-With, Access-Control-Request-Method, Access-Control-Request-Headers, DPoP, Content-Type, Authorization, If-Match, If-None-Match'

/** A hook that permits scripts to read responses of routes with `readable` in their `config`. */
export async function addCorsHeaders(request: FastifyRequest, reply: FastifyReply): Promise<void> {
  const { readable } = request.routeOptions.config
  if (readable) allowOrigin(reply, request.headers.origin, readable.headers)
}

/** Permits scripts of an origin to read the response and some of its headers. */
export function allowOrigin(reply: FastifyReply, origin: string | undefined, headers?: string): void {
  if (origin === undefined) return
  reply
    .header('vary', 'origin')
    .header('access-control-allow-origin', origin)
    .header('access-control-allow-credentials', 'true')
  if (headers) reply.header('access-control-expose-headers', headers)
}

/** Removes the CORS headers that allow scripts of other origins to read the response. */
export function disallowOrigins(reply: FastifyReply): void {
  for (const name of ['origin', 'credentials'] as const) reply.removeHeader(`access-control-allow-${name}`)
  reply.removeHeader('access-control-expose-headers')
}

/** Serves CORS preflight requests for a path. The origin is checked by the request itself. */
export function servePreflight(app: FastifyInstance, url: string, methods: readonly HTTPMethods[]): void {
  app.options(url, async ({ headers: { origin } }, reply) => {
    allowOrigin(reply, origin)
    if (origin !== undefined)
      reply.headers({
        'access-control-allow-methods': methods.join(', '),
        'access-control-allow-headers': ALLOWED_HEADERS,
        'access-control-max-age': 3600,
      })
    return reply.send()
  })
}
