// The statuses of the sources that a server follows, as the store has them, and what administrators ask for.
import type { Service } from '../../service/context/service.ts'
import type { Lease } from '../../service/context/store-types.ts'
import {
  type Ended,
  keepStatus,
  type SourceState,
  type SourceStatus,
  sourceStates,
  statusAfter,
} from '../../service/sources/source-states.ts'
import type { Outcome } from '../run/run.ts'
import type { Followed } from './followed.ts'

/** How an attempt ended, but for when and what was attempted. */
type AttemptEnd = Omit<Ended, 'at' | 'revision' | 'nextTryAt'> & {
  /** Milliseconds after which it is retried. */
  readonly wait?: number
}

/** Reads and writes the statuses of sources while the lease is this process's. A status that is as before is not written. */
export class SourceStatuses {
  readonly #service: Service
  readonly #lease: Lease
  readonly #sources: ReadonlySet<Followed>
  readonly #known = new Map<string, SourceState>()
  #lastWrite: Promise<void> = Promise.resolve()

  /** `sources`: as they are whenever statuses are loaded. */
  constructor(service: Service, lease: Lease, sources: ReadonlySet<Followed>) {
    this.#service = service
    this.#lease = lease
    this.#sources = sources
  }

  /** Reads the statuses. One statement. */
  async load(): Promise<void> {
    await this.#lastWrite
    const names = [...this.#sources].map(({ name }) => name)
    for (const state of await sourceStates(this.#service, names)) this.#known.set(state.name, state)
  }

  /** Whether a source is suspended: it is not to be read. */
  isSuspended({ name, suspend }: Followed): boolean {
    return suspend === true || Boolean(this.#known.get(name)?.suspended)
  }

  /** Returns the current name of a source that is suspended since it was renamed. */
  currentName({ name }: Followed): string | undefined {
    return this.#known.get(name)?.suspended?.renamedTo
  }

  /** Returns the status of the source of that name; undefined where it has none. */
  find(name: string): SourceStatus | undefined {
    return this.#known.get(name)?.status
  }

  /** Returns the sources that it depends on and that were never applied. */
  missingDependencies({ dependsOn = [] }: Followed): string[] {
    return dependsOn.filter((name) => !this.#known.get(name)?.status.applied)
  }

  /** Records that an attempt ended without success. */
  recordFailure({ name, attempted }: Followed, end: AttemptEnd): void {
    this.#record(name, attempted, end)
  }

  /** Records that a source was applied, unless it is suspended or its plan is pending approval. */
  recordOutcome(name: string, revision: string, { realms }: Outcome): void {
    const suspension = realms.find((one) => one.suspended)?.suspended
    if (suspension) {
      const message = `suspended since ${suspension.by} rolled back to r${suspension.revision}`
      this.#record(name, revision, { ending: 'RolledBack', message })
    } else if (realms.some((one) => one.pendingApproval)) {
      const message = 'the plan is pending approval: "regent plans" shows it'
      this.#record(name, revision, { ending: 'PendingApproval', message })
    } else this.#record(name, revision, { ending: 'Applied' })
  }

  #record(name: string, revision: string | undefined, { wait, ...end }: AttemptEnd): void {
    const before = this.#known.get(name) ?? { name, realms: [], suspended: null, status: {} }
    const now = this.#service.clock()
    const nextTryAt = wait === undefined ? undefined : new Date(now.getTime() + wait).toISOString()
    const status = statusAfter(before.status, { ...end, revision, at: now.toISOString(), nextTryAt })
    if (!status) return
    this.#known.set(name, { ...before, status })
    // Where the store does not answer, the next attempt writes it again.
    const write = () => keepStatus(this.#service, this.#lease, name, status)
    this.#lastWrite = this.#lastWrite.then(() => write().catch(() => void this.#known.set(name, before)))
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
