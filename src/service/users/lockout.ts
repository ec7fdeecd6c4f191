// The lockout of users after login failures, temporary or permanent.
import { type Representation, readTextListMap } from '../../kinds/json.ts'
import { insertUserEntries } from '../../store/journal/journal.ts'
import type { LockoutRules } from '../../store/login/login-attempts.ts'
import { clearFailures } from '../../store/login/login-failures.ts'
import { disableUser, type StoredUser } from '../../store/users/users.ts'
import { announceAccessChange } from '../context/access-changes.ts'
import type { Context } from '../context/context.ts'
import { recordAuditEvents, toAuditedChanges } from '../journal/audit-trail.ts'

/** Returns the brute force settings of a realm; undefined if it has no brute force protection. */
export function findLockoutRules(settings: Representation): LockoutRules | undefined {
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
    permanentLockout: settings.permanentLockout === true,
    maxLockouts: number('maxTemporaryLockouts'),
    maxOtpFailures: number('maxSecondaryAuthFailures'),
  }
}

/** Clears the login failures of a user after a login; `otp`: also those of one-time codes. One statement, or none. */
export async function clearLoginFailures(
  { tx, realm }: Context,
  settings: Representation,
  { id, otp = false }: { readonly id: string; readonly otp?: boolean },
): Promise<void> {
  if (findLockoutRules(settings)) await clearFailures(tx, realm.number, { isUser: true, subject: id, otp })
}

/** Keycloak: the user attribute with the reason for which the server disabled an account. */
export const DISABLED_REASON = 'disabledReason'
const PERMANENT_LOCKOUT = 'permanentLockout'

/** Whether a user is disabled because of a permanent lockout. */
export function isPermanentlyLocked({ enabled, attributes }: Representation): boolean {
  const [reason] = readTextListMap(attributes)[DISABLED_REASON] ?? []
  return enabled !== true && reason === PERMANENT_LOCKOUT
}

/** Returns the fields to set, by path, so that a user who is enabled loses the reason for a permanent lockout. */
export function clearDisabledReason(live: Representation, { enabled }: Representation): Representation {
  return enabled === true && isPermanentlyLocked(live) ? { [`attributes.${DISABLED_REASON}`]: null } : {}
}

/** Disables a user, with the reason. Returns false if they are disabled already. Three statements; one more for the audit trail. */
export async function lockPermanently(
  context: Context,
  { id, username }: Pick<StoredUser, 'id' | 'username'>,
): Promise<boolean> {
  const { tx, realm, now, actor } = context
  if (!(await disableUser(tx, realm.number, { id, attributes: { [DISABLED_REASON]: [PERMANENT_LOCKOUT] } })))
    return false
  const fields = { enabled: true, [`attributes.${DISABLED_REASON}`]: null }
  const entry = { operation: 'update', kind: 'user', object: id, key: [username], fields } as const
  await insertUserEntries(tx, realm.number, { at: now, actor, entries: [entry], except: [] })
  await recordAuditEvents(context, toAuditedChanges([entry]))
  await announceAccessChange(context, id)
  return true
}
