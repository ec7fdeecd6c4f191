// The first start: creates the master realm and its first administrator.
import { MASTER } from '../../kinds/built-in/index.ts'
import type { Representation } from '../../kinds/json.ts'
import { hasUsers } from '../../store/users/users.ts'
import { clients } from '../clients/clients.ts'
import { ADMIN_ROLE } from '../context/admin-permissions.ts'
import type { Context, WriteContext } from '../context/context.ts'
import { failure, ServiceError } from '../context/errors.ts'
import { type Service, SYSTEM } from '../context/service.ts'
import { ADMIN_ACCESS, getMasterAdminAccess, hasMasterAdministrator } from '../objects/last-administrator.ts'
import type { LiveObject } from '../objects/live-objects.ts'
import { hashPassword } from '../users/password-hashing.ts'
import { grantRealmRoles, users } from '../users/users.ts'

/** The first administrator. */
export interface InitialAdministrator {
  readonly user: string
  readonly password: string
}

/**
 * Creates the master realm if it does not exist, and the administrator, if one is given and the realm has no users. Concurrent
 * processes create each only once.
 */
export async function bootstrap(service: Service, administrator?: InitialAdministrator): Promise<void> {
  await createMaster(service)
  if (!administrator || (await service.read(SYSTEM, MASTER, hasAnyUser))) return
  const password = await hashPassword(administrator.password)
  await service.write(SYSTEM, MASTER, async (context) => {
    if (await hasAnyUser(context)) return
    await createAdministrator(context, administrator.user, password)
  })
}

/** The result of a password reset. */
export interface AdminPasswordReset {
  /** Whether the user did not exist before. */
  readonly isCreated: boolean
  readonly canLogIn: boolean
}

/** A password to set. `create`: whether a missing user is created. */
interface NewAdminPassword {
  readonly password: string
  readonly create: boolean
}

/**
 * Sets the password of a user of the master realm, enables the user and grants them the admin role. Resets the client admin-cli if it
 * does not let them log in.
 *
 * @throws not_found if there is no master realm, or if the user does not exist and is not to be created.
 */
export async function resetAdminPassword(
  service: Service,
  user: string,
  { password, create }: NewAdminPassword,
): Promise<AdminPasswordReset> {
  if (!user || !password) throw failure('invalid', 'A user name and a password are required')
  const hash = await hashPassword(password)
  return service.write(SYSTEM, MASTER, async (context) => {
    const [live] = await users.list(context, { keys: [[user.toLowerCase()]] })
    if (!live && !create) throw failure('not_found', describeMissingAdministrator(user))
    if (live) {
      await users.update(context, [
        { live, set: { enabled: true, requiredActions: null, notBefore: 0, credentials: [hash] } },
      ])
      await grantRealmRoles(context, live, [ADMIN_ROLE])
    }
    const { id } = live ?? (await createAdministrator(context, user, hash))
    const canLogIn =
      (await canLogInByAdminCli(context, id)) ||
      ((await resetAdminCli(context)) && (await canLogInByAdminCli(context, id)))
    return { isCreated: live === undefined, canLogIn }
  })
}

/** Returns the message that an administrator does not exist, and how to create it by the command. */
export function describeMissingAdministrator(user: string): string {
  return `There is no user ${user} in the master realm. To create it as an administrator of all realms, pass --create.`
}

/** Resets the client admin-cli. Returns false if that would delete its authorization services, which need a secret. */
async function resetAdminCli(context: WriteContext): Promise<boolean> {
  const adminCli = await clients.list(context, { keys: [[ADMIN_CLI]] })
  if (adminCli.some(({ representation }) => representation.authorizationServicesEnabled === true)) return false
  await clients.update(
    context,
    adminCli.map((live) => ({ live, set: ADMIN_CLI_SETTINGS })),
  )
  return true
}

/** Whether the user administers every realm by name and password through admin-cli. One statement. */
async function canLogInByAdminCli(context: WriteContext, user: string): Promise<boolean> {
  return (await getMasterAdminAccess(context, { user, client: ADMIN_CLI })) >= ADMIN_ACCESS.directRequested
}

/** The client of command line tools: Keycloak's and Regent's. */
const ADMIN_CLI = 'admin-cli'

/** Settings of admin-cli with which administrators can log in by password. */
const ADMIN_CLI_SETTINGS = {
  enabled: true,
  protocol: 'openid-connect',
  publicClient: true,
  bearerOnly: false,
  consentRequired: false,
  fullScopeAllowed: true,
  directAccessGrantsEnabled: true,
  notBefore: 0,
} as const

/** Whether a user who can log in administers every realm. */
export function hasAdministrator(service: Service): Promise<boolean> {
  return service.read(SYSTEM, MASTER, hasMasterAdministrator)
}

async function createAdministrator(
  context: WriteContext,
  username: string,
  password: Representation,
): Promise<LiveObject> {
  const representation = { username, enabled: true, credentials: [password] }
  const [administrator] = await users.create(context, [{ representation }])
  await grantRealmRoles(context, administrator!, [ADMIN_ROLE])
  return administrator!
}

async function createMaster(service: Service): Promise<void> {
  if ((await service.findRealms([MASTER])).length) return
  try {
    const representation = { realm: MASTER, enabled: true }
    await service.createRealm(SYSTEM, { representation }, async () => {})
  } catch (error) {
    if (!(error instanceof ServiceError && error.code === 'conflict')) throw error
  }
}

function hasAnyUser({ tx, realm }: Context): Promise<boolean> {
  return hasUsers(tx, realm.number)
}
