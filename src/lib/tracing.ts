// Spans of distributed traces. Without a tracer nothing is measured, and no library is loaded.
import { getScope, runInScope, type TraceContext } from './request-scope.ts'

/** Attributes of a span, by the names of OpenTelemetry's semantic conventions where there is one. Never secrets or values of users. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean | undefined>>

/** An operation to trace. */
export interface SpanDescription {
  /** A name of low cardinality: it contains no ids. */
  readonly name: string
  /** `server`: handles a request; `client`: waits for another server; `internal`: the default. */
  readonly kind?: 'server' | 'client' | 'internal'
  readonly attributes?: SpanAttributes
  /** The span that caused it. Absent: that of the caller's scope. */
  readonly parent?: TraceContext | undefined
}

/** An operation that is being traced. */
export interface Span {
  readonly context: TraceContext
  setAttributes(attributes: SpanAttributes): void
  /** Marks the operation as failed. `type`: the class or code of the error. */
  fail(type: string): void
  end(): void
}

/** Records spans, and sends them to a collector. */
export interface Tracer {
  startSpan(description: SpanDescription): Span
}

let tracer: Tracer | undefined

/** Sets the tracer of this process; undefined ends tracing. */
export function setTracer(newTracer: Tracer | undefined): void {
  tracer = newTracer
}

/** Starts a span, which the caller ends. Returns undefined if nothing is traced. */
export function startSpan(description: SpanDescription): Span | undefined {
  return tracer?.startSpan({ ...description, parent: description.parent ?? getScope().trace })
}

/** Runs work as a span, which is the parent of spans within it. An error that it throws marks the span as failed. */
export async function trace<T>(
  describe: () => SpanDescription,
  work: (span: Span | undefined) => Promise<T>,
): Promise<T> {
  if (!tracer) return work(undefined)
  const span = startSpan(describe())!
  try {
    return await runInScope({ ...getScope(), trace: span.context }, () => work(span))
  } catch (error) {
    span.fail(error instanceof Error ? error.name : 'Error')
    throw error
  } finally {
    span.end()
  }
}

/** Runs work as a span of the caller's trace. Outside a trace nothing is recorded: polls of the database would be traces of their own. */
export function traceChild<T>(
  describe: () => SpanDescription,
  work: (span: Span | undefined) => Promise<T>,
): Promise<T> {
  return tracer && getScope().trace ? trace(describe, work) : work(undefined)
}
