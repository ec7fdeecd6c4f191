// Calls of the server's API.
import { getToken, SessionOver } from './auth.ts'
import { root } from './location.ts'
import { texts } from './texts.ts'

/** A failed call. */
export class CallError extends Error {
  /** The HTTP status; 0: no response arrived. */
  readonly status: number
  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

/** Options of a call. */
export interface CallOptions {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'DELETE'
  readonly body?: unknown
  readonly signal?: AbortSignal
  /** Milliseconds until the call fails. */
  readonly timeout?: number
}

const TIMEOUT = 20_000

/**
 * Calls an operation, and returns the parsed body of its response; null if it has none.
 *
 * @throws CallError if it fails; DOMException if it is aborted by the caller
 */
export async function call<T>(path: string, options: CallOptions = {}): Promise<T> {
  const { signal, timeout = TIMEOUT } = options
  const ended = new AbortController()
  const timer = setTimeout(() => ended.abort(), timeout)
  try {
    const response = await send(path, options, signal ? AbortSignal.any([signal, ended.signal]) : ended.signal)
    const text = await response.text()
    if (!response.ok) throw new CallError(response.status, readMessage(response.status, text))
    return JSON.parse(text === '' ? 'null' : text)
  } catch (error) {
    if (error instanceof CallError || signal?.aborted) throw error
    if (error instanceof SessionOver) throw new CallError(401, texts.errors.sessionOver)
    const isTimeout = ended.signal.aborted || (error instanceof DOMException && error.name === 'TimeoutError')
    throw new CallError(0, isTimeout ? texts.errors.timeout : texts.errors.offline)
  } finally {
    clearTimeout(timer)
  }
}

/** Opens a stream of server-sent events. @throws CallError, or TypeError without a connection */
export async function openStream(path: string, signal: AbortSignal): Promise<ReadableStream<Uint8Array>> {
  const response = await send(path, { accept: 'text/event-stream' }, signal)
  if (!response.ok || !response.body)
    throw new CallError(response.status, readMessage(response.status, await response.text()))
  return response.body
}

async function send(
  path: string,
  { method = 'GET', body, accept = 'application/json' }: CallOptions & { readonly accept?: string },
  signal: AbortSignal,
): Promise<Response> {
  const request = async (isRejected: boolean) =>
    fetch(`${root}${path}`, {
      method,
      headers: {
        accept,
        authorization: `Bearer ${await getToken(isRejected)}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      signal,
      cache: 'no-store',
      credentials: 'omit',
    })
  const response = await request(false)
  return response.status === 401 ? request(true) : response
}

/** Returns the message of an error response. */
function readMessage(status: number, text: string): string {
  try {
    const { errorMessage, error_description: description, error } = JSON.parse(text)
    const message = errorMessage ?? description ?? error
    if (typeof message === 'string' && !/^HTTP \d+ /.test(message)) return message
  } catch {
    // A proxy has its own texts.
  }
  return texts.errors.status(status)
}

/** Returns the message of an error. */
export function toMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
