// Brute force protection. An attempt is counted as a failure before it is evaluated, and the count is undone when it
// succeeds. So however many attempts run at once, on any number of servers, at most as many are evaluated as may fail.
import { createHash } from 'node:crypto'
import type { Representation } from '../../kinds/json.ts'
import { limitConcurrency } from '../../lib/timing/limit-concurrency.ts'
import { type CountedAttempt, countAttempt, undoAttempt } from '../../store/login/login-attempts.ts'
import type { FailureSubject } from '../../store/login/login-failures.ts'
import type { StoredUser } from '../../store/users/users.ts'
import type { RuntimeContext } from '../context/context.ts'
import { type Service, SYSTEM } from '../context/service.ts'
import type { RealmRow } from '../context/store-types.ts'
import { recordUserEvent } from '../messages/user-events.ts'
import { findLockoutRules, isPermanentlyLocked, lockPermanently } from '../users/lockout.ts'

/** An attempt to authenticate with a password or a one-time code. */
export interface AuthenticationAttempt {
  /** Undefined if no user has the name. */
  readonly user: Pick<StoredUser, 'id' | 'username' | 'body'> | undefined
  readonly username: string
  /** The IP address of the caller. */
  readonly address?: string | undefined
  /** Whether the attempt is with a one-time code. */
  readonly otp?: boolean
  /** Checks the credential. It may be slow, so it runs outside of any transaction. */
  readonly evaluate: () => Promise<boolean>
}

/** Attempts for one account wait for its row; at most this many occupy connections to the database while they wait. */
const limitCounting = limitConcurrency(4)

/** The outcome of an attempt. `locked` attempts are not evaluated. */
export type AttemptOutcome = 'succeeded' | 'failed' | 'locked'

/** A realm with the settings of its logins. */
export type LoginRealm = RealmRow & { readonly settings: Representation }

/**
 * Evaluates an attempt unless its subject is locked. Must be called outside of any transaction. In a realm with brute
 * force protection it takes two statements, or four when the failure locks the user permanently.
 */
export async function evaluateAttempt(
  service: Service,
  realm: LoginRealm,
  { user, username, address, otp = false, evaluate }: AuthenticationAttempt,
): Promise<AttemptOutcome> {
  const rules = findLockoutRules(realm.settings)
  if (!rules) return (await evaluate()) ? 'succeeded' : 'failed'
  const isDisabled = user !== undefined && isPermanentlyLocked(user.body)
  const subject = user && !isDisabled ? { isUser: true, subject: user.id } : unknownSubject(username)
  const counted = await limitCounting(() =>
    service.writeRuntime(SYSTEM, realm, ({ tx, now }) =>
      countAttempt(tx, realm.number, { attempt: { ...subject, now, address, otp }, rules }),
    ),
  )
  if (!counted || isDisabled) return 'locked'
  if (await evaluate()) {
    await service.writeRuntime(SYSTEM, realm, ({ tx }) =>
      undoAttempt(tx, realm.number, { attempt: { ...subject, otp }, counted }),
    )
    return 'succeeded'
  }
  if (user && (counted.permanentlyLocked || counted.lockedUntil !== null))
    await service.writeRuntime(SYSTEM, realm, (context) => recordLock(context, user, counted))
  return 'failed'
}

/**
 * Returns the subject for a name that no user has. It is counted and locked as a user is, so that response times do not
 * reveal which names exist. Such names share 65,536 rows, so that they cannot fill the table.
 */
const unknownSubject = (name: string): FailureSubject => ({
  isUser: false,
  subject: createHash('sha256').update(name).digest('hex').slice(0, 4),
})

/** Records the events of a failure that locks the user, and disables the account when the lock is permanent. */
async function recordLock(
  context: RuntimeContext,
  user: Pick<StoredUser, 'id' | 'username'>,
  counted: CountedAttempt,
): Promise<void> {
  const { failures, lockedUntil, permanentlyLocked, failedAt, address } = counted
  const record = (lock: 'TEMPORARY' | 'PERMANENT', details = {}) =>
    recordUserEvent(context, {
      type: `USER_DISABLED_BY_${lock}_LOCKOUT`,
      user: user.id,
      address: address ?? undefined,
      details: { reason: 'brute_force_attack detected', num_failures: String(failures), ...details },
    })
  // A lock that has ended already belongs to an earlier failure.
  if (lockedUntil !== null && lockedUntil > failedAt!)
    record('TEMPORARY', { not_before: lockedUntil.toISOString().slice(0, 19) })
  if (permanentlyLocked && (await lockPermanently(context, user))) record('PERMANENT')
}
