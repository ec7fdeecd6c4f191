// The first start: the master realm, and somebody who can administer it.
import { MASTER } from '../../kinds/built-in/index.ts'
import type { Representation } from '../../kinds/json.ts'
import { hasUsers } from '../../store/users/users.ts'
import { clients } from '../clients/clients.ts'
import { ADMIN_ROLE } from '../context/admin-permissions.ts'
import type { Context, WriteContext } from '../context/context.ts'
import { failure, ServiceError } from '../context/errors.ts'
import { type Service, SYSTEM } from '../context/service.ts'
import { ADMIN_ACCESS, getMasterAdminAccess, hasAdministratorIn } from '../objects/last-administrator.ts'
import type { LiveObject } from '../objects/live-objects.ts'
import { hashPassword } from '../users/password-hashing.ts'
import { grantRealmRoles, users } from '../users/users.ts'

/** A first administrator. */
export interface InitialAdministrator {
  readonly user: string
  readonly password: string
}

/**
 * Makes the master realm where there is none, and the administrator, if one is given and the realm has nobody yet. Two
 * processes at once: one of them makes each.
 */
export async function bootstrap(service: Service, administrator?: InitialAdministrator): Promise<void> {
  await createMaster(service)
  if (!administrator || (await service.read(SYSTEM, MASTER, isInhabited))) return
  const password = await hashPassword(administrator.password)
  await service.write(SYSTEM, MASTER, async (context) => {
    if (await isInhabited(context)) return
    await createAdministrator(context, administrator.user, password)
  })
}

/**
 * Gives the user of the master realm a new password and the role of its administrators, and enables them; makes them where they
 * do not exist. Where admin-cli does not let them in by name and password, it does so again. Returns whether they can log in then.
 *
 * @throws not_found without realm
 */
export async function resetAdminPassword(service: Service, user: string, password: string): Promise<boolean> {
  if (!user || !password) throw failure('invalid', 'A user name and a password are needed')
  const hash = await hashPassword(password)
  return service.write(SYSTEM, MASTER, async (context) => {
    const [live] = await users.list(context, { keys: [[user.toLowerCase()]] })
    if (live) {
      await users.update(context, [
        { live, set: { enabled: true, requiredActions: null, notBefore: 0, credentials: [hash] } },
      ])
      await grantRealmRoles(context, live, [ADMIN_ROLE])
    }
    const { id } = live ?? (await createAdministrator(context, user, hash))
    if (await isLetIn(context, id)) return true
    const found = await clients.list(context, { keys: [[ADMIN_CLI]] })
    // Without a secret a client loses its authorization services.
    if (found.some(({ representation }) => representation.authorizationServicesEnabled === true)) return false
    await clients.update(
      context,
      found.map((cli) => ({ live: cli, set: LETTING_IN })),
    )
    return isLetIn(context, id)
  })
}

/** Whether the user administers every realm by name and password through admin-cli. One statement. */
async function isLetIn(context: WriteContext, user: string): Promise<boolean> {
  return (await getMasterAdminAccess(context, { user, client: ADMIN_CLI })) >= ADMIN_ACCESS.directRequested
}

/** The client of command lines: Keycloak's and Regent's. */
const ADMIN_CLI = 'admin-cli'

/** Settings of admin-cli by which it lets in who administers every realm. */
const LETTING_IN = {
  enabled: true,
  protocol: 'openid-connect',
  publicClient: true,
  bearerOnly: false,
  consentRequired: false,
  fullScopeAllowed: true,
  directAccessGrantsEnabled: true,
  notBefore: 0,
} as const

/** Whether somebody who can log in administers every realm. */
export function hasAdministrator(service: Service): Promise<boolean> {
  return service.read(SYSTEM, MASTER, hasAdministratorIn)
}

async function createAdministrator(
  context: WriteContext,
  username: string,
  password: Representation,
): Promise<LiveObject> {
  const representation = { username, enabled: true, credentials: [password] }
  const [made] = await users.create(context, [{ representation }])
  await grantRealmRoles(context, made!, [ADMIN_ROLE])
  return made!
}

async function createMaster(service: Service): Promise<void> {
  if ((await service.listRealms()).some(({ name }) => name === MASTER)) return
  try {
    const representation = { realm: MASTER, enabled: true }
    await service.createRealm(SYSTEM, { representation }, async () => {})
  } catch (error) {
    if (!(error instanceof ServiceError && error.code === 'conflict')) throw error
  }
}

function isInhabited({ tx, realm }: Context): Promise<boolean> {
  return hasUsers(tx, realm.number)
}
