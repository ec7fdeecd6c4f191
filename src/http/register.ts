// Registers operations as routes: authenticate, parse the input, call the handler, send the response.

import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods } from 'fastify'
import { renderSetCookie } from '../lib/http/cookies.ts'
import { listenToProgress, type ProgressListener } from '../lib/timing/progress.ts'
import { createWriteReport } from '../service/context/context.ts'
import { type Caller, type Service, SYSTEM } from '../service/context/service.ts'
import { StoreUnreachable } from '../service/context/store-types.ts'
import { requireAccepted, requireBytesAccepted } from './accept.ts'
import { readBody } from './body.ts'
import { findTaggedReads, noTagError, requireTag, toYamlTag, withCondition } from './conditions.ts'
import { errorResponse, HttpError, methodNotAllowed, notFound } from './errors.ts'
import { sortKeys } from './key-order.ts'
import { type Answer, type Call, listParameters, type Operation } from './operation.ts'
import { isRepeatable } from './query.ts'
import { allowSlowBody, hasLongBody } from './server/bounded-response.ts'
import { allowOrigin, servePreflight } from './server/cors.ts'
import { getOutageLog } from './server/health.ts'
import { ADMIN_LIMIT, UNAUTHENTICATED_LIMIT } from './server/limits.ts'
import { acceptsEvents, EVENT_STREAM, streamProgress } from './server/progress-stream.ts'
import { renderNotEnforced, renderOwnedBy } from './write-report.ts'
import { asYaml, prefersYaml, yamlAsJson } from './yaml.ts'

/** The functions that the routes of operations call. */
export interface RouteContext {
  readonly service: Service
  readonly authenticate: (request: FastifyRequest) => Promise<Caller>
  /** The server's own address, as the caller sees it. */
  readonly baseOf: (request: FastifyRequest) => string
  /** Receives the progress of operations whose callers are in this process. */
  readonly progressListener?: ProgressListener | undefined
  readonly adminTexts: Call['adminTexts']
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Operation id of the route. */
    operation?: string
    /** Path of the operation, with parameters in braces. */
    route?: string
    /** The route needs no token. */
    isPublic?: boolean
  }
}

/** The header that permits removing the last administrator of every realm. */
const ALLOW_LOCK_OUT = 'regent-allow-lock-out'
/** The header that permits changing declared values although their source refuses it. */
const ALLOW_DRIFT = 'regent-allow-drift'

/** The methods of operations. */
const METHODS = ['GET', 'POST', 'PUT', 'DELETE', 'PATCH'] as const

const callers = new WeakMap<FastifyRequest, Caller>()

/** Adds the routes of the admin API, and 405 for other methods. */
export function registerOperations(
  app: FastifyInstance,
  surroundings: RouteContext,
  operations: readonly Operation[],
): void {
  parseBytes(app, ADMIN_LIMIT)
  // Authenticate before reading the body, so that callers without permissions cannot send one.
  app.addHook('onRequest', async (request, reply) => {
    const { isPublic } = request.routeOptions.config
    if (isPublic) allowOrigin(reply, request.headers.origin)
    if (request.method === 'OPTIONS' || isPublic) return
    if (request.is404 && !isServed(app, request.url)) return
    const caller = await surroundings.authenticate(request)
    const hasHeader = (header: string) => request.headers[header] === 'true'
    const permitted = {
      ...(hasHeader(ALLOW_LOCK_OUT) && { allowLockOut: true as const }),
      ...(hasHeader(ALLOW_DRIFT) && { allowDrift: true as const }),
    }
    allowSlowBody(request.raw)
    callers.set(request, { ...caller, ...permitted, writeReport: createWriteReport() })
    allowOrigin(reply, request.headers.origin, 'Location, ETag, Regent-Owned-By, Regent-Not-Enforced')
  })
  const streams = new Set<Readable>()
  // Event streams do not end by themselves, and the server waits for them.
  app.addHook('preClose', async () => {
    for (const stream of streams) stream.destroy()
  })
  const tagged = findTaggedReads(operations)
  const legacyOperations = operations.map((operation) => ({ ...operation, ...operation.legacy }))
  const legacyTagged = findTaggedReads(legacyOperations)
  for (const [at, operation] of operations.entries()) {
    const legacyOperation = legacyOperations[at]!
    const handle = handler({ ...surroundings, streams }, operation, tagged.get(operation.path))
    const handleLegacy = handler({ ...surroundings, streams }, legacyOperation, legacyTagged.get(operation.path))
    app.route({
      method: listMethods(operation),
      url: urlOf(operation.path),
      config: { operation: operation.operationId, route: operation.path, isPublic: operation.isPublic === true },
      onRequest: async (request: FastifyRequest) => {
        if (operation.isPublic) return
        if (operation.body || hasLongBody(request.raw)) await surroundings.service.getPermissions(callers.get(request)!)
      },
      handler: (request, reply) => (isLegacy(request) ? handleLegacy : handle)(request, reply),
    })
  }
  for (const prefix of ['/admin', '/regent']) {
    servePreflight(app, `${prefix}/*`, ['DELETE', 'POST', 'GET', 'PUT'])
    app.register(async (scope) => refuseOtherMethods(scope), { prefix })
  }
}

