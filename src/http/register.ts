// Operations as routes: authenticate, read the input, handle, answer.

import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { isStorable } from '../kinds/fields.ts'
import { renderSetCookie } from '../lib/http/cookies.ts'
import type { Service } from '../service/context/service.ts'
import type { ListedOperation } from './admin/not-yet.ts'
import { notYet } from './admin/not-yet.ts'
import type { Asked } from './authenticate.ts'
import { readBody } from './body.ts'
import { demandMatch, replaceable, tagOf, unlessChanged, untagged } from './conditions.ts'
import { HttpError, methodNotAllowed, notFound } from './errors.ts'
import { type Method, type Operation, paramsOf } from './operation.ts'
import { ownedBy } from './owned-by.ts'
import { takesSeveral } from './query.ts'
import { allowSlowBody, hasLongBody } from './server/bounded-response.ts'
import { preflight, showTo } from './server/cors.ts'
import { ADMIN_LIMIT, UNAUTHENTICATED_LIMIT } from './server/limits.ts'
import { asYaml, wantsYaml, yamlAsJson } from './yaml.ts'

/** What routes need besides the operations. */
export interface Surroundings {
  readonly service: Service
  readonly authenticate: (request: FastifyRequest, about?: string) => Promise<Asked>
  /** The server's own address, as the caller sees it. */
  readonly baseOf: (request: FastifyRequest) => string
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Id of the operation that a route is. */
    operation?: string
  }
}

/** With this header a caller says that nobody may be left who administers every realm. */
const ALLOW_LOCK_OUT = 'regent-allow-lock-out'
/** With this one, that what sources state is to be changed nevertheless. */
const ALLOW_DRIFT = 'regent-allow-drift'

const asking = new WeakMap<FastifyRequest, Asked>()

/** Adds the routes of the admin API: those that there are, those to come, and refusals of other methods. */
export function register(
  app: FastifyInstance,
  surroundings: Surroundings,
  { operations, missing }: { operations: readonly Operation[]; missing: readonly ListedOperation[] },
): void {
  app.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit: ADMIN_LIMIT }, (_request, body, parsed) =>
    parsed(null, body),
  )
  // Before the body is read: who may not call is not listened to, nor who may do nothing.
  app.addHook('onRequest', async (request, reply) => {
    if (request.method === 'OPTIONS') return
    const { caller, realm } = await surroundings.authenticate(request, realmIn(request))
    const says = (header: string) => request.headers[header] === 'true'
    const meant = {
      ...(says(ALLOW_LOCK_OUT) && { mayLockOut: true as const }),
      ...(says(ALLOW_DRIFT) && { mayDrift: true as const }),
    }
    allowSlowBody(request.raw)
    asking.set(request, { caller: { ...caller, ...meant, overwrittenDeclarations: [] }, realm })
    showTo(reply, request.headers.origin, 'Location, ETag, Regent-Owned-By')
  })
  const streams = new Set<Readable>()
  // Whoever listens has no end of their own, and the server does not end before they do.
  app.addHook('preClose', async () => {
    for (const stream of streams) stream.destroy()
  })
  const tagged = replaceable(operations)
  for (const operation of operations) {
    app.route({
      method: operation.method,
      url: urlOf(operation.path),
      config: { operation: operation.operationId },
      onRequest: async (request: FastifyRequest) => {
        if (operation.body || hasLongBody(request.raw))
          await surroundings.service.getPermissions(asking.get(request)!.caller)
      },
      handler: handler({ ...surroundings, streams }, operation, tagged.get(operation.path)),
    })
  }
  for (const listed of missing) {
    app.route({
      method: listed.method,
      url: urlOf(listed.path),
      bodyLimit: UNAUTHENTICATED_LIMIT,
      handler: async () => Promise.reject(notYet(listed)),
    })
  }
  refuseOtherMethods(app, [...operations, ...missing])
}

/** `streams`: those that are being sent. `shown`: the operation that reads what has a tag at the address. */
function handler(
  { service, authenticate, baseOf, streams }: Surroundings & { readonly streams: Set<Readable> },
  operation: Operation,
  shown: Operation | undefined,
) {
  const names = paramsOf(operation.path)
  return async (request: FastifyRequest, reply: FastifyReply) => {
    const values = request.params as Record<string, string>
    let read: { readonly body: unknown } | undefined
    const condition = request.headers['if-match']
    const about = {
      ...asking.get(request)!,
      base: baseOf(request),
      params: Object.fromEntries(names.map((name, at) => [name, values[`p${at}`] ?? values['*'] ?? ''])),
      parts: () => partsOf(request),
      stillCaller: async () => (await authenticate(request)).caller,
    }
    const look = (read: Operation) => (within: Service) =>
      read.handle({ ...about, operation: read, service: within, query: readQuery(read, request), body: undefined })
    if (condition !== undefined && !shown && operation.method !== 'GET') throw untagged()
    const { status, body, type, events, created, location, cookies } = await operation.handle({
      ...about,
      operation,
      service: condition !== undefined && shown ? unlessChanged(service, condition, look(shown)) : service,
      query: readQuery(operation, request),
      // Keycloak: whether the realm exists is told before what is wrong with the body.
      get body() {
        read ??= { body: operation.body && readBody(bytesOf(request, operation), operation.body) }
        return read.body
      },
    })
    if (created !== undefined)
      reply.header('location', `${baseOf(request)}${pathOf(request)}/${encodeURIComponent(created)}`)
    if (location !== undefined) reply.header('location', new URL(location, `${baseOf(request)}${pathOf(request)}`).href)
    const owned = asking.get(request)!.caller.overwrittenDeclarations
    if (owned?.length) reply.header('regent-owned-by', ownedBy(owned))
    if (cookies) reply.header('set-cookie', cookies.map(renderSetCookie))
    reply.code(status)
    if (events) return sendEvents(reply, events, streams)
    if (body === undefined) return reply.send()
    if (operation.method === 'GET') reply.header('cache-control', 'no-cache')
    if (body instanceof Readable) return reply.type(type ?? 'application/octet-stream').send(body)
    if (operation.yaml && wantsYaml(request)) return reply.type('application/yaml;charset=UTF-8').send(asYaml(body))
    const json = JSON.stringify(body)
    if (operation === shown) {
      const tag = tagOf(json)
      if (condition !== undefined) demandMatch(condition, tag)
      reply.header('etag', tag)
    }
    if (type) return reply.type(`${type};charset=UTF-8`).send(body)
    return reply.type('application/json;charset=UTF-8').send(json)
  }
}

