// The HTTP server: its routes, and the headers of all responses.
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest, LogController } from 'fastify'
import type { JsonSchema } from '../kinds/json-schema.ts'
import { getLogFields, toRequestId } from '../lib/request-scope.ts'
import { memoize } from '../lib/timing/memoize.ts'
import type { ProgressListener } from '../lib/timing/progress.ts'
import { OriginError } from '../oidc/oauth-error.ts'
import { CODE_PAGE } from '../oidc/redirect-uris.ts'
import { createDocumentSchema } from '../realm-file/resources/document-schema.ts'
import { failure } from '../service/context/errors.ts'
import type { Caller, Service } from '../service/context/service.ts'
import { StoreUnreachable } from '../service/context/store-types.ts'
import { operations as adminOperations } from './admin/index.ts'
import { authenticate } from './authenticate.ts'
import { omitUnchangedBody } from './conditions.ts'
import { errorResponse, notFound } from './errors.ts'
import { addOidcRoutes } from './oidc.ts'
import { openApi } from './openapi.ts'
import { regentBackupOperations } from './regent/backup.ts'
import { regentChangeOperations } from './regent/changes.ts'
import { regentDriftOperations } from './regent/drift.ts'
import { regentHistoryOperations } from './regent/history.ts'
import { regentOperations } from './regent/index.ts'
import { regentInspectOperations } from './regent/inspect.ts'
import { regentPlanOperations } from './regent/plans.ts'
import { previewOperations } from './regent/previews.ts'
import { secretOperations } from './regent/secrets.ts'
import { regentSourceOperations } from './regent/sources.ts'
import { regentUnmanagedOperations } from './regent/unmanaged.ts'
import { serveWebhook, type Webhook, webhookPath } from './regent/webhook.ts'
import { registerOperations } from './register.ts'
import { SERVER_OPTIONS } from './server/bounded-response.ts'
import { findCertificates } from './server/client-certificates.ts'
import { compressResponse } from './server/compress.ts'
import type { ConsoleTheme } from './server/console-theme.ts'
import { disallowOrigins } from './server/cors.ts'
import { addHealthRoutes, getOutageLog, type OutageLog } from './server/health.ts'
import { renderCodePage, renderHomePage, renderMissingPage } from './server/home.ts'
import { REQUEST_TIME, UNAUTHENTICATED_LIMIT } from './server/limits.ts'
import { separateManagement } from './server/management-port.ts'
import { normalizeForwardedHeaders, type ProxySettings, toTrustedAddresses } from './server/proxies.ts'
import { checkHost, checkPath } from './server/request-target.ts'
import { traceRequests } from './server/trace-requests.ts'
import { checkFieldCount, checkStorable } from './storable.ts'

/** The options of the server. */
export interface ServerOptions {
  /** Base URL under which clients reach the server. Absent: the one of each request. */
  readonly hostname?: string | undefined
  /** The listen address. Without hostname and proxies, the Host of a request must be it or this machine. Absent: any host is accepted. */
  readonly ownHost?: string | undefined
  /** Trusted proxies; absent: none. */
  readonly proxies?: ProxySettings | undefined
  /** Whether clients can authenticate by TLS certificates, to this server or to a proxy. */
  readonly clientCertificates?: boolean
  /** Path of the legacy admin API, such as `/v1`. */
  readonly basePath?: string | undefined
  readonly logLevel?: string | undefined
  /** The destination of the log. Absent: standard output. */
  readonly logTo?: { write(line: string): void }
  /** Whether the home page lists the realms, without authentication. */
  readonly showRealms?: boolean
  /** Whether /metrics is served. */
  readonly metrics?: boolean
  /** Whether the metrics and health endpoints are on the management port only. */
  readonly hasManagementPort?: boolean
  /** Whether the API reference is served, at /docs. */
  readonly apiReference?: boolean
  /** Whether the web console is served, at /console. */
  readonly console?: boolean
  /** Keycloak's admin console, to be served at its addresses. Absent: these lead to the web console. */
  readonly adminConsole?: ConsoleTheme | undefined
  /** The webhook for pushes to git repositories. Absent: it is disabled. */
  readonly webhook?: Webhook | undefined
  /** The caller of requests in this process, which have no token. */
  readonly caller?: Caller
  /** Receives the progress of requests in this process. */
  readonly progressListener?: ProgressListener
}

/** All operations of the server. */
export const operations = [
  ...adminOperations,
  ...regentOperations,
  ...regentInspectOperations,
  ...regentChangeOperations,
  ...regentDriftOperations,
  ...regentHistoryOperations,
  ...regentSourceOperations,
  ...regentUnmanagedOperations,
  ...secretOperations,
  ...regentPlanOperations,
  ...previewOperations,
  ...regentBackupOperations,
]

