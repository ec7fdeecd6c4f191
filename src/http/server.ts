// The server: every route, and what is true of all answers.
import { randomUUID } from 'node:crypto'
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest, LogController } from 'fastify'
import { OriginError } from '../oidc/oauth-error.ts'
import { failure } from '../service/context/errors.ts'
import type { Caller, Service } from '../service/context/service.ts'
import { operations as adminOperations, missingOperations } from './admin/index.ts'
import { authenticate } from './authenticate.ts'
import { leftOut } from './conditions.ts'
import { errorAnswer, notFound } from './errors.ts'
import { oidcRoutes } from './oidc.ts'
import { openApi } from './openapi.ts'
import { regentBackupOperations } from './regent/backup.ts'
import { regentDriftOperations } from './regent/drift.ts'
import { regentHistoryOperations } from './regent/history.ts'
import { regentOperations } from './regent/index.ts'
import { regentPlanOperations } from './regent/plans.ts'
import { secretOperations } from './regent/secrets.ts'
import { regentSourceOperations } from './regent/sources.ts'
import { regentUnmanagedOperations } from './regent/unmanaged.ts'
import { serveWebhook, type Webhook, webhookPath } from './regent/webhook.ts'
import { register } from './register.ts'
import { believedHosts } from './server/believed-hosts.ts'
import { SERVER_OPTIONS } from './server/bounded-response.ts'
import { compressed } from './server/compress.ts'
import { showToNobody } from './server/cors.ts'
import { homePage } from './server/home.ts'
import { REQUEST_TIME, UNAUTHENTICATED_LIMIT } from './server/limits.ts'
import { forwardedBy, type Proxies, trustedBy } from './server/proxies.ts'
import { demandFewFields, demandStorable } from './storable.ts'

/** How the server is reached, and who is trusted. */
export interface ServerOptions {
  /** Base URL under which clients reach the server; without it, the one that a request names. */
  readonly hostname?: string | undefined
  /** The address that it listens at: without host name and proxies, requests must name it or this machine. Absent: any host is believed. */
  readonly ownHost?: string | undefined
  /** Proxies that are believed; absent: none. */
  readonly proxies?: Proxies | undefined
  /** Path of the earlier form of the admin API, such as `/v1`. */
  readonly basePath?: string | undefined
  readonly logLevel?: string | undefined
  /** Where the log goes; absent: to standard output. */
  readonly logTo?: { write(line: string): void }
  /** Whether the page at the server's own address names the realms: to anybody. */
  readonly showRealms?: boolean
  /** Whether requests are measured, for /metrics. */
  readonly metrics?: boolean
  /** Whether the API reference is served, at /docs. */
  readonly apiReference?: boolean
  /** Who is told of pushes by webhooks, and the secret by which these are signed; absent: none are taken. */
  readonly webhook?: Webhook | undefined
  /** Who calls, for requests in this process that carry no token. */
  readonly caller?: Caller
}

/** Every operation of the server. */
export const operations = [
  ...adminOperations,
  ...regentOperations,
  ...regentDriftOperations,
  ...regentHistoryOperations,
  ...regentSourceOperations,
  ...regentUnmanagedOperations,
  ...secretOperations,
  ...regentPlanOperations,
  ...regentBackupOperations,
]

/** The description of all of it. */
export const description = () => openApi(operations, webhookPath)

/** Keycloak: these stand on every answer, unless a page says otherwise. */
const SECURITY_HEADERS = {
  'referrer-policy': 'no-referrer',
  'strict-transport-security': 'max-age=31536000; includeSubDomains',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'SAMEORIGIN',
  'x-robots-tag': 'none',
}

function secure(reply: FastifyReply): void {
  for (const [name, value] of Object.entries(SECURITY_HEADERS)) if (!reply.hasHeader(name)) reply.header(name, value)
  for (const [name, value] of Object.entries(reply.getHeaders())) if (value === '') reply.removeHeader(name)
}

