// The scope of a request or of work in the background: the id of the request, and its place in a distributed trace. It follows asynchronous
// calls, so that logs and outbound requests need no parameter for it.
import { AsyncLocalStorage } from 'node:async_hooks'
import { randomUUID } from 'node:crypto'

/** The place of an operation in a distributed trace. W3C Trace Context, section 3.2. */
export interface TraceContext {
  /** 32 hexadecimal digits. */
  readonly traceId: string
  /** The span of the operation: 16 hexadecimal digits. */
  readonly spanId: string
  readonly isSampled: boolean
}

/** A request, or work in the background. */
export interface RequestScope {
  readonly requestId?: string
  readonly trace?: TraceContext | undefined
}

const NO_SCOPE: RequestScope = {}
const scopes = new AsyncLocalStorage<RequestScope>()

/** Returns the scope of the caller; an empty one outside requests. */
export function getScope(): RequestScope {
  return scopes.getStore() ?? NO_SCOPE
}

/** Runs work in a scope, with everything that it calls. */
export function runInScope<T>(scope: RequestScope, work: () => T): T {
  return scopes.run(scope, work)
}

/** Starts work that belongs to no request, such as that of a queue, even if a request has caused it. */
export function runWithoutScope<T>(work: () => T): T {
  return scopes.getStore() === undefined ? work() : scopes.run(NO_SCOPE, work)
}

const REQUEST_ID = /^[\w.:/+=@~-]{1,128}$/

/** Returns the value of a header `X-Request-Id`, or a new id if it is absent or has other characters than ids. */
export function toRequestId(header: string | string[] | undefined): string {
  return typeof header === 'string' && REQUEST_ID.test(header) ? header : randomUUID()
}

const TRACEPARENT = /^(?!ff)[\da-f]{2}-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-([\da-f]{2})(?:-.*)?$/

/** Parses a header `traceparent`; undefined if it is invalid. Later versions may append fields. */
export function parseTraceparent(header: string | string[] | undefined): TraceContext | undefined {
  const [text, traceId, spanId, flags] = (typeof header === 'string' && TRACEPARENT.exec(header)) || []
  if (!text || !traceId || !spanId || !flags || (text.startsWith('00') && text.length !== 55)) return undefined
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & 1) === 1 }
}

/** Renders a header `traceparent`. */
export function renderTraceparent({ traceId, spanId, isSampled }: TraceContext): string {
  return `00-${traceId}-${spanId}-0${Number(isSampled)}`
}

/** Returns the fields of log lines that lead to the request and the trace of the caller. */
export function getLogFields(): Readonly<Record<string, string>> {
  const { requestId, trace } = getScope()
  return { ...(requestId && { requestId }), ...(trace && { traceId: trace.traceId, spanId: trace.spanId }) }
}
