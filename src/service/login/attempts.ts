// Protection against guessing. An attempt is counted as a failure before it is evaluated, and taken back when it was none:
// so of any number of attempts at once, on any number of servers, no more are evaluated than may fail.
import { createHash } from 'node:crypto'
import type { Representation } from '../../kinds/json.ts'
import { limited } from '../../lib/http/limited.ts'
import { type Counted, countAttempt, takeBack } from '../../store/login/login-attempts.ts'
import type { Subject } from '../../store/login/login-failures.ts'
import type { StoredUser } from '../../store/users/users.ts'
import type { RuntimeContext } from '../context/context.ts'
import { type Service, SYSTEM } from '../context/service.ts'
import type { RealmRow } from '../context/store-types.ts'
import { recordUserEvent } from '../messages/user-events.ts'
import { isLockedForGood, lockForGood, lockoutRulesOf } from '../users/lockout.ts'

/** Who tries to log in. */
export interface Attempt {
  /** Absent: there is nobody of that name. */
  readonly user: Pick<StoredUser, 'id' | 'username' | 'body'> | undefined
  readonly username: string
  readonly address?: string | undefined
  /** It is with a one-time code. */
  readonly otp?: true
}

/** Guesses at one account wait for its row. They must not do so with all connections to the database. */
const counting = limited(4)

/** How an attempt ended; who is locked is not evaluated. */
export type Outcome = 'right' | 'wrong' | 'locked'

/** A realm that people log in to. */
export type LogInRealm = RealmRow & { readonly settings: Representation }

/**
 * Evaluates an attempt, outside of any transaction, unless whoever tries is locked in that realm. Statements, where the realm
 * minds: two, and where a failure locks for good four.
 */
export async function attempted(
  service: Service,
  realm: LogInRealm,
  attempt: Attempt,
  evaluate: () => Promise<boolean>,
): Promise<Outcome> {
  const rules = lockoutRulesOf(realm.settings)
  if (!rules) return (await evaluate()) ? 'right' : 'wrong'
  const { user, username, address, otp = false } = attempt
  const forGood = user !== undefined && isLockedForGood(user.body)
  const subject = user && !forGood ? { ofPerson: true, subject: user.id } : nobody(username)
  const counted = await counting(() =>
    service.runtime(SYSTEM, realm, ({ tx, now }) =>
      countAttempt(tx, realm.number, { attempt: { ...subject, now, address, otp }, rules }),
    ),
  )
  if (!counted || forGood) return 'locked'
  const right = await evaluate()
  if (right) {
    await service.runtime(SYSTEM, realm, ({ tx }) =>
      takeBack(tx, realm.number, { attempt: { ...subject, otp }, counted }),
    )
  } else if (user && (counted.lockedForGood || counted.lockedUntil !== null)) {
    await service.runtime(SYSTEM, realm, (context) => locked(context, user, counted))
  }
  return right ? 'right' : 'wrong'
}

/**
 * A name that nobody has, as whoever fails to log in: it is counted and locked as a person's, so that the time of an answer
 * does not tell them apart. Such names share so many rows, which costs nobody anything.
 */
const nobody = (name: string): Subject => ({
  ofPerson: false,
  subject: createHash('sha256').update(name).digest('hex').slice(0, 4),
})

/** What follows when the failure of a person locks them. */
async function locked(
  context: RuntimeContext,
  user: Pick<StoredUser, 'id' | 'username'>,
  counted: Counted,
): Promise<void> {
  const { failures, lockedUntil, lockedForGood, failedAt, address } = counted
  const tell = (how: 'TEMPORARY' | 'PERMANENT', details = {}) =>
    recordUserEvent(context, {
      type: `USER_DISABLED_BY_${how}_LOCKOUT`,
      user: user.id,
      address: address ?? undefined,
      details: { reason: 'brute_force_attack detected', num_failures: String(failures), ...details },
    })
  // A lock that is over already was another failure's.
  if (lockedUntil !== null && lockedUntil > failedAt!)
    tell('TEMPORARY', { not_before: lockedUntil.toISOString().slice(0, 19) })
  if (lockedForGood && (await lockForGood(context, user))) tell('PERMANENT')
}
