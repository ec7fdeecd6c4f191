// Counts login attempts as failures, in one statement, so that concurrent attempts see different counts, also on several servers.
import { type RawBuilder, sql } from 'kysely'
import type { Json } from '../../kinds/json.ts'
import { json, optional, query, type RowOf, row } from '../database/query.ts'
import type { Transaction } from '../database/transaction.ts'
import { type FailureSubject, loginFailureColumns, loginFailuresRow } from './login-failures.ts'

/** The brute force protection of a realm: the settings of Keycloak's DefaultBruteForceProtector. */
export interface LockoutRules {
  readonly factor: number
  readonly linear: boolean
  readonly increment: number
  readonly maxWait: number
  readonly quickMilliseconds: number
  readonly quickWait: number
  readonly forgetAfter: number
  readonly permanentLockout: boolean
  readonly maxLockouts: number
  readonly maxOtpFailures: number
}

const countedAttemptRow = row({
  ...loginFailuresRow.columns,
  /** The previous values of the row; null if there was no row. */
  before: optional(json<Json>()),
})

/** The result of counting a login attempt as a failure. */
export type CountedAttempt = RowOf<typeof countedAttemptRow>

/** A login attempt to count as a failure. */
export interface LoginAttempt extends FailureSubject {
  readonly now: Date
  readonly address: string | undefined
  readonly otp: boolean
}

/** Counts an attempt as a failure, before its result is known. Returns undefined, and counts nothing, if the subject is locked. One statement. */
export async function countAttempt(
  tx: Transaction,
  realm: number,
  {
    attempt: { isUser, subject, now, address, otp },
    rules,
  }: { readonly attempt: LoginAttempt; readonly rules: LockoutRules },
): Promise<CountedAttempt | undefined> {
  const next = buildNextFailures(now, otp, rules)
  return query(countedAttemptRow)`
    insert into login_failure as f (realm, is_user, subject, failed_at, address,
      failures, lockouts, otp_failures, locked_until, permanently_locked)
    select ${realm}::integer, ${isUser}::boolean, ${subject}::text, ${now}::timestamptz, ${address ?? null}::text, counted.*
    from (values (0, 0, 0, null::timestamptz, null::timestamptz))
      as f(failures, lockouts, otp_failures, failed_at, locked_until), lateral (${next}) counted
    on conflict (realm, is_user, subject) do update set
      failed_at = excluded.failed_at, address = excluded.address,
      (failures, lockouts, otp_failures, locked_until, permanently_locked) = (${next})
    where not f.permanently_locked and (f.locked_until is null or f.locked_until <= ${now})
    returning ${loginFailureColumns}, (
        select jsonb_build_object('failed_at', b.failed_at, 'address', b.address, 'locked_until', b.locked_until,
          'lockouts', b.lockouts)
        from login_failure b where b.realm = ${realm} and b.is_user = ${isUser} and b.subject = ${subject}
      ) as before`.first(tx)
}

/** Undoes the count of an attempt that did not fail, and the lock that it caused. One statement. */
export async function undoAttempt(
  tx: Transaction,
  realm: number,
  {
    attempt: { isUser, subject, otp },
    counted: { failedAt, lockedUntil, permanentlyLocked, lockouts, before },
  }: { readonly attempt: FailureSubject & { readonly otp: boolean }; readonly counted: CountedAttempt },
): Promise<void> {
  await sql`
    update login_failure f set
      failures = greatest(f.failures - 1, 0),
      otp_failures = greatest(f.otp_failures - ${otp ? 1 : 0}::integer, 0),
      lockouts = greatest(f.lockouts - greatest(${lockouts}::integer - coalesce(b.lockouts, 0), 0), 0),
      failed_at = case when f.failed_at = ${failedAt} then b.failed_at else f.failed_at end,
      address = case when f.failed_at = ${failedAt} then b.address else f.address end,
      locked_until = case when f.locked_until = ${lockedUntil} then b.locked_until else f.locked_until end,
      permanently_locked = f.permanently_locked and not ${permanentlyLocked}
    from jsonb_to_record(${JSON.stringify(before ?? {})}::jsonb)
      as b(failed_at timestamptz, address text, locked_until timestamptz, lockouts integer)
    where f.realm = ${realm} and f.is_user = ${isUser} and f.subject = ${subject}`.execute(tx)
}

/**
 * Returns the row `f` after one more failure. Keycloak: DefaultBruteForceProtector. A wait lasts for whole seconds from the beginning of the
 * current second; realms that lock permanently at once do not wait before. Clocks of servers differ: a negative time between failures
 * counts as 0.
 */
function buildNextFailures(now: Date, otp: boolean, rules: LockoutRules): RawBuilder<unknown> {
  const { factor, linear, increment, maxWait, quickMilliseconds, quickWait, forgetAfter } = rules
  const { permanentLockout, maxLockouts, maxOtpFailures } = rules
  const atOnce = permanentLockout && maxLockouts === 0
  const due = atOnce
    ? sql`0`
    : linear
      ? sql`${increment}::bigint * (1 + n.failures - ${factor}::bigint)`
      : sql`${increment}::bigint * (n.failures / ${factor}::bigint)`
  return sql`
    select n.failures, l.lockouts, l.otp_failures,
      case when w.wait > 0 and (w.quick or not ${permanentLockout}::boolean or l.lockouts <= ${maxLockouts}::integer)
        then date_trunc('second', ${now}::timestamptz)
          + make_interval(secs => ${atOnce ? sql`w.wait` : sql`least(w.wait, ${maxWait}::bigint)`})
        else f.locked_until end,
      (${otp}::boolean and ${maxOtpFailures}::integer > 0 and l.otp_failures > ${maxOtpFailures}::integer)
        or (${permanentLockout}::boolean and (l.lockouts > ${maxLockouts}::integer
          or (${maxLockouts}::integer = 0 and n.failures >= ${factor}::integer)))
    from (select not ${atOnce}::boolean
        and f.failed_at < ${now}::timestamptz - make_interval(secs => ${forgetAfter}::integer) as forgets) o,
      lateral (select case when o.forgets then 0 else f.failures end + 1 as failures) n,
      lateral (select ${due} as due) d,
      lateral (select d.due <= 0 and f.failed_at is not null
        and greatest(${now}::timestamptz - f.failed_at, '0') < make_interval(secs => ${quickMilliseconds / 1000}::double precision)
        as quick) q,
      lateral (select q.quick, case when q.quick then ${quickWait}::bigint else d.due end as wait) w,
      lateral (select case when o.forgets then 0 else f.lockouts end
          + case when w.wait > 0 and not w.quick then 1 else 0 end as lockouts,
        f.otp_failures + ${otp ? 1 : 0}::integer as otp_failures) l`
}
