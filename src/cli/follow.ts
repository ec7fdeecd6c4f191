// What watched sources do to the store, told on the terminal.
import { chunks } from '../lib/chunks.ts'
import { DocumentError } from '../realm-file/problem.ts'
import { ActionError } from '../reconcile/apply.ts'
import type { Drift } from '../reconcile/drift.ts'
import { outcomeLines } from '../reconcile/render.ts'
import { applySources, type Outcome } from '../reconcile/run.ts'
import { SourceError } from '../reconcile/sources/file.ts'
import { RemoteError } from '../reconcile/sources/git-command.ts'
import { sharing } from '../reconcile/sources/sharing.ts'
import type { SourceState } from '../reconcile/wanted.ts'
import { driftPolicy } from '../service/drift-policy.ts'
import { ServiceError } from '../service/errors.ts'
import type { Lease } from '../service/leases.ts'
import type { Service } from '../service/service.ts'
import { paint } from './paint.ts'
import { report } from './report.ts'

/** Lines that are written at a time. */
const LINES = 1_000

/** A source that is watched. */
export interface Followed {
  readonly name: string
  /** What it is called on the terminal. */
  readonly called: string
  /** The commit that was read last, good or not. */
  readonly attempted: string | undefined
  /** What failed for another reason than what it states is tried again by itself. */
  readonly retried: boolean
  /** What it states now. */
  read(): Promise<SourceState>
}

/** Applies sources. Those that state the same realms go together; runs follow each other. */
export interface Follower {
  /** Applies all of them, once each was read. */
  begin(): Promise<void>
  /** Applies one as it is now, with the others as they were when they were read last. */
  changed(source: Followed): Promise<void>
  /** Tells that it cannot be asked whether it has changed; not again while the reason is the same. */
  failed(source: Followed, error: unknown): void
  /** Whether it failed last for a reason that may pass. */
  unfinished(source: Followed): boolean
  /** Whether one of them says that this is put back at once. */
  heals(drift: Drift): boolean
  /** Applies the source of that name as it was when it was good last. Gives whether it was applied. */
  heal(name: string): Promise<boolean>
  /** Begins nothing more, and lets what runs end: nothing more is told of what fails. */
  end(): Promise<void>
}

/** Follows the sources while the lease is this process's. What is wrong is told, and the last good state stays. */
export function follow(service: Service, sources: readonly Followed[], lease: Lease): Follower {
  const states = new Map<Followed, SourceState>()
  const passing = new Map<Followed, string>()
  let last: Promise<void> = Promise.resolve()
  let ended = false
  const queued = (work: () => Promise<void>) => {
    last = last.then(() => (ended ? undefined : work()))
    return last
  }
  /** What is alone is read when it changes, and may be long; but what heals is wanted at once, as it was when it was good. */
  const kept = ({ settings }: SourceState) =>
    sources.length > 1 || settings?.drift?.some(({ policy }) => policy === 'selfHeal') === true
  const failed = (source: Followed, error: unknown) => {
    if (ended) return
    if (!source.retried || isRefusal(error)) {
      passing.delete(source)
      refused(source, error)
      return
    }
    const reason = report(error)
    if (passing.get(source) === reason) return
    passing.set(source, reason)
    console.error(`${paint('red', `${source.called} cannot be applied now; what was live stays:`)}\n${reason}\n`)
  }
  const read = async (source: Followed): Promise<SourceState | undefined> => {
    try {
      return await source.read()
    } catch (error) {
      failed(source, error)
      return undefined
    }
  }
  const run = async (source: Followed, together: readonly SourceState[]): Promise<boolean> => {
    try {
      const actor = { kind: 'source', source: together[0]!.name } as const
      tell(await applySources(service, { actor, lease }, together))
      if (passing.delete(source)) console.log(`${source.called} can be applied again.\n`)
      return true
    } catch (error) {
      failed(source, error)
      return false
    }
  }
  return {
    begin: () =>
      queued(async () => {
        for (const source of sources) {
          const state = ended ? undefined : await read(source)
          if (state) states.set(source, state)
        }
        const applied = new Set<SourceState>()
        for (const [source, state] of states) {
          if (applied.has(state)) continue
          const together = sharing(state, undefined, [...states.values()])
          for (const one of together) applied.add(one)
          if (!ended) await run(source, together)
        }
        for (const [source, state] of states) if (!kept(state)) states.delete(source)
      }),
    changed: (source) =>
      queued(async () => {
        const state = await read(source)
        if (!state) return
        const others = [...states].flatMap(([other, one]) => (other === source ? [] : [one]))
        const good = await run(source, sharing(state, states.get(source), others))
        if (!good) return
        if (kept(state)) states.set(source, state)
        else states.delete(source)
      }),
    failed,
    unfinished: (source) => passing.has(source),
    heals: ({ source, kind, path, by }) =>
      [...states.values()].some(
        ({ name, settings = {} }) => name === source && driftPolicy([settings], kind, path, by) === 'selfHeal',
      ),
    async heal(name) {
      let good = false
      await queued(async () => {
        const [source, state] = [...states].find(([, one]) => one.name === name) ?? []
        if (source && state) good = await run(source, sharing(state, undefined, [...states.values()]))
      })
      return good
    },
    end() {
      ended = true
      return last
    },
  }
}

/** Whether it is due to what the source states: nothing but another statement helps. */
function isRefusal(error: unknown): boolean {
  if (error instanceof SourceError) return !(error instanceof RemoteError)
  return error instanceof DocumentError || error instanceof ServiceError || error instanceof ActionError
}

function tell(outcome: Outcome): void {
  const read = outcome.sources.map(({ name, revision }) => `${name} at ${revision}`).join(', ')
  console.log(`${paint('dim', new Date().toLocaleTimeString())} ${read}`)
  for (const lines of chunks(outcomeLines(outcome, 'applied', paint), LINES)) console.log(lines.join('\n'))
  console.log()
}

function refused({ called, attempted }: Followed, error: unknown): void {
  const what = attempted ? `${called} at ${attempted}` : called
  console.error(`${paint('red', `${what} was not applied; what was live stays:`)}\n${report(error)}\n`)
}
