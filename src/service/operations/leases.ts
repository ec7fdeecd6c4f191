// Leases: of several processes over one store, one at a time does some work, such as applying sources.
import { randomBytes } from 'node:crypto'
import { hostname } from 'node:os'
import { WorkQueue } from '../../lib/timing/work-queue.ts'
import {
  findLeaseHolder,
  hasLease,
  type Lease,
  lockLease,
  releaseLease,
  renewLease,
  takeLease,
} from '../../store/database/leases.ts'
import type { Transaction } from '../../store/database/transaction.ts'
import { failure } from '../context/errors.ts'
import type { Service } from '../context/service.ts'

/** The lease of the process that applies sources. */
export const RECONCILE_LEASE = 'reconcile'

/** The work of a process while it has a lease. */
export interface LeaseWork {
  /** Ends the work. Writes that are still running are refused, since the token of the lease is no longer valid. */
  end(): Promise<void>
}

/** The callbacks of a process that competes for a lease. */
export interface LeaseCandidate {
  /** Starts the work when the process has got the lease. Must return at once, so that the lease is renewed meanwhile. */
  start(lease: Lease): LeaseWork
  /** Called once for each other process that has the lease. `wasHolder`: this process had it before. */
  onNewHolder(holder: string, wasHolder: boolean): void
  /** Called if the store cannot be queried. */
  onError(error: unknown): void
  /** A condition for the lease besides those of the store. Absent: none. */
  readonly condition?: LeaseCondition
}

/** A condition that a process must meet to have a lease. It is confirmed before each renewal. */
export interface LeaseCondition {
  /** Meets the condition for `seconds`, or confirms that it is met. Returns false if it is not: the process releases the lease. */
  confirm(holder: string, seconds: number): Promise<boolean>
  /** Lets another process meet the condition. Must not throw. */
  release(): Promise<void>
}

/** An election that runs until it is closed. */
export interface LeaseElection {
  /** Tries to get or renew the lease now, or once more after a try in progress. */
  tryNow(): void
  /** Ends the work and releases the lease. */
  close(): Promise<void>
}

/**
 * Takes part in the election of the holder of a lease of `seconds`: tries to get the lease, or to renew it, after each third of that
 * time and when it is released. The work ends only if another process has taken the lease, or the condition is not met any more. One or
 * two statements for each try. With a condition it tries after each tenth, and also ends the work if it could not renew the lease for two
 * thirds, so that a process with a connection to the store can meet the condition.
 */
export function startLeaseElection(
  service: Service,
  candidate: LeaseCandidate,
  { name, seconds }: Pick<Lease, 'name' | 'seconds'>,
): LeaseElection {
  const election = new QueuedLeaseElection(service, candidate, { name, seconds, holder: createHolderName() })
  election.tryNow()
  return election
}

/** The time in which a process has a lease. */
interface LeaseTerm {
  readonly lease: Lease
  readonly work: LeaseWork
  /** The time of the last renewal, in milliseconds of `performance.now()`. */
  renewedAt: number
}

class QueuedLeaseElection implements LeaseElection {
  readonly #service: Service
  readonly #candidate: LeaseCandidate
  readonly #request: Omit<Lease, 'token'>
  readonly #queue: WorkQueue<string>
  readonly #unsubscribe: () => void
  #term: LeaseTerm | undefined
  /** The last holder that was reported to the candidate. */
  #reportedHolder: string | undefined

