// Login failures, and the lock-outs that they cause.
import { sql } from 'kysely'
import { boolean, integer, optional, query, type RowOf, row, text, timestamp } from '../database/query.ts'
import type { Transaction } from '../database/transaction.ts'

/** The subject of login failures: the id of a user (`isUser`), or a name that no user has. */
export interface FailureSubject {
  readonly isUser: boolean
  readonly subject: string
}

/** Describes the login failures of a subject. */
export const loginFailuresRow = row({
  failures: integer,
  lockouts: integer,
  otpFailures: integer,
  failedAt: optional(timestamp),
  address: optional(text),
  lockedUntil: optional(timestamp),
  permanentlyLocked: boolean,
})

/** The login failures of a subject. */
export type LoginFailures = RowOf<typeof loginFailuresRow>

/** The columns of login failures, for a statement that names their table `f`. */
export const loginFailureColumns = sql`f.failures, f.lockouts, f.otp_failures as "otpFailures", f.failed_at as "failedAt", f.address,
  f.locked_until as "lockedUntil", f.permanently_locked as "permanentlyLocked"`

/** Resets the failures of a subject after a login; those of one-time codes only if one was used. One statement. */
export async function clearFailures(
  tx: Transaction,
  realm: number,
  { isUser, subject, otp }: FailureSubject & { readonly otp: boolean },
): Promise<void> {
  await sql`
    update login_failure set failures = 0, lockouts = 0, failed_at = null, address = null, locked_until = null,
      permanently_locked = false, otp_failures = case when ${otp}::boolean then 0 else otp_failures end
    where realm = ${realm} and is_user = ${isUser} and subject = ${subject}`.execute(tx)
}

/** Deletes the failures of users, or of all subjects if there are no ids. Returns whether there were any. One statement. */
export async function deleteFailures(tx: Transaction, realm: number, users?: readonly string[]): Promise<boolean> {
  const { numAffectedRows = 0n } = await sql`
    delete from login_failure
    where realm = ${realm} ${users ? sql`and is_user and subject = any(${users})` : sql``}`.execute(tx)
  return numAffectedRows > 0n
}

/** Deletes the failures of the users `again`, and of those users `locked` who are locked temporarily. One statement. */
export async function deleteTemporaryFailures(
  tx: Transaction,
  realm: number,
  { again, locked, now }: { readonly again: readonly string[]; readonly locked: readonly string[]; readonly now: Date },
): Promise<void> {
  await sql`
    delete from login_failure
    where realm = ${realm} and is_user
      and (subject = any(${again}) or (subject = any(${locked}) and locked_until > ${now}))`.execute(tx)
}

/** Returns the login failures of a user; undefined if there are none. One statement. */
export async function findFailures(tx: Transaction, realm: number, user: string): Promise<LoginFailures | undefined> {
  return query(loginFailuresRow)`
    select ${loginFailureColumns} from login_failure f where f.realm = ${realm} and f.is_user and f.subject = ${user}`.first(
    tx,
  )
}

const failuresOfUserRow = row({ user: text, ...loginFailuresRow.columns })

/** Returns the login failures of users, by the id of the user. One statement. */
export async function findFailuresOfUsers(
  tx: Transaction,
  realm: number,
  users: readonly string[],
): Promise<ReadonlyMap<string, LoginFailures>> {
  const failures = await query(failuresOfUserRow)`
    select f.subject as "user", ${loginFailureColumns} from login_failure f
    where f.realm = ${realm} and f.is_user and f.subject = any(${users})`.all(tx)
  return new Map(failures.map((failure) => [failure.user, failure]))
}
