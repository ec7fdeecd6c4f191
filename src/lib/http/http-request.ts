// The only HTTP client of the server: limits of time and size, no redirects, and addresses that may be connected to only.
import { Agent, type ClientRequest, type IncomingMessage, request as plainRequest } from 'node:http'
import { type RequestOptions, Agent as SecureAgent, request as secureRequest } from 'node:https'
import { isIP } from 'node:net'
import { pipeline, type Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { version } from '../version.ts'
import { type Outbound, OutboundRefused } from './outbound.ts'

/** A method of HTTP. */
export type HttpMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** A request to another server. Each sends the user agent `regent/<version>`, and none follows redirects. */
interface Request {
  readonly method?: HttpMethod
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** A form, or a text. */
  readonly body?: URLSearchParams | string | undefined
  /** Connections that are kept for further requests. Absent: the request has its own. */
  readonly connections?: Agent | undefined
  /** Credentials of the connection: certificates, authorities, a user, the agent of a proxy. */
  readonly credentials?: RequestOptions
  /** Ends the request, and the reading of its response. */
  readonly signal?: AbortSignal | undefined
}

/** A request whose response is read as a whole. */
export interface HttpRequest extends Request {
  /** Milliseconds in which the whole response must be there. */
  readonly timeout: number
  /** Bytes that the response may have; 0: its body is not read. */
  readonly limit: number
}

/** A request whose response is read as a stream, of any length. */
export interface HttpStreamRequest extends Request {
  /** Milliseconds in which the response, and each further part of it, must come. */
  readonly idleTimeout: number
}

/** What another server answered; redirects are answers like others. */
interface Head {
  readonly status: number
  /** Whether the status is one of success. */
  readonly ok: boolean
  readonly headers: IncomingMessage['headers']
}

/** A response that was read as a whole. */
export interface HttpAnswer extends Head {
  readonly text: string
}

/** A response that is read as a stream: whoever does not read it to its end destroys it. */
export interface HttpStream extends Head {
  readonly body: Readable
}

/** Returns a pool of connections to the server of an address, for requests that follow each other. `most`: so many at a time. */
export function keepConnections(address: string, most = Number.POSITIVE_INFINITY): Agent {
  return new (address.startsWith('https:') ? SecureAgent : Agent)({ keepAlive: true, maxSockets: most })
}

/**
 * Sends a request and reads its response.
 *
 * @throws OutboundRefused, or an error that says, in words for administrators, why there is no response.
 */
export async function sendRequest(outbound: Outbound, address: string, options: HttpRequest): Promise<HttpAnswer> {
  const { timeout, limit } = options
  const deadline = AbortSignal.timeout(timeout)
  const signal = options.signal ? AbortSignal.any([options.signal, deadline]) : deadline
  return explained(deadline, async () => {
    const { body, ...head } = await open(outbound, address, { ...options, signal })
    return { ...head, text: await textOf(body, limit) }
  })
}

/**
 * Sends a request and returns its response as a stream, without a limit of its length or of its time as a whole.
 *
 * @throws OutboundRefused, or an error that says, in words for administrators, why there is no response.
 */
export async function openStream(outbound: Outbound, address: string, options: HttpStreamRequest): Promise<HttpStream> {
  return explained(undefined, () => open(outbound, address, options, options.idleTimeout))
}

/** Returns the text of a response. @throws TooLong where it has more bytes than `limit`. */
export async function textOf(body: Readable, limit: number): Promise<string> {
  if (limit === 0) {
    // A response that is cut off is of no interest any more.
    body.on('error', () => {}).destroy()
    return ''
  }
  const chunks: Buffer[] = []
  let length = 0
  // Leaving the loop destroys the response.
  for await (const chunk of body as AsyncIterable<Buffer>) {
    length += chunk.length
    if (length > limit) throw new TooLong(`the answer is longer than ${limit} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}

/** Returns the value of a JSON text; null where it is none. */
export function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

/** Returns the address that a response redirects to; undefined where it is no redirect. */
export function redirectOf({ status, headers }: Pick<Head, 'status' | 'headers'>): string | undefined {
  return status >= 300 && status < 400 ? headers.location : undefined
}

/** Returns why there is no response, in few words: the code of the system's error where there is one. */
export function reasonOf(error: Error): string {
  const cause = error.cause as { code?: string; message?: string } | undefined
  return cause?.code ?? cause?.message ?? error.message
}

class TooLong extends Error {}
class Unusable extends Error {}
class Idle extends Error {}

async function explained<T>(deadline: AbortSignal | undefined, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if ([OutboundRefused, TooLong, Unusable, Idle].some((kind) => error instanceof kind)) throw error
    throw new Error(deadline?.aborted ? 'there was no answer in time' : 'there was no answer', { cause: error })
  }
}

/** Returns the response as soon as its headers are there. `idleTimeout`: absent, `signal` limits the time. */
async function open(outbound: Outbound, address: string, request: Request, idleTimeout = 0): Promise<HttpStream> {
  const { method = 'GET', headers, body, connections, credentials, signal } = request
  const isForm = body instanceof URLSearchParams
  const content = body === undefined ? undefined : Buffer.from(body.toString())
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  const url = targetOf(outbound, address)
  const sent: ClientRequest = (url.protocol === 'https:' ? secureRequest : plainRequest)(url, {
    ...credentials,
    method,
    lookup: outbound.lookup,
    signal,
    timeout: idleTimeout,
    agent: connections ?? credentials?.agent ?? false,
    headers: {
      'user-agent': `regent/${version}`,
      accept: '*/*',
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
  sent.on('timeout', () => (response ?? sent).destroy(new Idle('there was no answer in time')))
  sent.end(content)
  const { statusCode: status = 0, headers: received } = await promise
  return { status, ok: status >= 200 && status < 300, headers: received, body: unzipped(await promise) }
}

/** Returns the address of a request. Throws where it is not one of HTTP, or may not be connected to. */
function targetOf(outbound: Outbound, address: string): URL {
  const url = URL.parse(address)
  if (!url || !['http:', 'https:'].includes(url.protocol)) throw new Unusable('it is no address of the web')
  if (url.username || url.password) throw new Unusable('the address has a user name or password')
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1')
  // An address in figures is not looked up.
  if (isIP(host)) outbound.check(host)
  return url
}

/** A request that accepts gzip may be answered with it. */
function unzipped(response: IncomingMessage): Readable {
  if (response.headers['content-encoding'] !== 'gzip') return response
  // What breaks the one breaks the other: the reader hears of it.
  return pipeline(response, createGunzip(), () => {})
}
