// Prints drift as it happens, until Ctrl-C.
import { describeObject } from '../../kinds/tree.ts'
import { getSteppedBackOff } from '../../lib/timing/back-off.ts'
import { retry } from '../../lib/timing/retry.ts'
import type { Drift } from '../../reconcile/drift/drift.ts'
import { applyDriftEvent, type DriftEvent, listDriftEvents } from '../../reconcile/drift/drift-events.ts'
import { formatTime, renderAttribution } from '../../reconcile/model/attribution.ts'
import { listValueLines, renderLiveChange } from '../../reconcile/report/value-text.ts'
import { connect, type StoreFlags } from '../connect.ts'
import { paint } from '../paint.ts'
import { ApiError, renderError } from '../render-error.ts'
import { releaseSignals } from '../terminal/interruption.ts'

/** Milliseconds before each further attempt to reconnect. The last one repeats. */
const DELAYS = [0, 200, 1_000, 5_000]

/** `regent drift --watch`. Returns when it is interrupted. */
export async function watchDrift(realm: string | undefined, flags: StoreFlags & { output: string }): Promise<void> {
  if (flags.output === 'markdown') throw new Error('--watch prints text or json. Use --output text or --output json.')
  const ending = new AbortController()
  releaseSignals()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => ending.abort())
  process.stdout.on('error', () => ending.abort())
  const query = realm === undefined ? '' : `?realm=${encodeURIComponent(realm)}`
  const render = flags.output === 'json' ? renderJsonLine : process.stdout.isTTY ? renderBlock : renderLine
  let previous: readonly Drift[] | undefined
  const printEvents = (events: readonly DriftEvent[]) => {
    for (const event of events) console.log(render(event))
  }
  let failures = 0
  const watch = async () => {
    const connection = await connect(flags)
    try {
      for await (const { event, data } of connection.events(`/regent/v1/drift/events${query}`, ending.signal)) {
        const now =
          event === 'state' ? (data as Drift[]) : applyDriftEvent(previous ?? [], { event, drift: data } as DriftEvent)
        if (!previous && !now.length && render !== renderJsonLine) console.error('No drift.')
        printEvents(listDriftEvents(previous ?? [], now))
        previous = now
        if (failures > 1) console.error('Connected again.')
        failures = 0
      }
    } finally {
      await connection.close()
    }
    throw new StreamEnded()
  }
  const delayAfter = (error: unknown) => {
    if (ending.signal.aborted) return undefined
    const hasEnded = error instanceof StreamEnded
    // Without a first response the URL is probably wrong, and a refusal would be repeated.
    if (!hasEnded && (!previous || (error instanceof ApiError && error.status < 500))) return undefined
    if (!hasEnded && failures === 1) console.error(`${renderError(error)} Trying again …`)
    return getSteppedBackOff(++failures, DELAYS)
  }
  await retry(watch, { delayAfter, signal: ending.signal }).catch((error: unknown) => {
    if (!ending.signal.aborted) throw error
  })
}

/** The server ended the stream, as it does when the token expires. */
class StreamEnded extends Error {}

/** Renders an event as one line of JSON. */
const renderJsonLine = ({ event, drift }: DriftEvent) => JSON.stringify({ event, ...drift })

/** Renders an event as one line of text, for pipes. */
function renderLine({ event, drift }: DriftEvent): string {
  const author = event === 'drift' && drift.by ? `, ${renderAttribution(drift.by)}` : ''
  return `${event} ${drift.realm} ${describeObject(drift.kind, drift.key)}${describeDrift({ event, drift })}${author} (${drift.file}:${drift.line})`
}

/** Renders an event as a few lines of text, for terminals. */
function renderBlock({ event, drift }: DriftEvent): string {
  const head = `${paint('dim', formatTime(new Date().toISOString()))} ${drift.realm} ${describeObject(drift.kind, drift.key)}${describeDrift({ event, drift })}`
  const author = event === 'drift' && drift.by ? `${renderAttribution(drift.by)}; ` : ''
  return `${event === 'drift' ? paint('yellow', '!') : paint('green', '✓')} ${head}\n  ${author}declared at ${drift.file}:${drift.line}`
}

function describeDrift({ event, drift }: DriftEvent): string {
  const { path, applied, live } = drift
  if (event === 'resolved') return path === undefined ? ' exists again' : `: ${path} no longer differs`
  if (path === undefined) return ' was deleted'
  if (!('applied' in drift)) return `: ${path} was changed (${drift.encrypted ? 'an encrypted value' : 'a secret'})`
  const change = renderLiveChange({ kind: drift.kind, path, from: applied, to: live })
  return `: ${path}: ${listValueLines(change, paint).join('; ')}`
}
