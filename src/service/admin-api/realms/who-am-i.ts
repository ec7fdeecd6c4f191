// What the administration console asks first: who is logged in, and what they may administer.
import { type AdminRole, adminRoles } from '../../../kinds/admin-roles.ts'
import { MASTER } from '../../../kinds/built-in/index.ts'
import type { Representation } from '../../../kinds/json.ts'
import type { Context } from '../../context/context.ts'
import { failure } from '../../context/errors.ts'
import { ADMIN_ROLE, type AdminPermissions } from '../../context/admin-permissions.ts'
import type { Caller, Service } from '../../context/service.ts'
import { listObjects } from '../../objects/live-objects.ts'
import { isPermitted } from '../../permissions/require-permissions.ts'
import { getCurrentRealm } from '../common/current-realm.ts'

const CONSOLE = 'security-admin-console'

/** Somebody who is logged in. */
export interface WhoAmI {
  readonly userId: string
  readonly realm: string
  readonly displayName: string
  /** Whether the account is only there until there is another one. */
  readonly temporary: boolean
  readonly createRealm: boolean
  /** By realm, the roles that administer it. */
  readonly realm_access: Readonly<Record<string, readonly string[]>>
}

/**
 * Who calls, with the attributes of their account and the settings of its realm; `about`: the realm that they would administer, where they are of master.
 * Throws not_found, unauthorized where the caller is of another realm, forbidden where the token is not the console's or there is nothing to administer.
 */
export async function whoAmI(
  service: Service,
  caller: Caller,
  name: string,
  about: string = name,
): Promise<{ who: WhoAmI; attributes: Record<string, string[]>; settings: Representation }> {
  const realms = await service.listRealms()
  if (!realms.some((realm) => realm.name === name))
    throw failure('not_found', 'Realm not found.  Did you type in a bad URL?')
  const { user, actor } = caller
  if (user?.realm !== name) throw failure('unauthorized', 'HTTP 401 Unauthorized')
  if (actor.client !== CONSOLE)
    throw failure('forbidden', `Token issued for an application that is not the admin console: ${actor.client}`)
  const target = name === MASTER ? about : name
  if (!realms.some((realm) => realm.name === target)) throw failure('not_found', 'Realm not found')
  return service.read(caller, name, async (context) => {
    const roles = rolesIn(context.permissions, target)
    if (!roles.length) throw failure('forbidden', 'No realm access')
    const { username, firstName, lastName, attributes = {} } = await account(context, user.id)
    const own = attributes as Record<string, string[]>
    const called = [firstName, lastName].filter((one) => typeof one === 'string' && one.trim() !== '').join(' ')
    const who = {
      userId: user.id,
      realm: name,
      displayName: called || String(username),
      temporary: own.is_temporary_admin?.[0] === 'true',
      createRealm: name === MASTER && isPermitted(context, 'create-realm'),
      realm_access: { [target]: roles },
    }
    return { who, attributes: own, settings: (await getCurrentRealm(context)).representation }
  })
}

async function account(context: Context, id: string): Promise<Representation> {
  const [live] = await listObjects(context, 'user', { ids: [id] })
  return live!.representation
}

/** Keycloak: `create-realm` administers no realm; who has all power has every role that master has for one. */
function rolesIn(power: AdminPermissions, realm: string): string[] {
  const isOfRealm = (role: AdminRole) => role !== 'create-realm'
  if (power.all) return [...adminRoles.filter((role) => isOfRealm(role) && role !== 'realm-admin'), ADMIN_ROLE]
  return [...(power.realms.get(realm) ?? [])].filter(isOfRealm)
}
