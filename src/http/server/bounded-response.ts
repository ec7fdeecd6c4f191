// Bounds the work of unauthenticated requests: a long body is read only on demand, and never after the response.
import type { IncomingMessage, OutgoingHttpHeader, OutgoingHttpHeaders } from 'node:http'
import type { Socket } from 'node:net'
import { expireAfter } from '../../lib/timing/deadline.ts'
import { HEAD_LIMIT, HEAD_TIME, REQUEST_TIME, UNAUTHENTICATED_LIMIT, UNAUTHENTICATED_TIME } from './limits.ts'

// An import statement would read all exports of node:http, one of which loads a WebSocket client: 40 ms and 10 MB.
const { ServerResponse } = process.getBuiltinModule('node:http')

/** Milliseconds for which a connection stays open after a response to an unread body, so that the response arrives. */
const LINGER_TIME = 1000

type Headers = OutgoingHttpHeaders | OutgoingHttpHeader[]

/** Functions that cancel the deadline of a request's body. */
const bodyDeadlines = new WeakMap<IncomingMessage, () => void>()

/**
 * A response that does not read the rest of the request's body, as Node does to keep the connection. A long body waits for
 * its handler, and the connection closes if it stays unread. A short one must arrive within a deadline.
 */
export class BoundedResponse<Request extends IncomingMessage = IncomingMessage> extends ServerResponse<Request> {
  constructor(...[request, ...rest]: ConstructorParameters<typeof ServerResponse<Request>>) {
    super(request, ...rest)
    if (!hasBody(request)) return
    if (hasLongBody(request)) request.socket.pause()
    const cancel = expireAfter(UNAUTHENTICATED_TIME, () => request.complete || request.socket.destroy())
    bodyDeadlines.set(request, cancel)
    request.once('close', cancel)
  }

  override writeHead(status: number, reason?: string | Headers, headers?: Headers): this {
    if (hasLongBody(this.req) && !this.req.complete) {
      this.shouldKeepAlive = false
      const { socket } = this.req
      socket.destroySoon = () => closeGracefully(socket)
    }
    return super.writeHead(status, reason as string, headers)
  }

  /** Sends 100 Continue when the handler starts reading the body. */
  override writeContinue(callback?: () => void): void {
    this.req.once('resume', () => {
      if (!this.headersSent) super.writeContinue(callback)
    })
  }
}

/** The options of every HTTP server of Regent. */
export const SERVER_OPTIONS = {
  ServerResponse: BoundedResponse,
  maxHeaderSize: HEAD_LIMIT,
  headersTimeout: HEAD_TIME,
  requestTimeout: REQUEST_TIME,
}

/** Cancels the deadline of a body, whose sender is authenticated. */
export function allowSlowBody(request: IncomingMessage): void {
  bodyDeadlines.get(request)?.()
}

/** Whether the request has a body above the limit for unauthenticated requests, or of unknown length. */
export function hasLongBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > UNAUTHENTICATED_LIMIT
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
}

/** Closes a connection with unread data. Closed at once it would be reset, and the response lost. */
function closeGracefully(socket: Socket): void {
  const stay = () => socket.pause()
  socket.on('resume', stay)
  stay()
  socket.end()
  expireAfter(LINGER_TIME, () => socket.destroy())
}
