// The only HTTP client of the server. It limits time and size, follows no redirects, and checks every address.
import type { Agent, ClientRequest, IncomingMessage } from 'node:http'
import type { RequestOptions } from 'node:https'
import { isIP } from 'node:net'
import { pipeline, type Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { getErrorCode } from '../error-code.ts'
import { getScope, renderTraceparent } from '../request-scope.ts'
import { traceChild } from '../tracing.ts'
import { version } from '../version.ts'
import { type Outbound, OutboundRefused } from './outbound.ts'

/** An HTTP method. */
export type HttpMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** A request to another server. Each sends the user agent `regent/<version>`, and none follows redirects. */
interface CommonRequest {
  readonly method?: HttpMethod
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** A form, or a text. */
  readonly body?: URLSearchParams | string | undefined
  /** A pool of connections to reuse. Absent: the request opens its own connection. */
  readonly connections?: Agent | undefined
  /** Credentials of the connection: client certificate, certificate authorities, user, agent of a proxy. */
  readonly credentials?: RequestOptions
  /** Aborts the request, and reading its response. */
  readonly signal?: AbortSignal | undefined
}

/** A request whose response is read completely. */
export interface HttpRequest extends CommonRequest {
  /** Milliseconds until the response must be complete. */
  readonly timeout: number
  /** Maximum size of the response in bytes; 0: its body is not read. */
  readonly limit: number
}

/** A request whose response is read as a stream, of any length. */
export interface HttpStreamRequest extends CommonRequest {
  /** Maximum milliseconds to wait for the response, and for each further part of it. */
  readonly idleTimeout: number
}

/** The head of a response. A redirect is a response like any other. */
interface ResponseHead {
  readonly status: number
  /** Whether the status is 2xx. */
  readonly ok: boolean
  readonly headers: IncomingMessage['headers']
}

/** A complete response. */
export interface HttpResponse extends ResponseHead {
  readonly text: string
}

/** A response that is read as a stream. A caller who does not read it to the end must destroy it. */
export interface HttpStream extends ResponseHead {
  readonly body: Readable
}

/** Creates a pool of at most `limit` connections to the server of an address. */
export function createConnectionPool(address: string, limit = Number.POSITIVE_INFINITY): Agent {
  return new (getHttpModule(address).Agent)({ keepAlive: true, maxSockets: limit })
}

/**
 * Sends a request and reads its response.
 *
 * @throws OutboundRefused, or an error that says, in words for administrators, why there is no response.
 */
export async function sendRequest(outbound: Outbound, address: string, options: HttpRequest): Promise<HttpResponse> {
  const { timeout, limit } = options
  const deadline = AbortSignal.timeout(timeout)
  const signal = options.signal ? AbortSignal.any([options.signal, deadline]) : deadline
  return explainErrors(deadline, async () => {
    const { body, ...head } = await startRequest(outbound, address, { ...options, signal })
    return { ...head, text: await readBody(body, limit) }
  })
}

/**
 * Sends a request and returns its response as a stream, without limits of total size and time.
 *
 * @throws OutboundRefused, or an error that says, in words for administrators, why there is no response.
 */
export async function openStream(outbound: Outbound, address: string, options: HttpStreamRequest): Promise<HttpStream> {
  return explainErrors(undefined, () => startRequest(outbound, address, options))
}

/** Returns the text of a response. @throws ResponseTooLong if it has more than `limit` bytes. */
export async function readBody(body: Readable, limit: number): Promise<string> {
  if (limit === 0) {
    // Destroying the response may emit an error, which nobody needs.
    body.on('error', () => {}).destroy()
    return ''
  }
  const chunks: Buffer[] = []
  let length = 0
  // Leaving the loop destroys the response.
  for await (const chunk of body) {
    length += chunk.length
    if (length > limit) throw new ResponseTooLong(`the response is longer than ${limit} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}

/** Returns the value of a JSON text; null if it is not JSON. */
export function parseJsonOrNull(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

/** Returns the address that a response redirects to; undefined if it is no redirect. */
export function findRedirect({ status, headers }: Pick<ResponseHead, 'status' | 'headers'>): string | undefined {
  return status >= 300 && status < 400 ? headers.location : undefined
}

/** Returns the reason of a failed request: the code of the system error, such as ECONNREFUSED, if there is one, or its message. */
export function getFailureReason(error: Error): string {
  const { cause } = error
  return getErrorCode(cause) ?? (cause instanceof Error ? cause.message : error.message)
}

class ResponseTooLong extends Error {}
class InvalidAddress extends Error {}
class ResponseTimeout extends Error {}

async function explainErrors<T>(deadline: AbortSignal | undefined, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if ([OutboundRefused, ResponseTooLong, InvalidAddress, ResponseTimeout].some((kind) => error instanceof kind))
      throw error
    throw new Error(deadline?.aborted ? 'no response in time' : 'no response', { cause: error })
  }
}

/** Sends a request, and traces it until the headers of the response have arrived. The span has no path, which may contain secrets. */
function startRequest(...parameters: Parameters<typeof startUntracedRequest>): Promise<HttpStream> {
  const [, address, { method = 'GET' }] = parameters
  const describe = () => {
    const { hostname, port, protocol } = new URL(address)
    return {
      name: method,
      kind: 'client' as const,
      attributes: {
        'http.request.method': method,
        'server.address': hostname,
        'server.port': Number(port) || (protocol === 'https:' ? 443 : 80),
      },
    }
  }
  return traceChild(URL.canParse(address) ? describe : () => ({ name: method, kind: 'client' }), async (span) => {
    const response = await startUntracedRequest(...parameters)
    span?.setAttributes({ 'http.response.status_code': response.status })
    if (response.status >= 400) span?.fail(String(response.status))
    return response
  })
}

/** Returns the response as soon as its headers have arrived. Without `idleTimeout`, only `signal` limits the time. */
async function startUntracedRequest(
  outbound: Outbound,
  address: string,
  request: CommonRequest & { readonly idleTimeout?: number },
): Promise<HttpStream> {
  const { method = 'GET', headers, body, connections, credentials, signal, idleTimeout = 0 } = request
  const isForm = body instanceof URLSearchParams
  const content = body === undefined ? undefined : Buffer.from(body.toString())
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  const url = parseAddress(outbound, address)
  const sent: ClientRequest = getHttpModule(url.href).request(url, {
    ...credentials,
    method,
    lookup: outbound.lookup,
    signal,
    timeout: idleTimeout,
    agent: connections ?? credentials?.agent ?? false,
    headers: {
      'user-agent': `regent/${version}`,
      accept: '*/*',
      ...renderTraceHeaders(),
      ...(isForm && { 'content-type': 'application/x-www-form-urlencoded;charset=UTF-8' }),
      ...(content && { 'content-length': String(content.length) }),
      ...headers,
      ...(credentials?.headers as Record<string, string> | undefined),
    },
  })
  let response: IncomingMessage | undefined
  sent.on('error', reject).on('response', (message) => {
    response = message
    resolve(message)
  })
  sent.on('timeout', () => (response ?? sent).destroy(new ResponseTimeout('no response in time')))
  sent.end(content)
  const { statusCode: status = 0, headers: received } = await promise
  return { status, ok: status >= 200 && status < 300, headers: received, body: decompress(await promise) }
}

/** Returns the header by which the other server continues the trace of the caller. */
function renderTraceHeaders(): Readonly<Record<string, string>> {
  const { trace: context } = getScope()
  return context ? { traceparent: renderTraceparent(context) } : {}
}

/**
 * Returns Node's module for an address. TLS is loaded on first use. An import statement for node:http would read all its exports, one of
 * which loads a WebSocket client: 40 ms and 10 MB.
 */
function getHttpModule(address: string) {
  return process.getBuiltinModule(address.startsWith('https:') ? 'node:https' : 'node:http')
}

/** Parses the address of a request. Throws if it is not an HTTP address, or may not be connected to. */
function parseAddress(outbound: Outbound, address: string): URL {
  const url = URL.parse(address)
  if (!url || !['http:', 'https:'].includes(url.protocol)) throw new InvalidAddress('it is not an HTTP address')
  if (url.username || url.password) throw new InvalidAddress('the address contains a user name or password')
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1')
  // The socket does not look up an IP address, so it is checked here.
  if (isIP(host)) outbound.check(host)
  return url
}

/** Returns the body of a response, decompressed if it is gzip. */
function decompress(response: IncomingMessage): Readable {
  if (response.headers['content-encoding'] !== 'gzip') return response
  // Errors of either stream reach the reader by the returned one.
  return pipeline(response, createGunzip(), () => {})
}

/** A server-sent event (WHATWG HTML, section 9.2) with JSON as its data. */
export interface ServerEvent {
  readonly event: string
  /** The parsed data. */
  readonly data: unknown
}

/** Yields the events of a stream as they arrive. */
export async function* readEvents(chunks: AsyncIterable<Uint8Array | string>): AsyncGenerator<ServerEvent> {
  const decoder = new TextDecoder()
  let rest: string[] = []
  for await (const chunk of chunks) {
    const text = typeof chunk === 'string' ? chunk : decoder.decode(chunk, { stream: true })
    const isEnd = text.includes('\n\n') || (text.startsWith('\n') && rest.at(-1)?.endsWith('\n'))
    rest.push(text)
    // An event may consist of many chunks, which are joined once.
    if (!isEnd) continue
    const blocks = rest.join('').split('\n\n')
    rest = [blocks.pop()!]
    for (const block of blocks) {
      const fields = new Map(block.split('\n').map((line) => line.split(/: ?(.*)/s, 2) as [string, string]))
      const data = fields.get('data')
      if (data !== undefined) yield { event: fields.get('event') ?? 'message', data: JSON.parse(data) }
    }
  }
}