/** Whether a request was sent to the legacy API, whose addresses are rewritten. */
const isLegacy = ({ originalUrl, url }: FastifyRequest): boolean => originalUrl !== url

/** Makes the body of each request a buffer of at most so many bytes. */
function parseBytes(app: FastifyInstance, bodyLimit: number): void {
  app.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit }, (_request, body, parsed) => parsed(null, body))
}

/**
 * `streams`: those that are being sent. `taggedRead`: the operation that reads what has a tag at the address. Keycloak: a missing realm is reported before
 * an invalid body, which is therefore parsed on access.
 */
function handler(
  {
    service,
    authenticate,
    baseOf,
    progressListener,
    adminTexts,
    streams,
  }: RouteContext & { readonly streams: Set<Readable> },
  operation: Operation,
  taggedRead: Operation | undefined,
) {
  const names = listParameters(operation.path)
  return async (request: FastifyRequest, reply: FastifyReply) => {
    const values = request.params as Record<string, string>
    let read: { readonly body: unknown } | undefined
    const condition = request.headers['if-match']
    const about = {
      caller: operation.isPublic ? SYSTEM : callers.get(request)!,
      base: baseOf(request),
      ...(adminTexts && { adminTexts }),
      params: Object.fromEntries(names.map((name, at) => [name, values[`p${at}`] ?? values['*'] ?? ''])),
      parts: () => partsOf(request),
      reauthenticate: () => authenticate(request),
    }
    const look = (read: Operation) => async (within: Service) =>
      renderJson(
        read,
        await read.handle({
          ...about,
          operation: read,
          service: within,
          query: readQuery(read, request),
          body: undefined,
        }),
      )
    if (condition !== undefined && !taggedRead && operation.method !== 'GET') throw noTagError()
    requireBytesAccepted(operation, request.headers.accept)
    const call: Call = {
      ...about,
      operation,
      service: condition !== undefined && taggedRead ? withCondition(service, condition, look(taggedRead)) : service,
      query: readQuery(operation, request),
      get body() {
        read ??= { body: operation.body && readBody(bytesOf(request, operation), operation.body) }
        return read.body
      },
    }
    if (operation.reportsProgress && acceptsEvents(request.headers.accept)) return sendProgress(call, request, reply)
    const response = await handleCall(call, progressListener)
    setHeaders(reply, response, { address: `${baseOf(request)}${pathOf(request)}`, caller: about.caller })
    reply.code(response.status)
    if (response.events) return sendEvents(reply, response.events, streams)
    return sendBody(request, reply, { operation, response, isTagged: operation === taggedRead })
  }
}

/** Sends the body of a response, if it has one. `isTagged`: it has an entity tag. */
function sendBody(
  request: FastifyRequest,
  reply: FastifyReply,
  {
    operation,
    response,
    isTagged,
  }: { readonly operation: Operation; readonly response: Answer; readonly isTagged: boolean },
): FastifyReply {
  const { body, type } = response
  if (body === undefined) return type === undefined ? reply.send() : reply.type(type).send()
  if (operation.method === 'GET') reply.header('cache-control', 'no-cache')
  if (isBytes(body)) return reply.type(type ?? 'application/octet-stream').send(body)
  const isYaml = operation.yaml && prefersYaml(request)
  if (!isYaml) requireAccepted(operation, request.headers.accept, type ?? 'application/json')
  const json = renderJson(operation, response)
  if (isTagged) {
    const tag = requireTag(json, request.headers['if-match'])
    reply.header('etag', isYaml ? toYamlTag(tag) : tag)
  }
  if (isYaml) return reply.type('application/yaml;charset=UTF-8').send(asYaml(body))
  if (type) return reply.type(`${type};charset=UTF-8`).send(body)
  return reply.type('application/json;charset=UTF-8').send(json)
}

