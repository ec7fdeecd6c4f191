// What REST tells and forgets of failures to log in.
import type { Representation } from '../../../kinds/json.ts'
import { toEpochSeconds } from '../../../lib/epoch-seconds.ts'
import { deleteFailures, findFailures } from '../../../store/login/login-failures.ts'
import type { Context, WriteContext } from '../../context/context.ts'
import { omitAdminEvent } from '../../journal/admin-events.ts'
import { writers } from '../../kinds/index.ts'
import { requirePermissions } from '../../permissions/require-permissions.ts'
import { findLockoutRules } from '../../users/lockout.ts'

/** Keycloak: until when an account waits that is locked for good: Java's largest number, which is no number of JavaScript's. */
const FOR_EVER = '9223372036854775807'
const raw = (JSON as unknown as { rawJSON(text: string): number }).rawJSON

/** The failures of a user. Keycloak: of one who does not exist, or where nothing is counted, there are none. */
export async function showFailures(context: Context, user: string): Promise<Representation> {
  requirePermissions(context, 'view-users')
  const [realm] = await writers.realm.list(context, {})
  const counts = findLockoutRules(realm!.representation) !== undefined
  const found = counts ? await findFailures(context.tx, context.realm.number, user) : undefined
  const { failedAt = null, lockedUntil = null, permanentlyLocked: permanentlyLocked = false, address } = found ?? {}
  const notBefore = lockedUntil === null ? 0 : toEpochSeconds(lockedUntil)
  return {
    failedLoginNotBefore: permanentlyLocked ? raw(FOR_EVER) : notBefore,
    numFailures: found?.failures ?? 0,
    numTemporaryLockouts: found?.lockouts ?? 0,
    disabled: permanentlyLocked || (lockedUntil !== null && lockedUntil > context.now),
    numSecondaryAuthFailures: found?.otpFailures ?? 0,
    lastIPFailure: address ?? 'n/a',
    lastFailure: failedAt?.getTime() ?? 0,
  }
}

/** Forgets the failures of a user, who can try again at once; without one those of everybody. */
export async function forgetFailures(context: WriteContext, user?: string): Promise<void> {
  requirePermissions(context, 'manage-users')
  const forgotten = await deleteFailures(context.tx, context.realm.number, user === undefined ? undefined : [user])
  if (user !== undefined && !forgotten) omitAdminEvent(context)
}
