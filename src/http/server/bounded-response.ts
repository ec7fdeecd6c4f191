// Bodies cost what is read of them: nothing of a long one until somebody wants it, and nothing once the request was answered.
import { type IncomingMessage, type OutgoingHttpHeader, type OutgoingHttpHeaders, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { expireAfter } from '../../lib/timing/deadline.ts'
import { HEAD_LIMIT, HEAD_TIME, REQUEST_TIME, UNAUTHENTICATED_LIMIT, UNAUTHENTICATED_TIME } from './limits.ts'

/** Milliseconds for which a connection stays open after an answer to a body that was not read, so that the answer arrives. */
const LINGER = 1000

type Headers = OutgoingHttpHeaders | OutgoingHttpHeader[]

/** How to cancel the deadline of a request's body. */
const patience = new WeakMap<IncomingMessage, () => void>()

/**
 * Answers a request without reading its body to the end: Node would, to keep the connection. A long body is not read before its
 * handler does, and the connection closes where it was answered unread; a small one must arrive soon.
 */
export class BoundedResponse<Request extends IncomingMessage = IncomingMessage> extends ServerResponse<Request> {
  constructor(...[request, ...rest]: ConstructorParameters<typeof ServerResponse<Request>>) {
    super(request, ...rest)
    if (!hasBody(request)) return
    if (hasLongBody(request)) request.socket.pause()
    const cancel = expireAfter(UNAUTHENTICATED_TIME, () => request.complete || request.socket.destroy())
    patience.set(request, cancel)
    request.once('close', cancel)
  }

  override writeHead(status: number, reason?: string | Headers, headers?: Headers): this {
    if (hasLongBody(this.req) && !this.req.complete) {
      this.shouldKeepAlive = false
      const { socket } = this.req
      socket.destroySoon = () => leave(socket)
    }
    return super.writeHead(status, reason as string, headers)
  }

  /** Whoever asks before sending is told to go on when the body is wanted. */
  override writeContinue(callback?: () => void): void {
    this.req.once('resume', () => {
      if (!this.headersSent) super.writeContinue(callback)
    })
  }
}

/** What every server here is created with. */
export const SERVER_OPTIONS = {
  ServerResponse: BoundedResponse,
  maxHeaderSize: HEAD_LIMIT,
  headersTimeout: HEAD_TIME,
  requestTimeout: REQUEST_TIME,
}

/** Gives a body the time of a whole request: its sender is known. */
export function allowSlowBody(request: IncomingMessage): void {
  patience.get(request)?.()
}

/** Whether the request has a body that is longer than what anybody may send, or that does not say how long it is. */
export function hasLongBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > UNAUTHENTICATED_LIMIT
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
}

/** Ends a connection of which not everything was read. Closed at once, it would be reset, and the answer with it. */
function leave(socket: Socket): void {
  const stay = () => socket.pause()
  socket.on('resume', stay)
  stay()
  socket.end()
  expireAfter(LINGER, () => socket.destroy())
}
