// Leases: of several processes over one store one does something, such as applying sources, and another one when that one ends.
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
import { failure } from '../context/errors.ts'
import type { Service } from '../context/service.ts'

/** Whoever has it applies what sources state. */
export const RECONCILE_LEASE = 'reconcile'

/** What is done while a process has a lease. */
export interface LeaseHolding {
  /** Ends it: what still runs must not be kept, or is refused by its token. */
  end(): Promise<void>
}

/** Who wants a lease. */
export interface LeaseCandidate {
  /** It has the lease. Returns at once: what is done meanwhile must not keep it from being renewed. */
  begin(lease: Lease): LeaseHolding
  /** Somebody else has it; told once each time. `had`: this one had it before. */
  waits(holder: string, had: boolean): void
  /** The store could not be asked. */
  failed(error: unknown): void
}

/** Who asks for a lease until it is closed. */
export interface LeaseSeeker {
  /** Asks for it now, and once more after a request in progress. */
  now(): void
  /** Ends what is done with it, and gives it back. */
  close(): Promise<void>
}

/**
 * Wants a lease, asks again at each third of its time and when it is given back, and renews it then. Who cannot renew it keeps at it, since only its
 * token decides. One statement each time, or two.
 */
export function seekLease(service: Service, name: string, seconds: number, candidate: LeaseCandidate): LeaseSeeker {
  const holder = `${hostname()}/${process.pid}/${randomBytes(4).toString('hex')}`
  const third = (seconds * 1000) / 3
  let held: { readonly lease: Lease; readonly tenure: LeaseHolding } | undefined
  let seen: string | undefined
  const ask = async () => {
    const had = held
    if (had) {
      if (await service.query((tx) => renewLease(tx, had.lease))) return
      held = undefined
      await had.tenure.end()
    }
    const wanted = { name, holder, seconds }
    const token = await service.query((tx) => takeLease(tx, wanted, service.engine === 'PGlite'))
    if (token !== undefined) {
      const lease = { ...wanted, token }
      held = { lease, tenure: candidate.begin(lease) }
      seen = undefined
      return
    }
    const other = await service.query((tx) => findLeaseHolder(tx, name))
    if (other === undefined || other === seen) return
    seen = other
    candidate.waits(other, had !== undefined)
  }
  const asking = new WorkQueue<string>(
    async () => {
      await ask().catch(candidate.failed)
      return { requeueAfter: third }
    },
    { backOff: () => third },
  )
  asking.add(name)
  const unsubscribe = service.subscribe(({ topic }) => {
    if (!held && (topic === 'lease' || topic === 'everything')) asking.add(name)
  })
  return {
    now: () => asking.add(name),
    async close() {
      unsubscribe()
      await asking.close()
      if (!held) return
      const { lease, tenure } = held
      await tenure.end()
      await service.query((tx) => releaseLease(tx, lease)).catch(candidate.failed)
    },
  }
}

/** Throws `fenced` where somebody else has taken the lease: what was found out until now need not be so any more. One statement. */
export async function confirmLease(service: Service, lease: Lease): Promise<void> {
  if (!(await service.query((tx) => hasLease(tx, lease)))) throw fenced()
}

/** Throws `fenced` where somebody else has taken the lease; nobody does before the transaction ends otherwise. One statement. */
export async function requireLease(tx: Parameters<typeof lockLease>[0], lease: Lease): Promise<void> {
  if (!(await lockLease(tx, lease))) throw fenced()
}

const fenced = () => failure('lease_lost', 'another server applies the sources now: nothing was changed here')
