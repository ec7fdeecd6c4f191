// Accounts that are locked after failures, for a time or for good.
import type { Representation } from '../../kinds/json.ts'
import { insertPeopleEntries } from '../../store/journal/journal.ts'
import type { LockoutRules } from '../../store/login/login-attempts.ts'
import { clearFailures } from '../../store/login/login-failures.ts'
import { disableForGood, type StoredUser } from '../../store/users/users.ts'
import type { Context } from '../context/context.ts'

/** What a realm says of failures; undefined: it does not mind. Keycloak: the names of its settings. */
export function lockoutRulesOf(settings: Representation): LockoutRules | undefined {
  if (settings.bruteForceProtected !== true) return undefined
  const number = (name: string) => Number(settings[name] ?? 0)
  return {
    factor: Math.max(1, number('failureFactor')),
    linear: settings.bruteForceStrategy === 'LINEAR',
    increment: number('waitIncrementSeconds'),
    maxWait: number('maxFailureWaitSeconds'),
    quickMilliseconds: number('quickLoginCheckMilliSeconds'),
    quickWait: number('minimumQuickLoginWaitSeconds'),
    forgetAfter: number('maxDeltaTimeSeconds'),
    forGood: settings.permanentLockout === true,
    maxLockouts: number('maxTemporaryLockouts'),
    maxOtpFailures: number('maxSecondaryAuthFailures'),
  }
}

/** Forgets the failures of somebody who has logged in; `otp`: with a one-time code. One statement, or none. */
export async function forgetFailures(
  { tx, realm }: Context,
  settings: Representation,
  { id }: { readonly id: string },
  otp = false,
): Promise<void> {
  if (lockoutRulesOf(settings)) await clearFailures(tx, realm.number, { ofPerson: true, subject: id, otp })
}

/** Keycloak: an attribute says why an account is disabled that was locked for good. */
export const REASON = 'disabledReason'
const LOCKED = 'permanentLockout'

/** Whether the account is disabled since it was locked for good. */
export function isLockedForGood({ enabled, attributes }: Representation): boolean {
  const reason = (attributes as Record<string, string[]> | undefined)?.[REASON]
  return enabled !== true && reason?.[0] === LOCKED
}

/** What an account no longer says that is enabled again, by path. */
export function withoutReason(live: Representation, { enabled }: Representation): Representation {
  return enabled === true && isLockedForGood(live) ? { [`attributes.${REASON}`]: null } : {}
}

/** Disables the account, and says why; false where it is disabled already. Statements: two. */
export async function lockForGood(
  { tx, realm, now, actor }: Context,
  { id, username }: Pick<StoredUser, 'id' | 'username'>,
): Promise<boolean> {
  if (!(await disableForGood(tx, realm.number, { id, attributes: { [REASON]: [LOCKED] } }))) return false
  const fields = { enabled: true, [`attributes.${REASON}`]: null }
  const entry = { operation: 'update', kind: 'user', object: id, key: [username], fields } as const
  await insertPeopleEntries(tx, realm.number, { at: now, actor, entries: [entry], except: [] })
  return true
}
