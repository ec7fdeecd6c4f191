// The status of tokens: whether the client, the user and the session of a token still allow it.
import type { Transaction } from '../../store/database/transaction.ts'
import type { PermissionVersions } from '../../store/realms.ts'
import { findTokenState, type TokenState } from '../../store/users/token-state.ts'
import { announceAccessChange } from '../context/access-changes.ts'
import {
  type AdminPermissions,
  ALL_PERMISSIONS,
  hasFullAccess,
  intersectPermissions,
  toAdminPermissions,
} from '../context/admin-permissions.ts'
import type { IssuedToken } from '../context/cached-values.ts'
import type { RuntimeContext } from '../context/context.ts'
import { recordKeyUse } from '../context/single-use.ts'
import { findFullAccessRole } from '../permissions/require-permissions.ts'

/** The status of a token. Keycloak: the reasons are its texts, some of which are error codes. */
export type TokenStatus =
  | { readonly isValid: false; readonly reason?: 'User disabled' | 'user_session_not_found' }
  | {
      readonly isValid: true
      /** The client ID. */
      readonly client: string
      readonly user: { readonly id: string; readonly username: string }
      /**
       * The current admin permissions of the user, within the admin roles that the client has in scope, as in Keycloak, and that the
       * last editor of the client could grant; absent unless requested.
       */
      readonly permissions?: AdminPermissions
      /** Whether the last editor of the client could grant all admin permissions of the realm. */
      readonly isClientTrusted: boolean
      /** The versions of what the permissions depend on. */
      readonly versions?: PermissionVersions
      readonly session: TokenState['session']
    }

/**
 * Returns the status of a token. It is valid while its client and its user are enabled, neither has a later not-before
 * time, it is not revoked, and the session that it names exists. One statement.
 */
export async function checkToken(
  tx: Transaction,
  { realm, withPermissions = false, ...issued }: IssuedToken & { readonly withPermissions?: boolean | undefined },
): Promise<TokenStatus> {
  const token = { ...issued, revoked: revocationKey(issued.id) }
  const state = await findTokenState(tx, realm.number, {
    token,
    unexpandedRole: findFullAccessRole(realm.name),
    withRoles: withPermissions,
  })
  if (!state?.enabled || issued.issuedAt < state.notBefore || state.revoked) return { isValid: false }
  const { client, user, session, scope, editorRoles, roles, revision, userVersion } = state
  if (user?.enabled === false) return { isValid: false, reason: 'User disabled' }
  if (issued.session !== undefined && !session) return { isValid: false, reason: 'user_session_not_found' }
  if (!user) return { isValid: false }
  const [inScope, ofEditor] = [scope, editorRoles].map((names) =>
    names ? toAdminPermissions(realm.name, names) : ALL_PERMISSIONS,
  )
  const maxPermissions = intersectPermissions(inScope!, ofEditor!)
  const permissions = roles && intersectPermissions(toAdminPermissions(realm.name, roles), maxPermissions)
  const versions = { realm: realm.number, revision: revision ?? 0, user: user.id, userVersion: userVersion ?? '' }
  const isClientTrusted = hasFullAccess(ofEditor!, realm.name)
  return { isValid: true, client, user, isClientTrusted, ...(permissions && { permissions, versions }), session }
}

const revocationKey = (id: string) => `revoked ${id}`

/** Revokes the token with an id until it expires. Two statements. */
export async function revokeToken(context: RuntimeContext, id: string, expiresAt: Date): Promise<void> {
  await recordKeyUse(context, revocationKey(id), expiresAt)
  await announceAccessChange(context, id)
}
