// The stored statuses of followed sources, and their suspension by administrators.
import type { Service } from '../../service/context/service.ts'
import type { Lease } from '../../service/context/store-types.ts'
import {
  type FinishedAttempt,
  findSourceStates,
  type SourceAttempt,
  type SourceState,
  type SourceStatus,
  saveSourceStatus,
  updateStatus,
} from '../../service/sources/source-status.ts'
import { notifyRefused } from '../report/notifications.ts'
import type { RunOutcome } from '../run/run.ts'
import type { FollowedSource } from './followed-source.ts'

/** The result of an attempt. */
type AttemptEnd = Omit<FinishedAttempt, 'at' | 'revision' | 'nextTryAt'> & {
  /** Milliseconds until the retry. */
  readonly delay?: number
}

/** Reads and writes the statuses of sources while this process holds the lease. Unchanged statuses are not written. */
export class SourceStatuses {
  readonly #service: Service
  readonly #lease: Lease
  readonly #sources: ReadonlySet<FollowedSource>
  readonly #known = new Map<string, SourceState>()
  #lastWrite: Promise<void> = Promise.resolve()

  /** `sources`: the followed sources; may change. */
  constructor(service: Service, lease: Lease, sources: ReadonlySet<FollowedSource>) {
    this.#service = service
    this.#lease = lease
    this.#sources = sources
  }

  /** Reads the statuses. One statement. */
  async load(): Promise<void> {
    await this.#lastWrite
    const names = [...this.#sources].map(({ name }) => name)
    for (const state of await findSourceStates(this.#service, names)) this.#known.set(state.name, state)
  }

  /** Whether a source is suspended, by its settings or by an administrator. */
  isSuspended({ name, suspend }: FollowedSource): boolean {
    return suspend === true || Boolean(this.#known.get(name)?.suspended)
  }

  /** Returns the current name of a source that is suspended because it was renamed. */
  currentName({ name }: FollowedSource): string | undefined {
    return this.#known.get(name)?.suspended?.renamedTo
  }

  /** Returns the status of a source; undefined where it has none. */
  find(name: string): SourceStatus | undefined {
    return this.#known.get(name)?.status
  }

  /** Returns the names of sources that it depends on and that were never applied. */
  missingDependencies({ dependsOn = [] }: FollowedSource): string[] {
    return dependsOn.filter((name) => !this.#known.get(name)?.status.applied)
  }

  /** Records that an attempt ended without success. */
  recordFailure({ name, attemptedRevision }: FollowedSource, end: AttemptEnd): void {
    this.#record(name, attemptedRevision, end)
  }

  /** Records that a source was applied, unless it is suspended or its plan is pending approval. */
  recordOutcome(name: string, revision: string, { realms }: RunOutcome): void {
    const suspension = realms.find((realm) => realm.suspended)?.suspended
    if (suspension) {
      const { by, revision: restored } = suspension
      const message = `Suspended, since ${by} rolled back to r${restored}. Declare those values, or run "regent source resume ${name}".`
      this.#record(name, revision, { outcome: 'RolledBack', message })
    } else if (realms.some((realm) => realm.pendingApproval)) {
      const message = 'the plan is pending approval: "regent plans" shows it'
      this.#record(name, revision, { outcome: 'PendingApproval', message })
    } else this.#record(name, revision, { outcome: 'Applied' })
  }

  #record(name: string, revision: string | undefined, { delay, ...end }: AttemptEnd): void {
    const before = this.#known.get(name) ?? { name, realms: [], suspended: null, status: {} }
    const now = this.#service.clock()
    const nextTryAt = delay === undefined ? undefined : new Date(now.getTime() + delay).toISOString()
    const status = updateStatus(before.status, { ...end, revision, at: now.toISOString(), nextTryAt })
    if (!status) return
    this.#known.set(name, { ...before, status })
    // After a database error, the next attempt writes it again.
    const notify = isNewRefusal(before.status, status) ? notifyRefused : undefined
    const write = () => saveSourceStatus(this.#service, this.#lease, { source: name, status, notify })
    this.#lastWrite = this.#lastWrite.then(() => write().catch(() => void this.#known.set(name, before)))
  }
}

/** Whether a revision was refused that was not refused before for the same reason, such as before a failure of its host. */
function isNewRefusal(before: SourceStatus, { ready, attempted }: SourceStatus): boolean {
  const isSame = ({ revision, message }: SourceAttempt) =>
    revision === attempted?.revision && message === attempted?.message
  return ready?.reason === 'Refused' && !before.attempts?.some(isSame)
}

/** Returns the sources sorted so that each is after its dependencies. */
export function sortByDependencies(sources: readonly FollowedSource[]): FollowedSource[] {
  const ordered = new Set<FollowedSource>()
  const add = (source: FollowedSource) => {
    for (const other of sources) if (source.dependsOn?.includes(other.name)) add(other)
    ordered.add(source)
  }
  sources.forEach(add)
  return [...ordered]
}
