// How often logging in has failed, and until when nobody is asked again.
import { sql } from 'kysely'
import { boolean, integer, optional, type RowOf, row, rows, text, timestamp } from '../database/row.ts'
import type { Transaction } from '../database/transaction.ts'

/** Whose failures: of a person by id, or of names that nobody has. */
export interface Subject {
  readonly ofPerson: boolean
  readonly subject: string
}

/** Describes what has been counted. */
export const loginFailuresRow = row({
  failures: integer,
  lockouts: integer,
  otpFailures: integer,
  failedAt: optional(timestamp),
  address: optional(text),
  lockedUntil: optional(timestamp),
  lockedForGood: boolean,
})

/** What has been counted. */
export type LoginFailures = RowOf<typeof loginFailuresRow>

/** A row `f`. */
export const columns = sql`f.failures, f.lockouts, f.otp_failures as "otpFailures", f.failed_at as "failedAt", f.address,
  f.locked_until as "lockedUntil", f.locked_for_good as "lockedForGood"`

/** Forgets the failures of somebody who has logged in: those with one-time codes only where there was one. One statement. */
export async function clearFailures(
  tx: Transaction,
  realm: number,
  { ofPerson, subject, otp }: Subject & { readonly otp: boolean },
): Promise<void> {
  await sql`
    update login_failure set failures = 0, lockouts = 0, failed_at = null, address = null, locked_until = null,
      locked_for_good = false, otp_failures = case when ${otp}::boolean then 0 else otp_failures end
    where realm = ${realm} and of_person = ${ofPerson} and subject = ${subject}`.execute(tx)
}

/** Forgets all failures of people, without ids of everybody, and says whether there were any. One statement. */
export async function deleteFailures(tx: Transaction, realm: number, people?: readonly string[]): Promise<boolean> {
  const { numAffectedRows = 0n } = await sql`
    delete from login_failure
    where realm = ${realm} ${people ? sql`and of_person and subject = any(${people})` : sql``}`.execute(tx)
  return numAffectedRows > 0n
}

/** Forgets the failures of people who are enabled again, and of those who are locked for a time. One statement. */
export async function unlock(
  tx: Transaction,
  realm: number,
  { again, locked, now }: { readonly again: readonly string[]; readonly locked: readonly string[]; readonly now: Date },
): Promise<void> {
  await sql`
    delete from login_failure
    where realm = ${realm} and of_person
      and (subject = any(${again}) or (subject = any(${locked}) and locked_until > ${now}))`.execute(tx)
}

/** What has been counted of a person. One statement. */
export async function findFailures(tx: Transaction, realm: number, user: string): Promise<LoginFailures | undefined> {
  return rows(loginFailuresRow)`
    select ${columns} from login_failure f where f.realm = ${realm} and f.of_person and f.subject = ${user}`.first(tx)
}
