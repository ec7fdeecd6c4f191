// The scope of each request: its id, which logs, errors and the header X-Request-Id have, and its span.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { parseTraceparent, type RequestScope, runInScope } from '../../lib/request-scope.ts'
import { type Span, startSpan } from '../../lib/tracing.ts'

const scopes = new WeakMap<FastifyRequest, RequestScope>()

/** Runs the handlers of each request in its scope, and traces it. Call it before other hooks are added. */
export function traceRequests(app: FastifyInstance): void {
  app.addHook('onRequest', (request, reply, done) => {
    const parent = parseTraceparent(request.headers.traceparent)
    const span = isProbe(request)
      ? undefined
      : startSpan({
          name: getSpanName(request),
          kind: 'server',
          parent,
          attributes: {
            'http.request.method': request.method,
            'http.route': getRoute(request),
            'url.scheme': request.protocol,
            'server.address': request.hostname,
            'network.protocol.version': request.raw.httpVersion,
            'regent.operation': request.routeOptions.config.operation,
            'regent.request_id': request.id,
          },
        })
    const scope = { requestId: request.id, trace: span?.context ?? parent }
    scopes.set(request, scope)
    reply.header('x-request-id', request.id)
    if (span) endWithResponse(span, reply)
    runInScope(scope, done)
  })
  // The body arrives in events of the socket, which have no scope.
  app.addHook('preValidation', (request, _reply, done) => runInScope(scopes.get(request) ?? {}, done))
  app.addHook('onError', (request, ...[, , done]) => runInScope(scopes.get(request) ?? {}, done))
}

/** Whether a request comes from monitoring, which is not traced. */
const isProbe = ({ routeOptions: { url = '' } }: FastifyRequest): boolean => /^\/(?:metrics|health\/)/.test(url)

/** Ends the span of a request when its response is sent, or the client has closed the connection. */
function endWithResponse(span: Span, reply: FastifyReply): void {
  reply.raw.once('close', () => {
    const { statusCode, writableFinished } = reply.raw
    span.setAttributes({ 'http.response.status_code': statusCode })
    if (!writableFinished) span.fail('aborted')
    else if (statusCode >= 500) span.fail(String(statusCode))
    span.end()
  })
}

/** Returns the route of a request, with parameters in braces. Paths would name users, and may contain secrets. */
function getRoute({ routeOptions: { config, url } }: FastifyRequest): string | undefined {
  return config.route ?? url?.replace(/:(\w+)/g, '{$1}')
}

function getSpanName(request: FastifyRequest): string {
  const route = getRoute(request)
  return route === undefined ? request.method : `${request.method} ${route}`
}
