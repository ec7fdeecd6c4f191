// What is kept of the sources that a server follows: how they are doing, for everybody who asks, and what is wanted of them.

import type { Lease } from '../../service/leases.ts'
import type { Service } from '../../service/service.ts'
import {
  type Ended,
  keepStatus,
  type SourceState,
  type SourceStatus,
  sourceStates,
  statusAfter,
} from '../../service/source-states.ts'
import type { Outcome } from '../run.ts'
import type { Followed } from './followed.ts'

/** The states of sources, as they are kept. What says nothing new is not written. */
export interface Kept {
  /** Reads them. One statement. */
  load(): Promise<void>
  /** It is not to be read. */
  rests(source: Followed): boolean
  /** What it is called now, where it rests since it was called otherwise. */
  renamed(source: Followed): string | undefined
  /** How the source of that name is doing; undefined where nothing is known of it. */
  statusOf(name: string): SourceStatus | undefined
  /** What it depends on and that was never applied. */
  waitsFor(source: Followed): string[]
  /** An attempt ended without success; where it is tried again by itself, after `wait` milliseconds. */
  note(source: Followed, how: How & { readonly wait?: number }): void
  /** A source was applied, as far as nobody holds it and nothing waits for an approval. */
  applied(name: string, revision: string, outcome: Outcome): void
}

/** How an attempt ended, but for when and what was attempted. */
type How = Omit<Ended, 'at' | 'revision' | 'nextTryAt'>

/** Keeps the states of these sources, as they are then, while the lease is this process's. */
export function keeping(service: Service, lease: Lease, sources: ReadonlySet<Followed>): Kept {
  const known = new Map<string, SourceState>()
  let last: Promise<void> = Promise.resolve()
  const keep = (name: string, revision: string | undefined, { wait, ...how }: How & { readonly wait?: number }) => {
    const own = known.get(name) ?? { name, realms: [], suspended: null, status: {} }
    const now = service.clock()
    const nextTryAt = wait === undefined ? undefined : new Date(now.getTime() + wait).toISOString()
    const status = statusAfter(own.status, { ...how, revision, at: now.toISOString(), nextTryAt })
    if (!status) return
    known.set(name, { ...own, status })
    // Where the store does not answer, the next attempt says it again.
    last = last.then(() => keepStatus(service, lease, name, status).catch(() => void known.set(name, own)))
  }
  return {
    async load() {
      await last
      const found = await sourceStates(
        service,
        [...sources].map(({ name }) => name),
      )
      for (const one of found) known.set(one.name, one)
    },
    rests: ({ name, suspend }) => suspend === true || Boolean(known.get(name)?.suspended),
    renamed: ({ name }) => known.get(name)?.suspended?.renamedTo,
    statusOf: (name) => known.get(name)?.status,
    waitsFor: ({ dependsOn = [] }) => dependsOn.filter((name) => !known.get(name)?.status.applied),
    note: ({ name, attempted }, how) => keep(name, attempted, how),
    applied(name, revision, { realms }) {
      const held = realms.find((one) => one.held)?.held
      const guarded = realms.find((one) => one.guarded)
      if (held)
        keep(name, revision, { ending: 'Held', message: `held since ${held.by} went back to r${held.revision}` })
      else if (guarded)
        keep(name, revision, {
          ending: 'WaitsForApproval',
          message: 'it waits for an approval: "regent plans" shows it',
        })
      else keep(name, revision, { ending: 'Applied' })
    },
  }
}

/** The sources, each after those that it depends on. */
export function inDependencyOrder(sources: readonly Followed[]): Followed[] {
  const ordered = new Set<Followed>()
  const add = (source: Followed) => {
    for (const other of sources) if (source.dependsOn?.includes(other.name)) add(other)
    ordered.add(source)
  }
  sources.forEach(add)
  return [...ordered]
}
