// Which roles may call which operation: what is said of each, and what happens, as it was recorded from the reference server.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { operations } from '../../src/http/admin/index.ts'
import type { Operation } from '../../src/http/operation.ts'
import { adminRoles, rolesGiving } from '../../src/kinds/admin-roles.ts'
import { hashPassword } from '../../src/service/passwords.ts'
import { SYSTEM } from '../../src/service/service.ts'
import { users } from '../../src/service/users.ts'
import { addressOf, bodyFor, type Filled, fillRealm } from '../support/addresses.ts'
import { testServer } from '../support/server.ts'
import { testService } from '../support/service.ts'

/** The roles that are enough for operations, each alone or joined by a plus. */
interface Recorded {
  readonly roles: readonly string[]
  readonly operations: readonly string[]
}

const recorded = JSON.parse(readFileSync(join(import.meta.dirname, 'admin-roles.json'), 'utf8')) as Recorded[]
const rolesOf = new Map(recorded.flatMap(({ roles, operations }) => operations.map((one) => [one, roles] as const)))
const nameOf = ({ method, path }: Operation) => `${method} ${path}`
const USER = '/admin/realms/{realm}/users/{user-id}'
const known = operations.filter((operation) => rolesOf.has(nameOf(operation)))

test('each operation says that it needs the roles that it needs there', () => {
  const said = known.map((operation) => [nameOf(operation), enoughFor(operation)])
  expect(said).toEqual(known.map((operation) => [nameOf(operation), [...rolesOf.get(nameOf(operation))!].sort()]))
})

const roles = ['nobody', ...adminRoles.filter((role) => role !== 'create-realm')]
const tokens = new Map<string, string>()
let realm: Filled
beforeAll(async () => {
  realm = await fillRealm('thing', (kind) => (kind === 'realm' ? { enabled: true, accessTokenLifespan: 3600 } : {}))
  const { service } = await testService()
  const { call } = await testServer()
  const credentials = [await hashPassword('pw')]
  const people = roles.map((role) => ({
    representation: {
      username: role,
      email: `${role}@example.org`,
      firstName: 'A',
      lastName: 'B',
      enabled: true,
      credentials,
      ...(role !== 'nobody' && { clientRoles: { 'realm-management': [role] } }),
    },
  }))
  await service.write(SYSTEM, realm.name, (context) => users.create(context, people))
  for (const role of roles) {
    const form = { grant_type: 'password', client_id: 'admin-cli', username: role, password: 'pw' }
    const { body } = await call('POST', `/realms/${realm.name}/protocol/openid-connect/token`, {
      token: null,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams(form).toString(),
    })
    expect(body).toHaveProperty('access_token')
    tokens.set(role, body.access_token)
  }
}, 60_000)

/** There, the test's realm has a role of a client, which other roles administer than those of the realm. */
const OF_CLIENT = '/admin/realms/{realm}/roles-by-id/{role-id}/composites/clients/{clientUuid}'

test.each(known.filter(({ path }) => path !== OF_CLIENT))(
  '$method $path is refused to everybody else',
  { timeout: 30_000 },
  async (operation) => {
    const enough = rolesOf.get(nameOf(operation))!
    const isEnough = (role: string) => enough.includes(role)
    // What changes something is only tried by those who may not.
    const callers = operation.method === 'GET' ? roles : roles.filter((role) => !isEnough(role))
    const answers = await Promise.all(callers.map(async (role) => [role, (await callAs(operation, role)) !== 403]))
    expect(answers).toEqual(callers.map((role) => [role, isEnough(role)]))
  },
)

async function callAs(operation: Operation, role: string): Promise<number> {
  const { app } = await testServer()
  const plain = operation.body?.plain
  const body = plain ? 'fresh' : bodyFor(operation, 'fresh')
  const { statusCode } = await app.inject({
    method: operation.method,
    url: `${addressOf(operation.path, realm)}?userId=${realm.value(USER, 'user-id')}`,
    headers: {
      authorization: `Bearer ${tokens.get(role)}`,
      ...(body !== undefined && { 'content-type': plain ? 'text/plain' : 'application/json' }),
    },
    ...(body !== undefined && { payload: plain ? String(body) : JSON.stringify(body) }),
  })
  return statusCode
}

/** The smallest sets of roles that give all that an operation needs. */
function enoughFor({ permission }: Operation): string[] {
  if (permission === 'any') return []
  let sets: string[][] = [[]]
  for (const one of [permission].flat())
    sets = sets.flatMap((set) => rolesGiving(one).map((role) => [...new Set([...set, role])].sort()))
  const smallest = sets.filter(
    (set) => !sets.some((other) => other.length < set.length && other.every((role) => set.includes(role))),
  )
  return [...new Set(smallest.map((set) => set.join('+')))].sort()
}