/** Handles a call, and reports its progress to the listener, if there is one. */
function handleCall(call: Call, listener: ProgressListener | undefined): Promise<Answer> {
  const handle = () => call.operation.handle(call)
  return listener ? listenToProgress(listener, handle) : handle()
}

/** Handles a call, and sends its progress. The server ends after the stream, since closing it would cancel the call. */
async function sendProgress(call: Call, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const { operation, service, caller } = call
  const disconnected = new AbortController()
  reply.raw.once('close', () => disconnected.abort())
  const events = await streamProgress({
    disconnected: disconnected.signal,
    work: (deadline) => operation.handle(withCaller(call, { ...caller, deadline })),
    renderBody: (response) => renderJson(operation, response),
    toErrorAnswer(error) {
      if (error instanceof StoreUnreachable) getOutageLog(request.server, service).report(error)
      const response = errorResponse(error, request.id)
      if (response.fault) request.log.error(error)
      return response
    },
  })
  return sendEvents(reply.code(200), events, new Set())
}

/** Returns a call by another caller. Its body is still parsed on access. */
function withCaller(call: Call, caller: Caller): Call {
  return Object.create(call, { caller: { value: caller } })
}

/** Whether a body consists of bytes, complete or as a stream. */
const isBytes = (body: unknown): body is Readable | Uint8Array => body instanceof Readable || body instanceof Uint8Array

/** Sets the headers of a response that the answer decides. `address`: the URL of the request. */
function setHeaders(
  reply: FastifyReply,
  { created, location, cookies }: Answer,
  { address, caller }: { readonly address: string; readonly caller: Caller },
): void {
  if (created !== undefined) reply.header('location', `${address}/${encodeSegment(created)}`)
  if (location !== undefined) reply.header('location', new URL(location, address).href)
  const { overwrittenDeclarations = [], unenforcedValues = [] } = caller.writeReport ?? {}
  if (overwrittenDeclarations.length) reply.header('regent-owned-by', renderOwnedBy(overwrittenDeclarations))
  if (unenforcedValues.length) reply.header('regent-not-enforced', renderNotEnforced(unenforcedValues))
  if (cookies) reply.header('set-cookie', cookies.map(renderSetCookie))
}

/** The longest JSON that is cached, in characters. */
const LONGEST_CACHED_JSON = 16_384

/** The JSON of frozen bodies, and its schema: reads find the same body until it changes. */
const renderedBodies = new WeakMap<object, { readonly schema: Schema; readonly json: string }>()
type Schema = Parameters<typeof sortKeys>[0]

function renderJson({ responses }: Operation, { status, body }: Pick<Answer, 'status' | 'body'>): string {
  const schema = responses[status]?.schema
  if (typeof body !== 'object' || body === null || !Object.isFrozen(body)) return JSON.stringify(sortKeys(schema, body))
  const rendered = renderedBodies.get(body)
  if (rendered && rendered.schema === schema) return rendered.json
  const json = JSON.stringify(sortKeys(schema, body))
  if (json.length <= LONGEST_CACHED_JSON) renderedBodies.set(body, { schema, json })
  return json
}

/** Encodes a segment of a path. Keycloak: characters that RFC 3986 allows in a segment stay. */
export function encodeSegment(text: string): string {
  return encodeURIComponent(text).replaceAll(/%(?:24|26|2B|2C|3A|3B|3D|40)/g, decodeURIComponent)
}

/** Asks proxies not to buffer. */
function sendEvents(reply: FastifyReply, events: Readable, streams: Set<Readable>): FastifyReply {
  streams.add(events)
  events.once('close', () => streams.delete(events))
  reply.raw.once('close', () => events.destroy())
  reply.header('cache-control', 'no-store').header('x-accel-buffering', 'no')
  return reply.type(EVENT_STREAM).send(events)
}

