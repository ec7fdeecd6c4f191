// What watched sources do to the store, told on the terminal.
import { chunks } from '../lib/chunks.ts'
import { outcomeLines } from '../reconcile/render.ts'
import { applySources, type Outcome } from '../reconcile/run.ts'
import { sharing } from '../reconcile/sources/sharing.ts'
import type { SourceState } from '../reconcile/wanted.ts'
import type { Service } from '../service/service.ts'
import { paint } from './paint.ts'
import { report } from './report.ts'

/** Lines that are written at a time. */
const LINES = 1_000

/** A source that is watched. */
export interface Followed {
  /** What it is called on the terminal. */
  readonly called: string
  /** What it states now. */
  read(): Promise<SourceState>
}

/** Applies sources. Those that state the same realms go together; runs follow each other. */
export interface Follower {
  /** Applies all of them, once each was read. */
  begin(): Promise<void>
  /** Applies one as it is now, with the others as they were when they were read last. */
  changed(source: Followed): Promise<void>
}

/** Follows the sources. What is wrong is told, and the last good state stays. */
export function follow(service: Service, sources: readonly Followed[]): Follower {
  const states = new Map<Followed, SourceState>()
  let last: Promise<void> = Promise.resolve()
  const queued = (work: () => Promise<void>) => {
    last = last.then(work)
    return last
  }
  const read = async (source: Followed): Promise<SourceState | undefined> => {
    try {
      return await source.read()
    } catch (error) {
      refused(source.called, error)
      return undefined
    }
  }
  const run = async (called: string, together: readonly SourceState[]): Promise<boolean> => {
    try {
      const actor = { kind: 'source', source: together[0]!.name } as const
      tell(await applySources(service, { actor }, together))
      return true
    } catch (error) {
      refused(called, error)
      return false
    }
  }
  return {
    begin: () =>
      queued(async () => {
        for (const source of sources) {
          const state = await read(source)
          if (state) states.set(source, state)
        }
        const applied = new Set<SourceState>()
        for (const [source, state] of states) {
          if (applied.has(state)) continue
          const together = sharing(state, undefined, [...states.values()])
          for (const one of together) applied.add(one)
          await run(source.called, together)
        }
        // What is alone is read when it changes, and may be long.
        if (sources.length === 1) states.clear()
      }),
    changed: (source) =>
      queued(async () => {
        const state = await read(source)
        if (!state) return
        const others = [...states].flatMap(([other, one]) => (other === source ? [] : [one]))
        const good = await run(source.called, sharing(state, states.get(source), others))
        if (good && sources.length > 1) states.set(source, state)
      }),
  }
}

function tell(outcome: Outcome): void {
  const read = outcome.sources.map(({ name, revision }) => `${name} at ${revision}`).join(', ')
  console.log(`${paint('dim', new Date().toLocaleTimeString())} ${read}`)
  for (const lines of chunks(outcomeLines(outcome, 'applied', paint), LINES)) console.log(lines.join('\n'))
  console.log()
}

function refused(called: string, error: unknown): void {
  console.error(`${paint('red', `${called} was not applied; what was live stays:`)}\n${report(error)}\n`)
}
