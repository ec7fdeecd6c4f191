// A realm with administrators who have some roles only, and with somebody who has all: the boss.

import { SYSTEM } from '../../src/service/context/service.ts'
import { hashPassword } from '../../src/service/users/password-hashing.ts'
import { users } from '../../src/service/users/users.ts'
import { type TestResponse, testServer } from './server.ts'
import { testService } from './service.ts'

/** The realm, and what its administrators do there. */
export interface AdminRealm {
  readonly path: string
  readonly name: string
  /** Ids of people by username. */
  readonly users: Readonly<Record<string, string>>
  /** A realm role that contains `realm-admin`, as roles are named in bodies. */
  readonly adminRole: { readonly id: string; readonly name: string }
  /** Id of a group that has it: /bosses. */
  readonly adminGroup: string
  /** An access token of one of them. */
  token(person: string): Promise<string>
  /** A call of one of them; the address goes on from that of the realm. */
  as(person: string, method: string, address: string, body?: unknown): Promise<TestResponse>
  /** Fails unless the call is refused for want of `realm-admin`. */
  expectForbidden(person: string, method: string, address: string, body?: unknown): Promise<void>
}

/** Makes the realm; `administrators`: roles of `realm-management` by username. */
export async function createAdminRealm(administrators: Readonly<Record<string, string>>): Promise<AdminRealm> {
  const { call, make, realm } = await testServer()
  const { service } = await testService()
  const path = await realm({ accessTokenLifespan: 3600 })
  const name = path.split('/').at(-1)!
  await make(`${path}/roles`, { name: 'powerful', composites: { client: { 'realm-management': ['realm-admin'] } } })
  const adminGroup = (await make(`${path}/groups`, { name: 'bosses' })).split('/').at(-1)!
  const adminRole = (await call('GET', `${path}/roles/powerful`)).body
  await call('POST', `${path}/groups/${adminGroup}/role-mappings/realm`, { body: [adminRole] })
  const credentials = [await hashPassword('pw')]
  const all = Object.entries({ boss: 'realm-admin', ...administrators }).map(([username, roles]) => ({
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
  const made = await service.write(SYSTEM, name, (context) => users.create(context, all))
  const tokens = new Map<string, Promise<string>>()
  const logIn = async (username: string): Promise<string> => {
    const { body } = await call('POST', `/realms/${name}/protocol/openid-connect/token`, {
      token: null,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({
        grant_type: 'password',
        client_id: 'admin-cli',
        username,
        password: 'pw',
      }).toString(),
    })
    return body.access_token
  }
  const token = (person: string) => {
    if (!tokens.has(person)) tokens.set(person, logIn(person))
    return tokens.get(person)!
  }
  const as: AdminRealm['as'] = async (person, method, address, body) =>
    call(method, `${path}/${address}`, { token: await token(person), body })
  return {
    path,
    name,
    users: Object.fromEntries(made.map(({ id, key }) => [key[0]!, id])),
    adminRole,
    adminGroup,
    token,
    as,
    async expectForbidden(person, method, address, body) {
      const answer = await as(person, method, address, body)
      const said = { status: answer.status, why: answer.body?.error_description }
      const why = `This grants more admin permissions than you have: you lack realm-admin of ${name}`
      if (said.status !== 403 || said.why !== why)
        throw new Error(`${person}: ${method} ${address}: ${JSON.stringify(said)}`)
    },
  }
}