/** Makes the server on a service. The caller starts and closes it; the service stays open. */
export async function createServer(service: Service, options: ServerOptions = {}): Promise<FastifyInstance> {
  const {
    hostname,
    ownHost,
    proxies,
    basePath,
    logLevel = 'silent',
    logTo,
    showRealms = false,
    metrics = false,
    apiReference = false,
    webhook,
    caller,
  } = options
  const app = fastify({
    logger: { level: logLevel, ...(logTo && { stream: logTo }) },
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: () => randomUUID(),
    bodyLimit: UNAUTHENTICATED_LIMIT,
    requestTimeout: REQUEST_TIME,
    http: SERVER_OPTIONS,
    trustProxy: trustedBy(proxies),
    routerOptions: { ignoreTrailingSlash: true, maxParamLength: 1000 },
    rewriteUrl: ({ url = '/' }) => currentForm(url, basePath),
  })
  const baseOf = (request: FastifyRequest) => hostname ?? namedBase(request)

  // Each scope says which bodies it reads. Elsewhere none is read.
  app.removeAllContentTypeParsers()
  if (proxies) app.addHook('onRequest', forwardedBy(proxies))
  else if (hostname === undefined && ownHost !== undefined) app.addHook('onRequest', believedHosts(ownHost))
  app.addHook('onSend', async (_request, reply) => secure(reply))
  app.addHook('onSend', compressed)
  app.addHook('onSend', leftOut)
  app.addHook('preHandler', demandFewFields)
  app.addHook('preHandler', demandStorable)
  // A command that asks once does not wait for what measures.
  if (metrics) await (await import('./server/metrics.ts')).serveMetrics(app, service)
  app.setErrorHandler(sendError)
  // Keycloak: what fails is a warning, anything else is for who looks closely.
  const stopListening = service.onUserEvent((event) =>
    app.log[event.error === undefined ? 'debug' : 'warn'](event, event.type),
  )
  app.addHook('onClose', async () => stopListening())
  app.setNotFoundHandler(async () => Promise.reject(notFound()))

  await app.register(async (scope) => {
    const who = async (request: FastifyRequest, about?: string) =>
      caller ? { caller } : authenticate(service, request, { base: baseOf(request), about, issuer: hostname })
    register(scope, { service, authenticate: who, baseOf }, { operations, missing: missingOperations })
  })
  await app.register((scope) => oidcRoutes(scope, service, baseOf))
  if (webhook) await app.register(async (scope) => serveWebhook(scope, webhook))
  await app.register(async (scope) => ownRoutes(scope, service))
  if (apiReference) await app.register((await import('./server/api-reference.ts')).serveApiReference)
  app.get('/', async (request, reply) => {
    const names = showRealms ? (await service.listRealms()).map(({ name }) => name) : []
    return reply.type('text/html; charset=utf-8').send(homePage(baseOf(request), names))
  })
  return app
}

function sendError(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const { status, body, challenge, fault } = errorAnswer(error, request.id)
  if (fault) request.log.error(error)
  if (error instanceof OriginError) showToNobody(reply)
  if (challenge !== undefined) reply.header('www-authenticate', challenge)
  if (body) return reply.code(status).type('application/json').send(JSON.stringify(body))
  // Keycloak: a challenge that has no body is of a type all the same.
  return (challenge === undefined ? reply : reply.type('text/plain')).code(status).send()
}

function ownRoutes(app: FastifyInstance, service: Service): void {
  app.get('/openapi.json', async () => description())
  app.get('/health/live', async () => ({ status: 'UP' }))
  app.get('/health/ready', async (request, reply) => {
    try {
      await service.ping()
      return { status: 'UP' }
    } catch (error) {
      request.log.error(error)
      return reply.code(503).send({ status: 'DOWN' })
    }
  })
}

/** The base URL that a request names. Throws invalid where its host is none. */
function namedBase({ protocol, host }: FastifyRequest): string {
  const base = `${protocol}://${host}`
  if (!URL.canParse(base)) throw failure('invalid', 'The Host header names no host.')
  return base
}

/** The address in the current form of the API: `/v1/{realm}/…` was `/admin/realms/{realm}/…`. Settings of mail servers were part of it. */
function currentForm(url: string, basePath: string | undefined): string {
  if (!basePath || !(url === basePath || url.startsWith(`${basePath}/`) || url.startsWith(`${basePath}?`))) return url
  return `/admin/realms${url.slice(basePath.length).replace(/\/testSMTPConnection\/(?=[^/?]+$)/, '/testSMTPConnection?config=')}`
}
