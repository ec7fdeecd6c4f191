// The first start: the master realm, and somebody who can administer it.
import { MASTER } from '../kinds/built-in/index.ts'
import type { Representation } from '../kinds/kind.ts'
import { hasPeople } from '../store/users.ts'
import type { Context, WriteContext } from './context.ts'
import { failure, ServiceError } from './errors.ts'
import { isAdministered } from './last-administrator.ts'
import { hashPassword } from './passwords.ts'
import { ADMIN } from './power.ts'
import { type Service, SYSTEM } from './service.ts'
import { grantRealmRoles, users } from './users.ts'

/** A first administrator. */
export interface Administrator {
  readonly user: string
  readonly password: string
}

/**
 * Makes the master realm where there is none, and the administrator, if one is given and the realm has nobody yet. Two
 * processes at once: one of them makes each.
 */
export async function bootstrap(service: Service, administrator?: Administrator): Promise<void> {
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
 * do not exist. Throws not_found without realm.
 */
export async function resetAdminPassword(service: Service, user: string, password: string): Promise<void> {
  if (!user || !password) throw failure('invalid', 'A user name and a password are needed')
  const hash = await hashPassword(password)
  await service.write(SYSTEM, MASTER, async (context) => {
    const [live] = await users.list(context, { keys: [[user.toLowerCase()]] })
    if (!live) return createAdministrator(context, user, hash)
    await users.update(context, [{ live, set: { enabled: true, credentials: [hash] } }])
    await grantRealmRoles(context, live, [ADMIN])
  })
}

/** Whether somebody who can log in administers every realm. */
export function hasAdministrator(service: Service): Promise<boolean> {
  return service.read(SYSTEM, MASTER, isAdministered)
}

async function createAdministrator(context: WriteContext, username: string, password: Representation): Promise<void> {
  const representation = { username, enabled: true, credentials: [password] }
  const [made] = await users.create(context, [{ representation }])
  await grantRealmRoles(context, made!, [ADMIN])
}

async function createMaster(service: Service): Promise<void> {
  if ((await service.realms()).some(({ name }) => name === MASTER)) return
  try {
    const representation = { realm: MASTER, enabled: true }
    await service.create(SYSTEM, { representation }, async () => {})
  } catch (error) {
    if (!(error instanceof ServiceError && error.code === 'conflict')) throw error
  }
}

function isInhabited({ tx, realm }: Context): Promise<boolean> {
  return hasPeople(tx, realm.number)
}
