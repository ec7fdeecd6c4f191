// Administrators of a realm, by the roles that they have.

import { SYSTEM } from '../../src/service/context/service.ts'
import { hashPassword } from '../../src/service/users/password-hashing.ts'
import { users } from '../../src/service/users/users.ts'
import { testServer } from './server.ts'
import { newName, testService } from './service.ts'

/** Roles: of the realm, and of clients. */
export interface AssignedRoles {
  readonly realmRoles?: string[]
  readonly clientRoles?: Record<string, string[]>
}

/** Makes somebody with the roles; gives a token of theirs. */
export async function createAdminToken(realm: string, roles: AssignedRoles): Promise<string> {
  const [token] = await createAdminTokens(realm, [roles])
  return token!
}

/** Makes people in the realm, each with these roles; gives their tokens. */
export async function createAdminTokens(realm: string, all: readonly AssignedRoles[]): Promise<string[]> {
  const { service } = await testService()
  const { call } = await testServer()
  const password = await hashPassword('pw')
  const people = all.map((roles) => {
    const username = newName()
    const person = { username, enabled: true, email: `${username}@example.org`, firstName: 'A', lastName: 'B' }
    return { representation: { ...person, credentials: [password], ...roles } }
  })
  await service.write(SYSTEM, realm, (context) => users.create(context, people))
  const logIn = async ({ representation: { username } }: (typeof people)[number]) => {
    const { body } = await call('POST', `/realms/${realm}/protocol/openid-connect/token`, {
      token: null,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: `grant_type=password&client_id=admin-cli&username=${username}&password=pw`,
    })
    return body.access_token as string
  }
  return Promise.all(people.map(logIn))
}
