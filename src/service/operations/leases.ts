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
 * time and when it is released. The work ends only if another process has taken the lease. One or two statements for each try.
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

class QueuedLeaseElection implements LeaseElection {
  readonly #service: Service
  readonly #candidate: LeaseCandidate
  readonly #request: Omit<Lease, 'token'>
  readonly #queue: WorkQueue<string>
  readonly #unsubscribe: () => void
  #term: { readonly lease: Lease; readonly work: LeaseWork } | undefined
  /** The last holder that was reported to the candidate. */
  #reportedHolder: string | undefined

  constructor(service: Service, candidate: LeaseCandidate, request: Omit<Lease, 'token'>) {
    this.#service = service
    this.#candidate = candidate
    this.#request = request
    this.#measure(0)
    const third = (request.seconds * 1000) / 3
    this.#queue = new WorkQueue<string>(
      async () => {
        await this.#run().catch((error: unknown) => candidate.onError(error))
        return { requeueAfter: third }
      },
      { backOff: () => third },
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
    if (!this.#term) return
    const { lease, work } = this.#term
    await work.end()
    this.#measure(0)
    await this.#service.query((tx) => releaseLease(tx, lease)).catch((error: unknown) => this.#candidate.onError(error))
  }

  async #run(): Promise<void> {
    const formerTerm = this.#term
    if (formerTerm && (await this.#service.query((tx) => renewLease(tx, formerTerm.lease)))) return
    this.#term = undefined
    await formerTerm?.work.end()
    this.#measure(0)
    if (!(await this.#take())) await this.#reportHolder(formerTerm !== undefined)
  }

  /** Takes the lease if it is free, and starts the work. */
  async #take(): Promise<boolean> {
    const { engine, query } = this.#service
    const token = await query((tx) => takeLease(tx, this.#request, engine === 'PGlite'))
    if (token === undefined) return false
    const lease = { ...this.#request, token }
    this.#term = { lease, work: this.#candidate.start(lease) }
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
