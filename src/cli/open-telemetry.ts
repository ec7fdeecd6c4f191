// Sends traces to an OpenTelemetry collector, if the standard variables of the environment name one.
import { type SpanDescription, setTracer, type Tracer } from '../lib/tracing.ts'
import { version } from '../lib/version.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** Traces that are sent until they are closed. */
export interface RunningTracing {
  /** Sends the spans that have ended, and stops tracing. */
  close(): Promise<void>
}

/** Milliseconds to wait for the collector at the end of the process. */
const FLUSH_TIMEOUT = 5_000
/** The default of the variable `OTEL_BSP_SCHEDULE_DELAY`, in milliseconds. */
const SCHEDULE_DELAY = 5_000

/** Starts tracing if the environment enables it. The SDK is loaded only then. @throws Error if a variable has an unsupported value. */
export async function startTracing(environment: Environment): Promise<RunningTracing | undefined> {
  if (!isEnabled(environment)) return undefined
  const [{ ROOT_CONTEXT, SpanKind, SpanStatusCode, TraceFlags, trace }, sdk, { OTLPTraceExporter }, resources] =
    await Promise.all([
      import('@opentelemetry/api'),
      import('@opentelemetry/sdk-trace'),
      import('@opentelemetry/exporter-trace-otlp-http'),
      import('@opentelemetry/resources'),
    ])
  const { defaultResource, detectResources, envDetector, resourceFromAttributes } = resources
  const scheduledDelayMillis = Number(environment.OTEL_BSP_SCHEDULE_DELAY) || SCHEDULE_DELAY
  const provider = new sdk.TracerProvider({
    resource: defaultResource()
      .merge(resourceFromAttributes({ 'service.name': 'regent', 'service.version': version }))
      .merge(detectResources({ detectors: [envDetector] })),
    sampler: createSampler(environment, sdk),
    spanProcessors: [new sdk.BatchSpanProcessor({ exporter: new OTLPTraceExporter(), scheduledDelayMillis })],
  })
  const tracer = provider.getTracer('regent', version)
  const kinds = { server: SpanKind.SERVER, client: SpanKind.CLIENT, internal: SpanKind.INTERNAL }
  const startSpan = ({ name, kind = 'internal', attributes = {}, parent }: SpanDescription) => {
    const { NONE, SAMPLED } = TraceFlags
    const parentContext = parent && {
      ...{ traceId: parent.traceId, spanId: parent.spanId, isRemote: kind === 'server' },
      traceFlags: parent.isSampled ? SAMPLED : NONE,
    }
    const context = parentContext ? trace.setSpanContext(ROOT_CONTEXT, parentContext) : ROOT_CONTEXT
    const span = tracer.startSpan(name, { kind: kinds[kind], attributes }, context)
    const { traceId, spanId, traceFlags } = span.spanContext()
    return {
      context: { traceId, spanId, isSampled: (traceFlags & SAMPLED) !== 0 },
      setAttributes: (added: NonNullable<SpanDescription['attributes']>) => void span.setAttributes(added),
      fail: (type: string) => void span.setAttribute('error.type', type).setStatus({ code: SpanStatusCode.ERROR }),
      end: () => span.end(),
    }
  }
  setTracer({ startSpan } satisfies Tracer)
  return {
    async close() {
      setTracer(undefined)
      await provider.forceFlush({ timeoutMillis: FLUSH_TIMEOUT }).catch(() => {})
      await provider.shutdown().catch(() => {})
    },
  }
}

/** Whether traces are sent. `OTEL_TRACES_EXPORTER` has no default here, so that nothing is sent unless a collector is named. */
function isEnabled(environment: Environment): boolean {
  const exporter = environment.OTEL_TRACES_EXPORTER || undefined
  const endpoint = environment.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT || environment.OTEL_EXPORTER_OTLP_ENDPOINT
  if (environment.OTEL_SDK_DISABLED?.toLowerCase() === 'true' || exporter === 'none') return false
  if (exporter === undefined && !endpoint) return false
  if (exporter !== undefined && exporter !== 'otlp')
    throw new Error(`OTEL_TRACES_EXPORTER is ${exporter}. Regent supports otlp and none.`)
  const protocol = environment.OTEL_EXPORTER_OTLP_TRACES_PROTOCOL || environment.OTEL_EXPORTER_OTLP_PROTOCOL
  if (protocol === 'grpc')
    throw new Error(
      'OTEL_EXPORTER_OTLP_PROTOCOL is grpc. Regent sends traces over HTTP: set it to http/json, and name the HTTP port of the collector.',
    )
  return true
}

/** Creates the sampler of `OTEL_TRACES_SAMPLER`. @throws Error if it is not supported. */
function createSampler(
  { OTEL_TRACES_SAMPLER: name = '', OTEL_TRACES_SAMPLER_ARG: ratio = '1' }: Environment,
  sdk: typeof import('@opentelemetry/sdk-trace'),
) {
  const { AlwaysOffSampler, AlwaysOnSampler, ParentBasedSampler, TraceIdRatioBasedSampler } = sdk
  const root = {
    always_on: () => new AlwaysOnSampler(),
    always_off: () => new AlwaysOffSampler(),
    traceidratio: () => new TraceIdRatioBasedSampler(Number(ratio)),
  }
  const [, parentBased, base] = /^(parentbased_)?(always_on|always_off|traceidratio)$/.exec(name) ?? []
  if (name && !base)
    throw new Error(
      `OTEL_TRACES_SAMPLER is ${name}. Regent supports ${Object.keys(root).join(', ')}, and parentbased_ before each.`,
    )
  const sampler = Object.entries(root).find(([key]) => key === (base ?? 'always_on'))![1]()
  return parentBased || !base ? new ParentBasedSampler({ root: sampler }) : sampler
}
