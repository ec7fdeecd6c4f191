// The REST operations on login failures: the attack detection.

import type { Representation } from '../../../kinds/json.ts'
import { toEpochSeconds } from '../../../lib/epoch-seconds.ts'
import { deleteFailures, findFailures, findFailuresOfUsers } from '../../../store/login/login-failures.ts'
import { requireListPermission, requireObjectPermission } from '../../authorization/object-permissions.ts'
import type { Context, WriteContext } from '../../context/context.ts'
import { omitAdminEvent } from '../../journal/admin-events.ts'
import { requirePermissions } from '../../permissions/require-permissions.ts'
import { findLockoutRules } from '../../users/lockout.ts'
import { getCurrentRealm } from '../common/current-realm.ts'
import { parsePage } from '../common/list-query.ts'
import type { Query } from '../common/resource.ts'
import { listUsers } from './user-representations.ts'
import { parseUserSearch } from './user-search.ts'
import { DEFAULT_PAGE_SIZE } from './users.ts'

declare global {
  interface JSON {
    /** Returns a value that `stringify` renders as this text. */
    rawJSON(text: string): { readonly rawJSON: string }
  }
}

/** Keycloak: Java's Long.MAX_VALUE, until when a permanently locked account is locked. A number of JavaScript cannot represent it. */
const MAX_LONG = '9223372036854775807'

/** Returns the login failures of a user. Keycloak: none if the user does not exist, or if brute force protection is disabled. */
export async function getLoginFailures(context: Context, user: string): Promise<Representation> {
  await requireObjectPermission(context, { type: 'Users', scope: 'view', objects: [{ id: user }] })
  const { representation } = await getCurrentRealm(context)
  const isProtected = findLockoutRules(representation) !== undefined
  const failures = isProtected ? await findFailures(context.tx, context.realm.number, user) : undefined
  const { failedAt = null, lockedUntil = null, permanentlyLocked = false } = failures ?? {}
  const notBefore = lockedUntil === null ? 0 : toEpochSeconds(lockedUntil)
  return {
    failedLoginNotBefore: permanentlyLocked ? JSON.rawJSON(MAX_LONG) : notBefore,
    numFailures: failures?.failures ?? 0,
    numTemporaryLockouts: failures?.lockouts ?? 0,
    disabled: permanentlyLocked || (lockedUntil !== null && lockedUntil > context.now),
    numSecondaryAuthFailures: failures?.otpFailures ?? 0,
    lastIPFailure: failures?.address ?? 'n/a',
    lastFailure: failedAt?.getTime() ?? 0,
  }
}

/** Lists users as a list of users does, each with the login failures that lock it out. */
export async function listUsersWithFailures(context: Context, query: Query): Promise<Representation[]> {
  await requireListPermission(context, 'Users', 'list-users')
  const brief = query.briefRepresentation === true
  const page = parsePage(query, DEFAULT_PAGE_SIZE)
  const users = await listUsers(context, parseUserSearch(query), { brief, withAccess: true, page })
  const ids = users.map(({ id }) => String(id))
  const failuresByUser = await findFailuresOfUsers(context.tx, context.realm.number, ids)
  return users.map((user) => {
    const failures = failuresByUser.get(String(user.id))
    return {
      ...user,
      bruteForceStatus: {
        disabled: (failures?.lockedUntil ?? context.now) > context.now,
        numFailures: failures?.failures ?? 0,
        lastFailure: failures?.failedAt?.getTime() ?? 0,
        lastIPFailure: failures?.address ?? 'n/a',
      },
    }
  })
}

/** Deletes the login failures of a user, who is no longer locked out then; without a user, of all users. */
export async function clearLoginFailures(context: WriteContext, user?: string): Promise<void> {
  if (user === undefined) requirePermissions(context, 'manage-users')
  else await requireObjectPermission(context, { type: 'Users', scope: 'manage', objects: [{ id: user }] })
  const deleted = await deleteFailures(context.tx, context.realm.number, user === undefined ? undefined : [user])
  if (user !== undefined && !deleted) omitAdminEvent(context)
}
