// Leases, by which one of several processes does some work. Their expiry is measured by the clock of the database only.
import { sql } from 'kysely'
import { bigint, query, row, text } from './query.ts'
import type { Transaction } from './transaction.ts'
import { buildWakeUp } from './wake-up.ts'

/** A lease of a process. */
export interface Lease {
  readonly name: string
  /** The process that has the lease. */
  readonly holder: string
  /** Number of times the lease was taken so far. It changes with the holder. */
  readonly token: number
  /** Duration in seconds. */
  readonly seconds: number
}

const buildLeaseEnd = (seconds: number) => sql`clock_timestamp() + make_interval(secs => ${seconds}::float8)`

/**
 * Takes a lease that is free or expired, or any lease if no other process uses the store (`isAlone`). Returns its token, or undefined if
 * another process has the lease, in which case no row is locked. One statement.
 */
export async function takeLease(
  tx: Transaction,
  { name, holder, seconds }: Omit<Lease, 'token'>,
  isAlone: boolean,
): Promise<number | undefined> {
  const lease = await query(row({ token: bigint }))`
    insert into lease as l (name, holder, token, expires_at)
    select ${name}, ${holder}, 1, ${buildLeaseEnd(seconds)}
    where ${isAlone}::boolean
      or not exists (select from lease k where k.name = ${name} and k.expires_at > clock_timestamp())
    on conflict (name) do update set holder = ${holder}, token = l.token + 1, expires_at = ${buildLeaseEnd(seconds)}
      where ${isAlone}::boolean or l.expires_at <= clock_timestamp()
    returning token`.first(tx)
  return lease?.token
}

/** Extends a lease, even an expired one, unless another process has taken it. Returns whether it was extended. One statement. */
export async function renewLease(tx: Transaction, { name, holder, token, seconds }: Lease): Promise<boolean> {
  const { rows } = await sql`
    update lease set expires_at = ${buildLeaseEnd(seconds)}
    where name = ${name} and holder = ${holder} and token = ${token} returning token`.execute(tx)
  return rows.length > 0
}

/** Releases a lease, and wakes up the processes that wait for it. One statement. */
export async function releaseLease(tx: Transaction, { name, holder, token }: Lease): Promise<void> {
  await sql`
    with released as (
      update lease set expires_at = '-infinity'
      where name = ${name} and holder = ${holder} and token = ${token} returning token
    )
    select ${buildWakeUp({ topic: 'lease' })} from released`.execute(tx)
}

/** Returns the holder of a lease that has not expired. One statement. */
export async function findLeaseHolder(tx: Transaction, name: string): Promise<string | undefined> {
  const lease = await query(row({ holder: text }))`
    select holder from lease where name = ${name} and expires_at > clock_timestamp()`.first(tx)
  return lease?.holder
}

/** Whether the process still has the lease: no other process has taken it. One statement. */
export async function hasLease(tx: Transaction, { name, holder, token }: Lease): Promise<boolean> {
  const { rows } = await sql`
    select from lease where name = ${name} and holder = ${holder} and token = ${token}`.execute(tx)
  return rows.length > 0
}

/**
 * Locks a lease, so that no other process takes it before the transaction ends. Returns false if another process has taken it already.
 * An expired lease counts until then. One statement.
 */
export async function lockLease(tx: Transaction, { name, holder, token }: Lease): Promise<boolean> {
  const { rows } = await sql`
    select from lease where name = ${name} and holder = ${holder} and token = ${token} for share`.execute(tx)
  return rows.length > 0
}

/** Makes the database end the transaction if its process is silent for so many seconds, so that its locks are released. One statement. */
export async function limitIdleTime(tx: Transaction, seconds: number): Promise<void> {
  const limit = String(seconds * 1000)
  await sql`select set_config('idle_in_transaction_session_timeout', ${limit}, true),
    set_config('tcp_user_timeout', ${limit}, true)`.execute(tx)
}
