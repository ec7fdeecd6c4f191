// Attempts to log in, counted as failures in one statement: no two of them see the same count, however many servers there are.
import { type RawBuilder, sql } from 'kysely'
import type { Json } from '../../kinds/json.ts'
import { json, optional, type RowOf, row, rows } from '../database/row.ts'
import type { Transaction } from '../database/transaction.ts'
import { columns, loginFailuresRow, type Subject } from './login-failures.ts'

/** What a realm says of failures. */
export interface LockoutRules {
  readonly factor: number
  readonly linear: boolean
  readonly increment: number
  readonly maxWait: number
  readonly quickMilliseconds: number
  readonly quickWait: number
  readonly forgetAfter: number
  readonly forGood: boolean
  readonly maxLockouts: number
  readonly maxOtpFailures: number
}

const countedRow = row({
  ...loginFailuresRow.columns,
  /** The values of the row that it has changed; null where there was no row. */
  before: optional(json<Json>()),
})

/** An attempt as it was counted. */
export type Counted = RowOf<typeof countedRow>

/** One attempt. */
export interface AttemptRow extends Subject {
  readonly now: Date
  readonly address: string | undefined
  readonly otp: boolean
}

/** Counts an attempt as a failure before anybody knows. Undefined: the subject is locked, and nothing is counted. One statement. */
export async function countAttempt(
  tx: Transaction,
  realm: number,
  {
    attempt: { ofPerson, subject, now, address, otp },
    rules,
  }: { readonly attempt: AttemptRow; readonly rules: LockoutRules },
): Promise<Counted | undefined> {
  const next = nextOf(now, otp, rules)
  return rows(countedRow)`
    insert into login_failure as f (realm, of_person, subject, failed_at, address,
      failures, lockouts, otp_failures, locked_until, locked_for_good)
    select ${realm}::integer, ${ofPerson}::boolean, ${subject}::text, ${now}::timestamptz, ${address ?? null}::text, counted.*
    from (values (0, 0, 0, null::timestamptz, null::timestamptz))
      as f(failures, lockouts, otp_failures, failed_at, locked_until), lateral (${next}) counted
    on conflict (realm, of_person, subject) do update set
      failed_at = excluded.failed_at, address = excluded.address,
      (failures, lockouts, otp_failures, locked_until, locked_for_good) = (${next})
    where not f.locked_for_good and (f.locked_until is null or f.locked_until <= ${now})
    returning ${columns}, (
        select jsonb_build_object('failed_at', b.failed_at, 'address', b.address, 'locked_until', b.locked_until,
          'lockouts', b.lockouts)
        from login_failure b where b.realm = ${realm} and b.of_person = ${ofPerson} and b.subject = ${subject}
      ) as before`.first(tx)
}

/** Takes an attempt back that did not fail, and with it the lock that it would have been the reason for. One statement. */
export async function takeBack(
  tx: Transaction,
  realm: number,
  {
    attempt: { ofPerson, subject, otp },
    counted: { failedAt, lockedUntil, lockedForGood, lockouts, before },
  }: { readonly attempt: Subject & { readonly otp: boolean }; readonly counted: Counted },
): Promise<void> {
  await sql`
    update login_failure f set
      failures = greatest(f.failures - 1, 0),
      otp_failures = greatest(f.otp_failures - ${otp ? 1 : 0}::integer, 0),
      lockouts = greatest(f.lockouts - greatest(${lockouts}::integer - coalesce(b.lockouts, 0), 0), 0),
      failed_at = case when f.failed_at = ${failedAt} then b.failed_at else f.failed_at end,
      address = case when f.failed_at = ${failedAt} then b.address else f.address end,
      locked_until = case when f.locked_until = ${lockedUntil} then b.locked_until else f.locked_until end,
      locked_for_good = f.locked_for_good and not ${lockedForGood}
    from jsonb_to_record(${JSON.stringify(before ?? {})}::jsonb)
      as b(failed_at timestamptz, address text, locked_until timestamptz, lockouts integer)
    where f.realm = ${realm} and f.of_person = ${ofPerson} and f.subject = ${subject}`.execute(tx)
}

/**
 * The row `f` after one more failure. Keycloak: DefaultBruteForceProtector. A wait is of whole seconds from the beginning
 * of this one; realms that lock out for good at once do not wait before. Clocks of servers differ: no time between two
 * failures is less than none.
 */
function nextOf(now: Date, otp: boolean, rules: LockoutRules): RawBuilder<unknown> {
  const { factor, linear, increment, maxWait, quickMilliseconds, quickWait, forgetAfter } = rules
  const { forGood, maxLockouts, maxOtpFailures } = rules
  const atOnce = forGood && maxLockouts === 0
  const due = atOnce
    ? sql`0`
    : linear
      ? sql`${increment}::bigint * (1 + n.failures - ${factor}::bigint)`
      : sql`${increment}::bigint * (n.failures / ${factor}::bigint)`
  return sql`
    select n.failures, l.lockouts, l.otp_failures,
      case when w.wait > 0 and (w.quick or not ${forGood}::boolean or l.lockouts <= ${maxLockouts}::integer)
        then date_trunc('second', ${now}::timestamptz)
          + make_interval(secs => ${atOnce ? sql`w.wait` : sql`least(w.wait, ${maxWait}::bigint)`})
        else f.locked_until end,
      (${otp}::boolean and ${maxOtpFailures}::integer > 0 and l.otp_failures > ${maxOtpFailures}::integer)
        or (${forGood}::boolean and (l.lockouts > ${maxLockouts}::integer
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
