// Leases: which of several processes may do something. Only the clock of the database counts.
import { sql } from 'kysely'
import { bigint, row, rows, text } from './row.ts'
import type { Transaction } from './transaction.ts'
import { waking } from './wake.ts'

/** A lease as one process has it. */
export interface Lease {
  readonly name: string
  /** Who has it. */
  readonly holder: string
  /** How many have taken it so far, this one included: another number is another one's. */
  readonly token: number
  /** For how long it is taken each time, in seconds. */
  readonly seconds: number
}

const lasting = (seconds: number) => sql`clock_timestamp() + make_interval(secs => ${seconds}::float8)`

/**
 * Takes a lease that is free or over, or any where the process is `alone` with the store; gives its token. While somebody
 * else has it, locks nothing. One statement.
 */
export async function takeLease(
  tx: Transaction,
  { name, holder, seconds }: Omit<Lease, 'token'>,
  alone: boolean,
): Promise<number | undefined> {
  const lease = await rows(row({ token: bigint }))`
    insert into lease as l (name, holder, token, expires_at)
    select ${name}, ${holder}, 1, ${lasting(seconds)}
    where ${alone}::boolean
      or not exists (select from lease k where k.name = ${name} and k.expires_at > clock_timestamp())
    on conflict (name) do update set holder = ${holder}, token = l.token + 1, expires_at = ${lasting(seconds)}
      where ${alone}::boolean or l.expires_at <= clock_timestamp()
    returning token`.first(tx)
  return lease?.token
}

/** Keeps a lease for longer, also one that is over and that nobody else has taken. Gives whether it is still there. One statement. */
export async function renewLease(tx: Transaction, { name, holder, token, seconds }: Lease): Promise<boolean> {
  const { rows } = await sql`
    update lease set expires_at = ${lasting(seconds)}
    where name = ${name} and holder = ${holder} and token = ${token} returning token`.execute(tx)
  return rows.length > 0
}

/** Gives a lease back, and wakes those who wait for it. One statement. */
export async function releaseLease(tx: Transaction, { name, holder, token }: Lease): Promise<void> {
  await sql`
    with given as (
      update lease set expires_at = '-infinity'
      where name = ${name} and holder = ${holder} and token = ${token} returning token
    )
    select ${waking({ topic: 'lease' })} from given`.execute(tx)
}

/** Who took a lease last. One statement. */
export async function selectHolder(tx: Transaction, name: string): Promise<string | undefined> {
  const lease = await rows(row({ holder: text }))`select holder from lease where name = ${name}`.first(tx)
  return lease?.holder
}

/** Whether nobody else has taken the lease until now. One statement. */
export async function hasLease(tx: Transaction, { name, holder, token }: Lease): Promise<boolean> {
  const { rows } = await sql`
    select from lease where name = ${name} and holder = ${holder} and token = ${token}`.execute(tx)
  return rows.length > 0
}

/**
 * Whether nobody else has taken the lease; nobody takes it then before the transaction ends. One that is over is as good
 * as any while it is nobody else's. One statement.
 */
export async function shareLease(tx: Transaction, { name, holder, token }: Lease): Promise<boolean> {
  const { rows } = await sql`
    select from lease where name = ${name} and holder = ${holder} and token = ${token} for share`.execute(tx)
  return rows.length > 0
}

/** Ends the transaction when its process falls silent for so many seconds: what it has locked, others wait for. One statement. */
export async function boundSilence(tx: Transaction, seconds: number): Promise<void> {
  const limit = String(seconds * 1000)
  await sql`select set_config('idle_in_transaction_session_timeout', ${limit}, true),
    set_config('tcp_user_timeout', ${limit}, true)`.execute(tx)
}