  constructor(service: Service, candidate: LeaseCandidate, request: Omit<Lease, 'token'>) {
    this.#service = service
    this.#candidate = candidate
    this.#request = request
    this.#measure(0)
    const interval = (request.seconds * 1000) / (candidate.condition ? 10 : 3)
    this.#queue = new WorkQueue<string>(
      async () => {
        await this.#run().catch((error: unknown) => this.#handleFailure(error))
        return { requeueAfter: interval }
      },
      { backOff: () => interval },
    )
    this.#unsubscribe = service.subscribe(({ topic }) => {
      if (!this.#term && (topic === 'lease' || topic === 'everything')) this.tryNow()
    })
  }

  tryNow(): void {
    this.#queue.add(this.#request.name)
  }

  async close(): Promise<void> {
    this.#unsubscribe()
    await this.#queue.close()
    await this.#endTerm()
    await this.#candidate.condition?.release()
  }

  async #run(): Promise<void> {
    const wasHolder = this.#term !== undefined
    if (this.#term && (await this.#renew(this.#term))) return
    if (!(await this.#take())) await this.#reportHolder(wasHolder)
  }

  /** Confirms the condition and renews the lease. Ends the term if either fails. */
  async #renew(term: LeaseTerm): Promise<boolean> {
    if (!(await this.#confirmCondition())) {
      await this.#endTerm()
      return false
    }
    if (await this.#service.query((tx) => renewLease(tx, term.lease))) {
      term.renewedAt = performance.now()
      return true
    }
    await this.#endWork()
    return false
  }

  /** Whether the condition is met; true if there is none. */
  async #confirmCondition(): Promise<boolean> {
    const { holder, seconds } = this.#request
    return (await this.#candidate.condition?.confirm(holder, seconds)) ?? true
  }

  /** Ends the work, and releases the lease. */
  async #endTerm(): Promise<void> {
    const lease = await this.#endWork()
    if (!lease) return
    await this.#service.query((tx) => releaseLease(tx, lease)).catch((error: unknown) => this.#candidate.onError(error))
  }

  /** Ends the work. Returns the lease that the process had; undefined if it had none. */
  async #endWork(): Promise<Lease | undefined> {
    const term = this.#term
    this.#term = undefined
    await term?.work.end()
    this.#measure(0)
    return term?.lease
  }

  /** Reports that the store cannot be queried. With a condition, another process that can query it may have the lease. */
  async #handleFailure(error: unknown): Promise<void> {
    this.#candidate.onError(error)
    const { condition } = this.#candidate
    if (!condition) return
    const isRecent = this.#term && performance.now() - this.#term.renewedAt < (this.#request.seconds * 2000) / 3
    if (isRecent) return
    await this.#endWork()
    await condition.release()
  }

  /** Takes the lease if it is free and the condition is met, and starts the work. */
  async #take(): Promise<boolean> {
    const { engine, query } = this.#service
    // Otherwise a process without a connection to the store would meet the condition in vain.
    if (this.#candidate.condition) await query((tx) => findLeaseHolder(tx, this.#request.name))
    if (!(await this.#confirmCondition())) return false
    const token = await query((tx) => takeLease(tx, this.#request, engine === 'PGlite'))
    if (token === undefined) return false
    const lease = { ...this.#request, token }
    this.#term = { lease, work: this.#candidate.start(lease), renewedAt: performance.now() }
    this.#reportedHolder = undefined
    this.#measure(1)
    this.#service.measurements.record('leaseTaken', { lease: lease.name })
    return true
  }

  /** Records whether this process has the lease: 1 or 0. */
  #measure(value: number): void {
    this.#service.measurements.record('leaseHeld', { lease: this.#request.name }, value)
  }

  async #reportHolder(wasHolder: boolean): Promise<void> {
    const holder = await this.#service.query((tx) => findLeaseHolder(tx, this.#request.name))
    if (holder === undefined || holder === this.#reportedHolder) return
    this.#reportedHolder = holder
    this.#candidate.onNewHolder(holder, wasHolder)
  }
}

/** Returns a name of this process that is unique among all processes over the store. */
function createHolderName(): string {
  return `${hostname()}/${process.pid}/${randomBytes(4).toString('hex')}`
}

/** Throws lease_lost if another process has taken the lease, so that what was read before may have changed. One statement. */
export async function confirmLease(service: Service, lease: Lease): Promise<void> {
  if (!(await service.query((tx) => hasLease(tx, lease)))) throw leaseLost()
}

/** Throws lease_lost if another process has taken the lease, and locks it until the end of the transaction. One statement. */
export async function requireLease(tx: Transaction, lease: Lease): Promise<void> {
  if (!(await lockLease(tx, lease))) throw leaseLost()
}

const leaseLost = () =>
  failure('lease_lost', 'Another server has taken over applying the sources: nothing was changed here')
