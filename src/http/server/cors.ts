// What scripts of other origins may read. Which origins a client has, oidc/ knows; here are the headers.
import type { FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods } from 'fastify'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Scripts of other origins may read the answers: of any origin, but for those that are refused. Further headers that they may read. */
    readable?: { readonly headers?: string }
  }
}

/** Keycloak: what a script may send; and conditions. */
const SENT =
  'Origin, Accept, X-Requested-With, Access-Control-Request-Method, Access-Control-Request-Headers, DPoP, Content-Type, Authorization, If-Match, If-None-Match'

/** Lets scripts read the answers of routes that say so in their `config`. */
export async function showReadable(request: FastifyRequest, reply: FastifyReply): Promise<void> {
  const { readable } = request.routeOptions.config
  if (readable) showTo(reply, request.headers.origin, readable.headers)
}

/** Lets scripts of that origin read the answer, and those of its headers. */
export function showTo(reply: FastifyReply, origin: string | undefined, headers?: string): void {
  if (origin === undefined) return
  reply
    .header('vary', 'origin')
    .header('access-control-allow-origin', origin)
    .header('access-control-allow-credentials', 'true')
  if (headers) reply.header('access-control-expose-headers', headers)
}

/** Takes back that scripts may read the answer. */
export function showToNobody(reply: FastifyReply): void {
  for (const name of ['origin', 'credentials'] as const) reply.removeHeader(`access-control-allow-${name}`)
  reply.removeHeader('access-control-expose-headers')
}

/** Answers what browsers ask before a script calls: which methods there are. Who may call is told by the answer to the call. */
export function preflight(app: FastifyInstance, url: string, methods: readonly HTTPMethods[]): void {
  app.options(url, async ({ headers: { origin } }, reply) => {
    showTo(reply, origin)
    if (origin !== undefined)
      reply.headers({
        'access-control-allow-methods': methods.join(', '),
        'access-control-allow-headers': SENT,
        'access-control-max-age': 3600,
      })
    return reply.send()
  })
}
