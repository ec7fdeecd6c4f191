// The first request of the admin console: the user who is logged in, and the realms that they may administer.
import { type AdminRole, adminRoles, isRegentRole } from '../../../kinds/admin-roles.ts'
import { MASTER } from '../../../kinds/built-in/index.ts'
import type { Representation } from '../../../kinds/json.ts'
import { type ViewOf, viewOf } from '../../../kinds/kind.ts'
import { user as userKind } from '../../../kinds/user.ts'
import { ADMIN_ROLE, type AdminPermissions } from '../../context/admin-permissions.ts'
import type { Context } from '../../context/context.ts'
import { failure } from '../../context/errors.ts'
import type { Caller, Service } from '../../context/service.ts'
import { listObjects } from '../../objects/live-objects.ts'
import { isPermitted } from '../../permissions/require-permissions.ts'
import { getCurrentRealm } from '../common/current-realm.ts'

const CONSOLE = 'security-admin-console'

/** The user who is logged in to the admin console. */
export interface WhoAmI {
  readonly userId: string
  readonly realm: string
  readonly displayName: string
  /** Whether the account is a temporary administrator. */
  readonly temporary: boolean
  readonly createRealm: boolean
  /** The admin roles by the realm that they administer. */
  readonly realm_access: Readonly<Record<string, readonly string[]>>
}

/** A user of the admin console, with the attributes of the account and the settings of its realm. */
export interface ConsoleUser {
  readonly whoAmI: WhoAmI
  readonly attributes: Readonly<Record<string, readonly string[]>>
  readonly settings: Representation
}

/**
 * Returns the user who calls. `realm`: the realm of the account; `currentRealm`: the realm to administer, for accounts of master.
 *
 * @throws not_found if a realm does not exist; unauthorized for an account of another realm; forbidden if the token was not issued
 * for the admin console, or if the user has no admin role for the realm.
 */
export async function getWhoAmI(
  service: Service,
  caller: Caller,
  { realm: name, currentRealm = name }: { readonly realm: string; readonly currentRealm: string | undefined },
): Promise<ConsoleUser> {
  const realms = await service.listRealms()
  if (!realms.some((realm) => realm.name === name))
    throw failure('not_found', 'Realm not found.  Did you type in a bad URL?')
  const { user, actor } = caller
  if (user?.realm !== name) throw failure('unauthorized', 'HTTP 401 Unauthorized')
  if (actor.client !== CONSOLE)
    throw failure('forbidden', `Token issued for an application that is not the admin console: ${actor.client}`)
  const target = name === MASTER ? currentRealm : name
  if (!realms.some((realm) => realm.name === target)) throw failure('not_found', 'Realm not found')
  return service.read(caller, name, async (context) => {
    const roles = listAdminRoles(context.permissions, target)
    if (!roles.length) throw failure('forbidden', 'No realm access')
    const { username, firstName, lastName, attributes } = await getAccount(context, user.id)
    const fullName = [firstName, lastName].filter((part) => part?.trim()).join(' ')
    const whoAmI = {
      userId: user.id,
      realm: name,
      displayName: fullName || username!,
      temporary: attributes?.is_temporary_admin?.[0] === 'true',
      createRealm: name === MASTER && isPermitted(context, 'create-realm'),
      realm_access: { [target]: roles },
    }
    return { whoAmI, attributes: attributes ?? {}, settings: (await getCurrentRealm(context)).representation }
  })
}

async function getAccount(context: Context, id: string): Promise<ViewOf<typeof userKind>> {
  const [live] = await listObjects(context, 'user', { ids: [id] })
  return viewOf(userKind, live!.representation)
}

/** Keycloak: `create-realm` administers no realm; an administrator of all realms has every admin role of the realm, and `admin`. */
function listAdminRoles(permissions: AdminPermissions, realm: string): string[] {
  const isOfRealm = (role: AdminRole) => role !== 'create-realm' && !isRegentRole(role)
  if (permissions.all) return [...adminRoles.filter((role) => isOfRealm(role) && role !== 'realm-admin'), ADMIN_ROLE]
  return [...(permissions.realms.get(realm) ?? [])].filter(isOfRealm)
}