let openApiDocument: JsonSchema | undefined

/** Returns the OpenAPI document, which is created on first use. */
export function description(): JsonSchema {
  openApiDocument ??= openApi(operations, webhookPath)
  return openApiDocument
}

/** Keycloak: the headers of every response, unless a page sets others, or an empty value to omit one. */
const SECURITY_HEADERS = Object.entries({
  'referrer-policy': 'no-referrer',
  'strict-transport-security': 'max-age=31536000; includeSubDomains',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'SAMEORIGIN',
  'x-robots-tag': 'none',
})

function addSecurityHeaders(reply: FastifyReply): void {
  for (const [name, value] of SECURITY_HEADERS) {
    const pageValue = reply.getHeader(name)
    if (pageValue === undefined) reply.header(name, value)
    else if (pageValue === '') reply.removeHeader(name)
  }
}

/** Keycloak: JSON has no charset, unless an operation returns a representation. Clients such as kcadm.sh compare the whole header. */
function removeCharset(reply: FastifyReply): void {
  if (reply.getHeader('content-type') === 'application/json; charset=utf-8')
    reply.header('content-type', 'application/json')
}

/** Creates the server of a service. The caller starts and closes it; closing leaves the service open. */
export async function createServer(service: Service, options: ServerOptions = {}): Promise<FastifyInstance> {
  const {
    hostname,
    webhook,
    caller,
    progressListener,
    showRealms = false,
    clientCertificates: acceptsCertificates = false,
  } = options
  if (!caller) service.cache.start()
  const app = createApp(options)
  const baseOf = (request: FastifyRequest) => hostname ?? getRequestBase(request)
  addHooks(app, options)
  // Loaded on demand: commands start faster without it.
  if (options.metrics) {
    const isPublic = options.hasManagementPort !== true
    await (await import('./server/metrics.ts')).serveMetrics(app, service, { isPublic })
  }
  const outages = getOutageLog(app, service)
  const linksOf = (request: FastifyRequest) => ({ base: baseOf(request), hasConsole: options.console === true })
  app.setErrorHandler((error, request, reply) => {
    if (error instanceof StoreUnreachable) outages.report(error)
    if (request.is404 && isOfBrowser(request))
      return reply
        .code(404)
        .type('text/html; charset=utf-8')
        .send(renderMissingPage(linksOf(request), request.url))
    return sendError(error, request, reply)
  })
  app.setNotFoundHandler(async () => Promise.reject(notFound()))
  logUserEvents(app, service)
  service.warn = (message) => app.log.warn(message)

  await app.register(async (scope) => {
    const authenticateRequest = async (request: FastifyRequest) =>
      caller ?? authenticate(service, request, { base: baseOf(request), issuer: hostname })
    const adminTexts = options.adminConsole?.getTexts
    registerOperations(
      scope,
      { service, authenticate: authenticateRequest, baseOf, progressListener, adminTexts },
      operations,
    )
  })
  await app.register((scope) => addOidcRoutes(scope, service, { baseOf, acceptsCertificates }))
  if (webhook) await app.register(async (scope) => serveWebhook(scope, webhook))
  await app.register(async (scope) => addServerRoutes(scope, service, outages))
  if (options.apiReference) await app.register((await import('./server/api-reference.ts')).serveApiReference)
  await addConsoles(app, service, { ...options, baseOf })
  app.get('/', async (request, reply) => {
    const names = showRealms ? (await service.listRealms()).map(({ name }) => name) : []
    return reply.type('text/html; charset=utf-8').send(renderHomePage(linksOf(request), names))
  })
  return app
}

