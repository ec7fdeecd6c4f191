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
import { inDependencyOrder, keeping } from './kept-status.ts'
import { paint } from './paint.ts'
import { placesIn, report } from './report.ts'
import { retries } from './retries.ts'

/** Lines that are written at a time. */
const LINES = 1_000

/** A source that is watched. */
export interface Followed {
  readonly name: string
  /** What it is called on the terminal. */
  readonly called: string
  /** The commit that was read last, good or not. */
  readonly attempted: string | undefined
  /** It is applied once each of these has been applied. */
  readonly dependsOn?: readonly string[]
  /** Its settings say that it is not to be read. */
  readonly suspend?: boolean
  /** Seconds after which it is tried again for the first time. */
  readonly retryInterval: number
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
  /** Whether it failed last for a reason that may pass: it is tried again without being asked for. */
  unfinished(source: Followed): boolean
  /** Whether one of them says that this is put back at once. */
  heals(drift: Drift): boolean
  /** Applies the source of that name as it was when it was good last. Gives whether it was applied. */
  heal(name: string): Promise<boolean>
  /** Somebody wants it to be read, suspends it, or lets it go on. */
  woken(name: string): Promise<void>
  /** Begins nothing more, and lets what runs end: nothing more is told of what fails. */
  end(): Promise<void>
}

/** Follows the sources while the lease is this process's. What is wrong is told, and the last good state stays. */
export function follow(service: Service, sources: readonly Followed[], lease: Lease): Follower {
  const states = new Map<Followed, SourceState>()
  const passing = retries((source) => void changed(source))
  /** What was refused, or waits for others: tried again when another one was applied. */
  const refusedOnes = new Map<Followed, string>()
  const kept = keeping(service, lease, sources)
  /** Plans that wait, and of which people have been told. */
  const waiting = new Set<string>()
  let last: Promise<void> = Promise.resolve()
  let ended = false
  const queued = (work: () => Promise<void>) => {
    last = last.then(() => (ended ? undefined : work()))
    return last
  }
  /** What is alone is read when it changes, and may be long; but what heals is wanted at once, as it was when it was good. */
  const isKept = ({ settings }: SourceState) =>
    sources.length > 1 || settings?.drift?.some(({ policy }) => policy === 'selfHeal') === true
  const failed = (source: Followed, error: unknown) => {
    if (ended) return
    const reason = report(error)
    const problems = placesIn(error)
    if (isRefusal(error)) {
      passing.delete(source)
      kept.note(source, { ending: 'Refused', message: reason, problems })
      if (refusedOnes.get(source) === reason) return
      refusedOnes.set(source, reason)
      refused(source, error)
      return
    }
    const { wait, isNew } = passing.add(source, reason)
    kept.note(source, { ending: 'Retrying', message: reason, problems, wait })
    if (!isNew) return
    console.error(`${paint('red', `${source.called} cannot be applied now; what was live stays:`)}\n${reason}\n`)
  }
  const read = async (source: Followed): Promise<SourceState | undefined> => {
    if (ended || kept.rests(source)) return undefined
    try {
      return await source.read()
    } catch (error) {
      failed(source, error)
      return undefined
    }
  }
  /** Whether nothing was done, and all that waits was told before. */
  const isKnown = ({ realms }: Outcome): boolean => {
    const plans = realms.flatMap(({ guarded }) => guarded?.plan ?? [])
    const known = plans.length > 0 && plans.every((plan) => waiting.has(plan))
    for (const plan of plans) waiting.add(plan)
    return known && realms.every(({ plan, guarded }) => guarded || (!plan.creates && !plan.actions.length))
  }
  const run = async (source: Followed, together: readonly SourceState[]): Promise<boolean> => {
    const missing = kept.waitsFor(source)
    if (missing.length) {
      const reason = `it is applied after ${missing.join(', ')}`
      kept.note(source, { ending: 'WaitsForSources', message: reason })
      if (refusedOnes.get(source) !== reason) console.log(`${source.called}: ${reason}.\n`)
      refusedOnes.set(source, reason)
      return false
    }
    try {
      const actor = { kind: 'source', source: together[0]!.name } as const
      const outcome = await applySources(service, { actor, lease }, together)
      if (!isKnown(outcome)) tell(outcome)
      for (const { name, revision } of together) kept.applied(name, revision, outcome)
      refusedOnes.delete(source)
      if (passing.delete(source)) console.log(`${source.called} can be applied again.\n`)
      return true
    } catch (error) {
      failed(source, error)
      return false
    }
  }
  const attempt = async (source: Followed): Promise<boolean> => {
    const state = await read(source)
    if (!state) return false
    const others = [...states].flatMap(([other, one]) => (other === source ? [] : [one]))
    const good = await run(source, sharing(state, states.get(source), others))
    if (!good) return false
    if (isKept(state)) states.set(source, state)
    else states.delete(source)
    return true
  }
  const changed = (source: Followed) =>
    queued(async () => {
      if (!(await attempt(source))) return
      for (const other of [...refusedOnes.keys()]) if (other !== source) await attempt(other)
    })
  return {
    begin: () =>
      queued(async () => {
        await kept.load()
        for (const source of inDependencyOrder(sources)) {
          const state = await read(source)
          if (state) states.set(source, state)
        }
        const applied = new Set<SourceState>()
        for (const [source, state] of states) {
          if (applied.has(state)) continue
          const together = sharing(state, undefined, [...states.values()])
          for (const one of together) applied.add(one)
          if (!ended) await run(source, together)
        }
        for (const [source, state] of states) if (!isKept(state)) states.delete(source)
      }),
    changed,
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
        if (source && state && !kept.rests(source))
          good = await run(source, sharing(state, undefined, [...states.values()]))
      })
      return good
    },
    woken: (name) =>
      queued(async () => {
        await kept.load()
        const source = sources.find((one) => one.name === name)
        if (!source) return
        if (kept.rests(source)) {
          // Nor does it take part in runs of others, as it was read last.
          states.delete(source)
          console.log(`${source.called} is suspended: it is not read, and what was applied stays.\n`)
        } else await attempt(source)
      }),
    end() {
      ended = true
      passing.close()
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
