// Tells of drift as it happens, until it is interrupted.
import { describe } from '../../kinds/tree.ts'
import { steppedBackOff } from '../../lib/timing/back-off.ts'
import { retry } from '../../lib/timing/retry.ts'
import type { Drift } from '../../reconcile/drift/drift.ts'
import { afterEvent, type DriftEvent, driftEvents } from '../../reconcile/drift/drift-events.ts'
import { by, text } from '../../reconcile/report/render.ts'
import { connect, type StoreFlags } from '../connect.ts'
import { paint } from '../paint.ts'
import { ApiError, report } from '../report.ts'

/** How long to wait before each further attempt to reach a server that has gone, in milliseconds; the last one for all that follow. */
const DELAYS = [0, 200, 1_000, 5_000]

/** `regent drift --watch`. Returns when it is interrupted. */
export async function watchDrift(realm: string | undefined, flags: StoreFlags & { output: string }): Promise<void> {
  if (flags.output === 'markdown') throw new Error('drift that is watched is told as text or as json')
  const ending = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => ending.abort())
  const query = realm === undefined ? '' : `?realm=${encodeURIComponent(realm)}`
  const tell = flags.output === 'json' ? line : process.stdout.isTTY ? block : plain
  let known: readonly Drift[] | undefined
  const heard = (events: readonly DriftEvent[]) => {
    for (const one of events) console.log(tell(one))
  }
  let failures = 0
  const watch = async () => {
    const connection = await connect(flags)
    try {
      for await (const { event, data } of connection.events(`/regent/v1/drift/events${query}`, ending.signal)) {
        const now =
          event === 'state' ? (data as Drift[]) : afterEvent(known ?? [], { event, drift: data } as DriftEvent)
        if (!known && !now.length && tell !== line) console.error('No drift: everything is as it was applied.')
        heard(driftEvents(known ?? [], now))
        known = now
        if (failures > 1) console.error('The server answers again.')
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
    // Who was never answered has named the wrong server; who is refused will be so again.
    if (!hasEnded && (!known || (error instanceof ApiError && error.status < 500))) return undefined
    if (!hasEnded && failures === 1) console.error(`${report(error)}; trying again`)
    return steppedBackOff(++failures, DELAYS)
  }
  await retry(watch, { delayAfter, signal: ending.signal }).catch((error: unknown) => {
    if (!ending.signal.aborted) throw error
  })
}

/** The server has ended the stream, as it does when the token ends. */
class StreamEnded extends Error {}

/** A JSON text in one line. */
const line = ({ event, drift }: DriftEvent) => JSON.stringify({ event, ...drift })

/** One line, for what reads line by line. */
function plain({ event, drift }: DriftEvent): string {
  const who = event === 'drift' && drift.by ? `, ${by(drift.by)}` : ''
  return `${event} ${drift.realm} ${describe(drift.kind, drift.key)}${what({ event, drift })}${who} (${drift.file}:${drift.line})`
}

/** A few lines, for people. */
function block({ event, drift }: DriftEvent): string {
  const head = `${paint('dim', new Date().toLocaleTimeString())} ${drift.realm} ${describe(drift.kind, drift.key)}${what({ event, drift })}`
  const who = event === 'drift' && drift.by ? `${by(drift.by)}; ` : ''
  return `${event === 'drift' ? paint('yellow', '!') : paint('green', '✓')} ${head}\n  ${who}stated at ${drift.file}:${drift.line}`
}

function what({ event, drift }: DriftEvent): string {
  const { path, applied, live } = drift
  if (event === 'settled') return path === undefined ? ' is there again' : `: ${path} is settled`
  if (path === undefined) return ' was deleted'
  if (!('applied' in drift)) return `: ${path} was changed (a secret)`
  return `: ${path}: ${text(applied ?? null)} → ${text(live ?? null)}`
}