/** Parses the query. Keycloak: an invalid parameter gives 404, and only the first value of a parameter counts. */
function readQuery({ query }: Operation, request: FastifyRequest): Record<string, unknown> {
  if (!query) return {}
  const repeatable = new Set(Object.keys(query.shape).filter((name) => isRepeatable(query.shape[name])))
  const entries = Object.entries(request.query as Record<string, string | string[]>)
  const values = entries.map(([name, value]) => [
    name,
    Array.isArray(value) && !repeatable.has(name) ? value[0] : value,
  ])
  const parsed = query.safeParse(Object.fromEntries(values))
  if (!parsed.success) throw notFound()
  return parsed.data
}

function bytesOf(request: FastifyRequest, { yaml, body }: Operation): Buffer | undefined {
  const type = request.headers['content-type']?.split(';')[0]?.trim().toLowerCase()
  if (yaml && type === 'application/yaml') return yamlAsJson(request.body as Buffer | undefined)
  const isForm = type === 'application/x-www-form-urlencoded'
  if (body?.isForm) return Buffer.from(JSON.stringify(isForm ? fieldsOf(request) : {}))
  if (body?.formField && isForm) return Buffer.from(fieldsOf(request)[body.formField] ?? '')
  if (body?.acceptsForm && isForm) return Buffer.from(JSON.stringify(fieldsOf(request)))
  if (body?.onlyType !== undefined && type !== body.onlyType)
    throw new HttpError(415, { error: 'Unsupported media type' })
  const fits = body?.plain
    ? type === 'text/plain' || body.types?.includes(type ?? '')
    : type === 'application/json' || type?.endsWith('+json')
  if (type && !fits) {
    throw new HttpError(415, { error: 'The content-type header value did not match the value in @Consumes' })
  }
  return request.body as Buffer | undefined
}

/** Returns the fields of a form. Only the first value of a repeated field counts. */
function fieldsOf(request: FastifyRequest): Record<string, string> {
  return Object.fromEntries([...new URLSearchParams(String(request.body ?? ''))].reverse())
}

async function partsOf(request: FastifyRequest): Promise<FormData | undefined> {
  const type = request.headers['content-type'] ?? ''
  if (!/^multipart\/form-data\s*;/i.test(type)) return undefined
  try {
    return await new Response(request.body as Buffer, { headers: { 'content-type': type } }).formData()
  } catch {
    throw new HttpError(400, { error: 'invalid_request', error_description: 'The multipart body cannot be parsed.' })
  }
}

/** Returns the path of the request, also of the legacy API, without a trailing slash. */
function pathOf(request: FastifyRequest): string {
  return request.originalUrl.split('?')[0]!.replace(/(?<!\/)\/+$/, '')
}

/** Returns the methods of an operation's route. HEAD is one of them, since Fastify would add a second route for it. */
function listMethods({ method }: Pick<Operation, 'method'>): HTTPMethods[] {
  return method === 'GET' ? ['GET', 'HEAD'] : [method]
}

/** Returns the route of a path. Parameters are numbered, since the router ends a name at a hyphen. */
function urlOf(path: string): string {
  const names = listParameters(path)
  const last = names.at(-1)
  // Keycloak: a group's path is the rest of the URL.
  if (last === 'path')
    return path.replace('{path}', '*').replace(/\{([^}]+)\}/g, (_, name) => `:p${names.indexOf(name)}`)
  return path.replace(/\{([^}]+)\}/g, (_, name) => `:p${names.indexOf(name)}`)
}

/** Answers requests without a route: 405 at addresses with routes of other methods, else 404. */
function refuseOtherMethods(scope: FastifyInstance): void {
  scope.removeAllContentTypeParsers()
  parseBytes(scope, UNAUTHENTICATED_LIMIT)
  scope.setNotFoundHandler(async ({ url }) => Promise.reject(isServed(scope, url) ? methodNotAllowed() : notFound()))
}

/** Whether the address has a route of any method. */
function isServed(app: FastifyInstance, url: string): boolean {
  return METHODS.some((method) => app.findRoute({ method, url }) !== null)
}
