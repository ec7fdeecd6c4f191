// Calls of each operation with each role of its realm return 403 where Keycloak returns 403. The permissions that operations
// declare, in all realms, are compared in admin-matrix.test.ts.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { operations } from '../../src/http/admin/index.ts'
import type { Operation } from '../../src/http/operation.ts'
import { adminRoles } from '../../src/kinds/admin-roles.ts'
import { SYSTEM } from '../../src/service/context/service.ts'
import { hashPassword } from '../../src/service/users/password-hashing.ts'
import { users } from '../../src/service/users/users.ts'
import { type RecordedRoles, toOperationName } from '../support/admin-cases.ts'
import { createBody, createFilledRealm, type FilledRealm, toAddress } from '../support/filled-realm.ts'
import { isFullRun } from '../support/property-options.ts'
import { testServer } from '../support/server.ts'
import { testService } from '../support/service.ts'

const read = <T>(file: string) => JSON.parse(readFileSync(join(import.meta.dirname, file), 'utf8')) as T
const CASE = 'realm-management, own realm'
const recorded = read<RecordedRoles[]>('admin-matrix.json')
const differingOperations = new Set(
  read<{ operation: string }[]>('admin-matrix-differences.json').map(({ operation }) => operation),
)
/** The single roles that suffice, by operation. */
const sufficientRoles = new Map(
  recorded.flatMap(({ enough, operations }) => operations.map((name) => [name, enough[CASE] ?? []] as const)),
)
const USER = '/admin/realms/{realm}/users/{user-id}'
const comparedOperations = operations.filter((operation) => {
  const name = toOperationName(operation)
  return (
    operation.path.startsWith('/admin/realms/{realm}') && sufficientRoles.has(name) && !differingOperations.has(name)
  )
})

const roles = ['nobody', ...adminRoles.filter((role) => role !== 'create-realm')]
const tokens = new Map<string, string>()
let realm: FilledRealm
beforeAll(async () => {
  realm = await createFilledRealm('sample', (kind) =>
    kind === 'realm' ? { enabled: true, accessTokenLifespan: 3600 } : {},
  )
  const { service } = await testService()
  const { call } = await testServer()
  const credentials = [await hashPassword('pw')]
  const newUsers = roles.map((role) => ({
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
  await service.write(SYSTEM, realm.name, (context) => users.create(context, newUsers))
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

test.each(comparedOperations)(
  '$method $path returns 403 to exactly the roles that may not call it in Keycloak',
  { timeout: 30_000 },
  async (operation) => {
    const enough = sufficientRoles.get(toOperationName(operation))!
    const isEnough = (role: string) => enough.includes(role)
    // A write is sent only with roles that are refused, since others would change the realm.
    const all = operation.method === 'GET' ? roles : roles.filter((role) => !isEnough(role))
    const callers = isFullRun ? all : selectRoles(all, isEnough, comparedOperations.indexOf(operation))
    const results = await Promise.all(callers.map(async (role) => [role, (await callAs(operation, role)) !== 403]))
    expect(results).toEqual(callers.map((role) => [role, isEnough(role)]))
  },
)

/** Returns no role, one that suffices and one that does not. Which ones rotates from operation to operation. */
function selectRoles(all: readonly string[], isEnough: (role: string) => boolean, index: number): string[] {
  const [refused, admitted] = [all.filter((role) => !isEnough(role)), all.filter(isEnough)]
  const chosen = [refused[0], refused[index % refused.length], admitted[index % admitted.length]]
  return [...new Set(chosen)].filter((role) => role !== undefined)
}

async function callAs(operation: Operation, role: string): Promise<number> {
  const { app } = await testServer()
  const plain = operation.body?.plain
  const body = plain ? 'new-object' : createBody(operation, 'new-object')
  const { statusCode } = await app.inject({
    method: operation.method,
    url: `${toAddress(operation.path, realm)}?userId=${realm.value(USER, 'user-id')}`,
    headers: {
      authorization: `Bearer ${tokens.get(role)}`,
      ...(body !== undefined && { 'content-type': plain ? 'text/plain' : 'application/json' }),
    },
    ...(body !== undefined && { payload: plain ? String(body) : JSON.stringify(body) }),
  })
  return statusCode
}
