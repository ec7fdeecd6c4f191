// What sources that are followed do to the store. What is wrong is told, and the last good state stays.
import { driftPolicy } from '../../service/drift-policy.ts'
import type { Lease } from '../../service/leases.ts'
import type { Service } from '../../service/service.ts'
import type { Drift } from '../drift.ts'
import { applySources, type Outcome } from '../run.ts'
import { sharing } from '../sources/sharing.ts'
import type { SourceState } from '../wanted.ts'
import { isFenced, isRefusal, placesIn } from './failures.ts'
import type { Audience, Followed } from './followed.ts'
import { inDependencyOrder, keeping } from './kept-status.ts'
import { retries } from './retries.ts'

/** Applies sources. Those that state the same realms go together; runs follow each other. */
export interface Follower {
  /** Follows these, too: applies them, once each was read. */
  add(more: readonly Followed[]): Promise<void>
  /** Follows it no more; resolves when nothing of it runs. */
  remove(source: Followed): Promise<void>
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

/** Follows sources while the lease is this process's. */
export function follow(
  service: Service,
  lease: Lease,
  { words, happened = () => {}, stands = () => {} }: Audience,
): Follower {
  const sources = new Set<Followed>()
  const states = new Map<Followed, SourceState>()
  const passing = retries((source) => void changed(source))
  /** What was refused, or waits for others: tried again when another one was applied. */
  const refusedOnes = new Map<Followed, string>()
  const kept = keeping(service, lease, sources)
  /** Of which it is known whether somebody has suspended them. */
  const loaded = new Set<Followed>()
  /** Plans that wait, and of which people have been told. */
  const waiting = new Set<string>()
  let last: Promise<void> = Promise.resolve()
  let ended = false
  const queued = (work: () => Promise<void>) => {
    const done = last.then(() => (ended ? undefined : work()))
    last = done.catch(() => undefined)
    return done
  }
  /** What is alone is read when it changes, and may be long; but what heals is wanted at once, as it was when it was good. */
  const isKept = ({ settings }: SourceState) =>
    sources.size > 1 || settings?.drift?.some(({ policy }) => policy === 'selfHeal') === true
  const load = async () => {
    await kept.load()
    for (const source of sources) loaded.add(source)
  }
  const keep = (source: Followed, state: SourceState) => {
    if (isKept(state)) states.set(source, state)
    else states.delete(source)
  }
  const stand = (source: Followed, outcome?: Outcome) =>
    stands(source, { status: kept.statusOf(source.name) ?? {}, rests: kept.rests(source), ...(outcome && { outcome }) })
  const failed = (source: Followed, error: unknown) => {
    // Somebody else has the lease, and says how it stands.
    if (ended || !sources.has(source) || isFenced(error)) return
    const reason = words(error)
    const problems = placesIn(error)
    if (isRefusal(error)) {
      passing.delete(source)
      kept.note(source, { ending: 'Refused', message: reason, problems })
      stand(source)
      if (refusedOnes.get(source) === reason) return
      refusedOnes.set(source, reason)
      happened({ what: 'refused', source, reason })
      return
    }
    const { wait, isNew } = passing.add(source, reason)
    kept.note(source, { ending: 'Retrying', message: reason, problems, wait })
    stand(source)
    if (isNew) happened({ what: 'failed', source, reason })
  }
  const read = async (source: Followed): Promise<SourceState | undefined> => {
    if (ended || !sources.has(source)) return undefined
    try {
      if (!loaded.has(source)) await load()
      if (!kept.rests(source)) return await source.read()
      stand(source)
      return undefined
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
  /** Gives whether it was applied; it may have to wait. Throws why it was not. */
  const apply = async (source: Followed, together: readonly SourceState[]): Promise<boolean> => {
    const missing = kept.waitsFor(source)
    if (missing.length) {
      const reason = `it is applied after ${missing.join(', ')}`
      kept.note(source, { ending: 'WaitsForSources', message: reason })
      stand(source)
      if (refusedOnes.get(source) !== reason) happened({ what: 'waits', source, reason })
      refusedOnes.set(source, reason)
      return false
    }
    const actor = { kind: 'source', source: together[0]!.name } as const
    const outcome = await applySources(service, { actor, lease }, together)
    if (!isKnown(outcome)) happened({ what: 'applied', outcome })
    for (const { name, revision } of together) kept.applied(name, revision, outcome)
    for (const one of sources) if (together.some(({ name }) => name === one.name)) stand(one, outcome)
    refusedOnes.delete(source)
    if (passing.delete(source)) happened({ what: 'recovered', source })
    return true
  }
  const run = (source: Followed, together: readonly SourceState[]): Promise<boolean> =>
    apply(source, together).catch((error: unknown) => {
      failed(source, error)
      return false
    })
  const attempt = async (source: Followed): Promise<boolean> => {
    const state = await read(source)
    if (!state) return false
    const others = [...states].flatMap(([other, one]) => (other === source ? [] : [one]))
    const good = await run(source, sharing(state, states.get(source), others))
    if (!good || !sources.has(source)) return false
    keep(source, state)
    return true
  }
  /** What was applied may have been in the way of others. */
  const tryOthers = async (applied: readonly Followed[]) => {
    for (const other of [...refusedOnes.keys()]) if (!applied.includes(other)) await attempt(other)
  }
  const attemptWithOthers = async (source: Followed) => {
    if (await attempt(source)) await tryOthers([source])
  }
  /** Applies what was read, as far as possible together: where that is refused, each by itself, so that one that is wrong holds up no other. */
  const applyRead = async (read: ReadonlyMap<Followed, SourceState>): Promise<Followed[]> => {
    const done = new Set<SourceState>()
    const good: Followed[] = []
    for (const [source, state] of read) {
      if (done.has(state) || ended) continue
      const together = sharing(state, undefined, [...states.values(), ...read.values()])
      const own = [...read].filter(([, one]) => together.includes(one))
      for (const [, one] of own) done.add(one)
      const applied = await apply(source, together).catch((error: unknown) => {
        if (own.length === 1) failed(source, error)
        return own.length > 1 && 'refused'
      })
      for (const [one, its] of own) {
        if (applied === 'refused' ? !(await run(one, [its])) : !applied) continue
        keep(one, its)
        good.push(one)
      }
    }
    return good
  }
  const changed = (source: Followed) => queued(() => attemptWithOthers(source))
  const woken = (name: string) =>
    queued(async () => {
      await load()
      const source = [...sources].find((one) => one.name === name)
      if (!source) return
      if (kept.rests(source)) {
        // Nor does it take part in runs of others, as it was read last.
        states.delete(source)
        stand(source)
        happened({ what: 'rests', source, renamedTo: kept.renamed(source) })
      } else await attemptWithOthers(source)
    })
  return {
    add(more) {
      for (const one of more) sources.add(one)
      return queued(async () => {
        const found = new Map<Followed, SourceState>()
        for (const source of inDependencyOrder(more)) {
          const state = await read(source)
          if (state) found.set(source, state)
        }
        const applied = await applyRead(found)
        if (applied.length) await tryOthers(applied)
      })
    },
    remove(source) {
      sources.delete(source)
      return queued(async () => {
        states.delete(source)
        loaded.delete(source)
        refusedOnes.delete(source)
        passing.delete(source)
      })
    },
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
    woken,
    end() {
      ended = true
      passing.close()
      return last
    },
  }
}
