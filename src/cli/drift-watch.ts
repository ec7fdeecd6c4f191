// Tells of drift as it happens, until it is interrupted.
import { setTimeout } from 'node:timers/promises'
import { describe } from '../kinds/tree.ts'
import type { Drift } from '../reconcile/drift.ts'
import { afterEvent, type DriftEvent, driftEvents } from '../reconcile/drift-events.ts'
import { by, text } from '../reconcile/render.ts'
import { type Connection, connect, type StoreFlags } from './connect.ts'
import { paint } from './paint.ts'
import { ApiError, report } from './report.ts'

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
  while (!ending.signal.aborted) {
    let connection: Connection | undefined
    try {
      connection = await connect(flags)
      for await (const { event, data } of connection.events(`/regent/v1/drift/events${query}`, ending.signal)) {
        const now =
          event === 'state' ? (data as Drift[]) : afterEvent(known ?? [], { event, drift: data } as DriftEvent)
        if (!known && !now.length && tell !== line) console.error('No drift: everything is as it was applied.')
        heard(driftEvents(known ?? [], now))
        known = now
        if (failures > 1) console.error('The server answers again.')
        failures = 0
      }
    } catch (error) {
      if (ending.signal.aborted) return
      // Who was never answered has named the wrong server; who is refused will be so again.
      if (!known || (error instanceof ApiError && error.status < 500)) throw error
      if (failures === 1) console.error(`${report(error)}; trying again`)
    } finally {
      await connection?.close()
    }
    await setTimeout(DELAYS[Math.min(failures++, DELAYS.length - 1)], undefined, { signal: ending.signal }).catch(
      () => {},
    )
  }
}

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