/** Adds the pages of the console, of Keycloak's admin console, and of log-ins with the command line. */
async function addConsoles(
  app: FastifyInstance,
  service: Service,
  {
    console: hasConsole,
    adminConsole,
    baseOf,
  }: Pick<ServerOptions, 'console' | 'adminConsole'> & { readonly baseOf: (request: FastifyRequest) => string },
): Promise<void> {
  if (hasConsole)
    await app.register((await import('./server/console.ts')).serveConsole, { baseOf, hasAdminConsole: !!adminConsole })
  if (adminConsole)
    await app.register((await import('./server/admin-console.ts')).serveAdminConsole, {
      theme: adminConsole,
      service,
      baseOf,
    })
  app.get<{ Querystring: Record<string, unknown> }>(CODE_PAGE, async ({ query }, reply) => {
    reply.headers({ 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' })
    return reply.type('text/html; charset=utf-8').send(renderCodePage(query))
  })
}

/** Whether a user opens the address in a browser, which accepts HTML before all other types. */
function isOfBrowser({ method, headers }: FastifyRequest): boolean {
  return (method === 'GET' || method === 'HEAD') && /^text\/html\b/.test(headers.accept ?? '')
}

function createApp({ proxies, basePath, logLevel = 'silent', logTo }: ServerOptions): FastifyInstance {
  return fastify({
    logger: { level: logLevel, mixin: getLogFields, ...(logTo && { stream: logTo }) },
    logController: new LogController({ disableRequestLogging: true }),
    // The fields of log lines come from the scope of the request, also those of code that has no request.
    childLoggerFactory: (logger) => logger,
    genReqId: ({ headers }) => toRequestId(headers['x-request-id']),
    bodyLimit: UNAUTHENTICATED_LIMIT,
    requestTimeout: REQUEST_TIME,
    http: SERVER_OPTIONS,
    trustProxy: toTrustedAddresses(proxies),
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: 1000 },
    rewriteUrl: ({ url = '/', method }) => toCurrentPath({ url, method }, basePath),
  })
}

function addHooks(app: FastifyInstance, { hostname, ownHost, proxies, hasManagementPort }: ServerOptions): void {
  // Each scope registers the parsers of its bodies. Without one, a body is not read.
  app.removeAllContentTypeParsers()
  traceRequests(app)
  app.addHook('onRequest', checkPath)
  if (proxies) app.addHook('onRequest', normalizeForwardedHeaders(proxies))
  else if (hostname === undefined && ownHost !== undefined) app.addHook('onRequest', checkHost(ownHost))
  app.addHook('onRequest', findCertificates(proxies))
  if (hasManagementPort) separateManagement(app)
  app.addHook('onSend', async (_request, reply) => addSecurityHeaders(reply))
  app.addHook('onSend', async (_request, reply) => removeCharset(reply))
  app.addHook('onSend', compressResponse)
  app.addHook('onSend', omitUnchangedBody)
  app.addHook('preHandler', checkFieldCount)
  app.addHook('preHandler', checkStorable)
}

function logUserEvents(app: FastifyInstance, service: Service): void {
  // Keycloak: failures are warnings, other events are for debugging.
  const stop = service.onUserEvent((event) => app.log[event.error === undefined ? 'debug' : 'warn'](event, event.type))
  app.addHook('onClose', async () => stop())
}

function sendError(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const { status, body, challenge, fault, retryAfter } = errorResponse(error, request.id)
  if (fault) request.log.error(error)
  if (error instanceof OriginError) disallowOrigins(reply)
  if (challenge !== undefined) reply.header('www-authenticate', challenge)
  if (retryAfter !== undefined) reply.header('retry-after', retryAfter)
  if (body) return reply.code(status).type('application/json').send(JSON.stringify(body))
  // Keycloak: a challenge without a body has a content type.
  return (challenge === undefined ? reply : reply.type('text/plain;charset=utf-8')).code(status).send()
}

/** Returns the JSON schema of documents as text, which editors load without credentials. */
const renderDocumentSchema = memoize(() => JSON.stringify(createDocumentSchema()))

function addServerRoutes(app: FastifyInstance, service: Service, outages: OutageLog): void {
  app.get('/openapi.json', async () => description())
  app.get('/realm.schema.json', async (_request, reply) =>
    reply.header('cache-control', 'public, max-age=3600').type('application/schema+json').send(renderDocumentSchema()),
  )
  addHealthRoutes(app, service, outages)
}

/** Returns the base URL of a request. @throws invalid if its Host header is malformed. */
function getRequestBase({ protocol, host }: FastifyRequest): string {
  const base = `${protocol}://${host}`
  if (!URL.canParse(base)) throw failure('invalid', 'The Host header names no host.')
  return base
}

/**
 * Rewrites a path of the legacy API: `/v1/{realm}/…` is `/admin/realms/{realm}/…`. Reading its base path returns the server information. Its
 * test of mail servers has their settings in the path.
 */
function toCurrentPath(
  { url, method }: { readonly url: string; readonly method: string | undefined },
  basePath: string | undefined,
): string {
  if (!basePath || !(url === basePath || url.startsWith(`${basePath}/`) || url.startsWith(`${basePath}?`))) return url
  const path = url.slice(basePath.length)
  if (/^\/?(?:\?|$)/.test(path) && (method === 'GET' || method === 'HEAD')) return '/admin/serverinfo'
  return `/admin/realms${path.replace(/\/testSMTPConnection\/(?=[^/?]+$)/, '/testSMTPConnection?config=')}`
}
