// Which roles may call which operation of their own realm: what happens is what was recorded from the reference server. What
// operations say of it, in all realms, is compared in admin-matrix.test.ts.
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
const apart = new Set(read<{ operation: string }[]>('admin-matrix-apart.json').map(({ operation }) => operation))
/** By operation, the roles that are enough alone. */
const rolesOf = new Map(
  recorded.flatMap(({ enough, operations }) => operations.map((one) => [one, enough[CASE] ?? []] as const)),
)
const USER = '/admin/realms/{realm}/users/{user-id}'
const known = operations.filter((operation) => {
  const name = toOperationName(operation)
  return operation.path.startsWith('/admin/realms/{realm}') && rolesOf.has(name) && !apart.has(name)
})

const roles = ['nobody', ...adminRoles.filter((role) => role !== 'create-realm')]
const tokens = new Map<string, string>()
let realm: FilledRealm
beforeAll(async () => {
  realm = await createFilledRealm('thing', (kind) =>
    kind === 'realm' ? { enabled: true, accessTokenLifespan: 3600 } : {},
  )
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

test.each(known)('$method $path is refused to everybody else', { timeout: 30_000 }, async (operation) => {
  const enough = rolesOf.get(toOperationName(operation))!
  const isEnough = (role: string) => enough.includes(role)
  // What changes something is only tried by those who may not.
  const all = operation.method === 'GET' ? roles : roles.filter((role) => !isEnough(role))
  const callers = isFullRun ? all : someOf(all, isEnough, known.indexOf(operation))
  const answers = await Promise.all(callers.map(async (role) => [role, (await callAs(operation, role)) !== 403]))
  expect(answers).toEqual(callers.map((role) => [role, isEnough(role)]))
})

/** Nobody, one whose role is enough, and one whose role is not: over many operations, everybody's turn comes. */
function someOf(all: readonly string[], isEnough: (role: string) => boolean, turn: number): string[] {
  const [refused, admitted] = [all.filter((role) => !isEnough(role)), all.filter(isEnough)]
  const chosen = [refused[0], refused[turn % refused.length], admitted[turn % admitted.length]]
  return [...new Set(chosen)].filter((role) => role !== undefined)
}

async function callAs(operation: Operation, role: string): Promise<number> {
  const { app } = await testServer()
  const plain = operation.body?.plain
  const body = plain ? 'fresh' : createBody(operation, 'fresh')
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
