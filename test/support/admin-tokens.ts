// Access tokens of administrators with given roles.
import { SYSTEM } from '../../src/service/context/service.ts'
import { hashPassword } from '../../src/service/users/password-hashing.ts'
import { users } from '../../src/service/users/users.ts'
import { logInWithPassword } from './password-login.ts'
import { newName, testService } from './service.ts'

/** Realm roles and client roles of an administrator. */
export interface AssignedRoles {
  readonly realmRoles?: string[]
  readonly clientRoles?: Record<string, string[]>
}

/** Creates an administrator with the roles, and returns an access token. */
export async function createAdminToken(realm: string, roles: AssignedRoles): Promise<string> {
  const [token] = await createAdminTokens(realm, [roles])
  return token!
}

/** Creates an administrator for each set of roles, and returns their access tokens. */
export async function createAdminTokens(realm: string, all: readonly AssignedRoles[]): Promise<string[]> {
  const { service } = await testService()
  const password = await hashPassword('pw')
  const newUsers = all.map((roles) => {
    const username = newName()
    const profile = { username, enabled: true, email: `${username}@example.org`, firstName: 'A', lastName: 'B' }
    return { representation: { ...profile, credentials: [password], ...roles } }
  })
  await service.write(SYSTEM, realm, (context) => users.create(context, newUsers))
  const logIn = async ({ representation: { username } }: (typeof newUsers)[number]) => {
    const { body } = await logInWithPassword(realm, { username, password: 'pw' })
    return body.access_token as string
  }
  return Promise.all(newUsers.map(logIn))
}