/** Proxies are asked to keep nothing back. */
function sendEvents(reply: FastifyReply, events: Readable, streams: Set<Readable>): FastifyReply {
  streams.add(events)
  events.once('close', () => streams.delete(events))
  reply.raw.once('close', () => events.destroy())
  reply.header('cache-control', 'no-store').header('x-accel-buffering', 'no')
  return reply.type('text/event-stream').send(events)
}

/** Keycloak: a parameter that cannot be read makes an address that does not exist; of several values of one the first counts. */
function readQuery({ query }: Operation, request: FastifyRequest): Record<string, unknown> {
  if (!query) return {}
  const given = Object.entries(request.query as Record<string, string | string[]>)
  const values = given.map(([name, value]) => [
    name,
    Array.isArray(value) && !takesSeveral(query.shape[name]) ? value[0] : value,
  ])
  const read = query.safeParse(Object.fromEntries(values))
  if (!read.success) throw notFound()
  return read.data
}

function bytesOf(request: FastifyRequest, { yaml, body }: Operation): Buffer | undefined {
  const type = request.headers['content-type']?.split(';')[0]?.trim().toLowerCase()
  if (yaml && type === 'application/yaml') return yamlAsJson(request.body as Buffer | undefined)
  if (body?.formField && type === 'application/x-www-form-urlencoded') return fieldOf(request, body.formField)
  const fits = body?.plain
    ? type === 'text/plain' || body.types?.includes(type ?? '')
    : type === 'application/json' || type?.endsWith('+json')
  if (type && !fits) {
    throw new HttpError(415, { error: 'The content-type header value did not match the value in @Consumes' })
  }
  return request.body as Buffer | undefined
}

function fieldOf(request: FastifyRequest, name: string): Buffer {
  return Buffer.from(new URLSearchParams(String(request.body ?? '')).get(name) ?? '')
}

async function partsOf(request: FastifyRequest): Promise<FormData | undefined> {
  const type = request.headers['content-type'] ?? ''
  if (!/^multipart\/form-data\s*;/i.test(type)) return undefined
  try {
    return await new Response(request.body as Buffer, { headers: { 'content-type': type } }).formData()
  } catch {
    throw new HttpError(400, { error: 'invalid_request', error_description: 'Cannot read the parts of the form' })
  }
}

/** The realm that the address names. What no store can keep is refused later. */
function realmIn(request: FastifyRequest): string | undefined {
  const { p0 } = request.params as Record<string, string>
  return p0 !== undefined && isStorable(p0) ? p0 : undefined
}

/** The path as the caller wrote it: also in the earlier form of the API, and never with a slash at its end. */
function pathOf(request: FastifyRequest): string {
  return request.originalUrl.split('?')[0]!.replace(/(?<!\/)\/+$/, '')
}

/** Parameters are named by their place: the router takes a hyphen for the end of a name. */
function urlOf(path: string): string {
  const names = paramsOf(path)
  const last = names.at(-1)
  // Keycloak: the path of a group is the rest of the address.
  if (last === 'path')
    return path.replace('{path}', '*').replace(/\{([^}]+)\}/g, (_, name) => `:p${names.indexOf(name)}`)
  return path.replace(/\{([^}]+)\}/g, (_, name) => `:p${names.indexOf(name)}`)
}

function refuseOtherMethods(app: FastifyInstance, known: readonly { method: Method; path: string }[]): void {
  for (const [url, routes] of Map.groupBy(known, ({ path }) => urlOf(path))) {
    const own = new Set<string>(routes.map(({ method }) => method))
    const others = ['GET', 'POST', 'PUT', 'DELETE', 'PATCH'].filter((method) => !own.has(method))
    app.route({
      method: others,
      url,
      bodyLimit: UNAUTHENTICATED_LIMIT,
      handler: async () => Promise.reject(methodNotAllowed()),
    })
    preflight(app, url, ['DELETE', 'POST', 'GET', 'PUT'])
  }
}
