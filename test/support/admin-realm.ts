// A realm with the user `admin`, who has all admin roles, and with administrators who have some.
import { SYSTEM } from '../../src/service/context/service.ts'
import { hashPassword } from '../../src/service/users/password-hashing.ts'
import { users } from '../../src/service/users/users.ts'
import { logInWithPassword } from './password-login.ts'
import { type TestResponse, testServer } from './server.ts'
import { testService } from './service.ts'

/** The realm, and functions to call the admin API as its administrators. */
export interface AdminRealm {
  readonly path: string
  readonly name: string
  /** Ids of users by user name. */
  readonly users: Readonly<Record<string, string>>
  /** A composite realm role with `realm-admin`. */
  readonly adminRole: { readonly id: string; readonly name: string }
  /** Id of the group /realm-admins, which has that role. */
  readonly adminGroup: string
  /** Returns an access token. */
  token(username: string): Promise<string>
  /** Calls an operation; the address is relative to the realm. */
  as(username: string, method: string, address: string, body?: unknown): Promise<TestResponse>
  /** Throws unless the call is refused because `realm-admin` is missing. */
  expectForbidden(username: string, method: string, address: string, body?: unknown): Promise<void>
}

/** Creates the realm. `administrators` has roles of `realm-management` by user name. */
export async function createAdminRealm(administrators: Readonly<Record<string, string>>): Promise<AdminRealm> {
  const { call, create, createRealm } = await testServer()
  const { service } = await testService()
  const path = await createRealm({ accessTokenLifespan: 3600 })
  const name = path.split('/').at(-1)!
  await create(`${path}/roles`, {
    name: 'administrator',
    composite: true,
    composites: { client: { 'realm-management': ['realm-admin'] } },
  })
  const adminGroup = (await create(`${path}/groups`, { name: 'realm-admins' })).split('/').at(-1)!
  const adminRole = (await call('GET', `${path}/roles/administrator`)).body
  await call('POST', `${path}/groups/${adminGroup}/role-mappings/realm`, { body: [adminRole] })
  const credentials = [await hashPassword('pw')]
  const all = Object.entries({ admin: 'realm-admin', ...administrators }).map(([username, roles]) => ({
    representation: {
      username,
      enabled: true,
      email: `${username}@example.org`,
      firstName: 'A',
      lastName: 'B',
      credentials,
      clientRoles: { 'realm-management': roles.split(' ') },
    },
  }))
  const createdUsers = await service.write(SYSTEM, name, (context) => users.create(context, all))
  const tokens = new Map<string, Promise<string>>()
  const logIn = async (username: string): Promise<string> => {
    const { body } = await logInWithPassword(name, { username, password: 'pw' })
    return body.access_token
  }
  const token = (username: string) => {
    if (!tokens.has(username)) tokens.set(username, logIn(username))
    return tokens.get(username)!
  }
  const as: AdminRealm['as'] = async (username, method, address, body) =>
    call(method, `${path}/${address}`, { token: await token(username), body })
  return {
    path,
    name,
    users: Object.fromEntries(createdUsers.map(({ id, key }) => [key[0]!, id])),
    adminRole,
    adminGroup,
    token,
    as,
    async expectForbidden(username, method, address, body) {
      const response = await as(username, method, address, body)
      const actual = { status: response.status, message: response.body?.error_description }
      const message = `This grants more admin permissions than you have: you lack realm-admin of ${name}`
      if (actual.status !== 403 || actual.message !== message)
        throw new Error(`${username}: ${method} ${address}: ${JSON.stringify(actual)}`)
    },
  }
}
