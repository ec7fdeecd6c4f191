// The last administrator: what would leave nobody who can administer every realm must be meant.
import { afterAll, beforeEach, expect, test } from 'vitest'
import { createServer } from '../../src/http/server.ts'
import { applySources, planSources } from '../../src/reconcile/run.ts'
import { bootstrap, hasAdministrator, resetAdminPassword } from '../../src/service/bootstrap.ts'
import { type Service, SYSTEM } from '../../src/service/service.ts'
import { source } from '../support/reconcile.ts'
import type { TestAnswer } from '../support/server.ts'
import { freshService } from '../support/service.ts'

// Master is locked: a store of its own for each test, whose server asks as Regent itself.
const open: Service[] = []
afterAll(() => Promise.all(open.map((service) => service.close())))

let service: Service
let statements: string[]
let call: (method: string, path: string, body?: unknown, headers?: object) => Promise<TestAnswer>
let admin: string
let role: { id: string; name: string }

beforeEach(async () => {
  statements = []
  service = await freshService({ onStatement: ({ sql }) => statements.push(sql) })
  open.push(service)
  await bootstrap(service, { user: 'admin', password: 'admin' })
  const app = await createServer(service, { caller: SYSTEM })
  call = async (method, path, body, headers = {}) => {
    const answer = await app.inject({
      method: method as 'GET',
      url: `/admin/realms/master/${path}`,
      headers: { ...headers, ...(body !== undefined && { 'content-type': 'application/json' }) },
      ...(body !== undefined && { payload: JSON.stringify(body) }),
    })
    return { status: answer.statusCode, body: answer.body && JSON.parse(answer.body), headers: answer.headers }
  }
  admin = `users/${(await call('GET', 'users?username=admin')).body[0].id}`
  role = (await call('GET', 'roles/admin')).body
})

const MEANT = { 'Regent-Allow-Lock-Out': 'true' }

/** The id of what was made. */
async function make(path: string, body: object): Promise<string> {
  expect((await call('POST', path, body)).status).toBe(201)
  const name = Object.values(body)[0]
  const found = (await call('GET', path)).body
  return found.find((one: Record<string, unknown>) => Object.values(one).includes(name)).id
}

const person = (username: string) => ({ username, enabled: true, credentials: [{ type: 'password', value: 'pw' }] })

test('no change of the last administrator, of their roles or their password locks everyone out unsaid', async () => {
  const password = (await call('GET', `${admin}/credentials`)).body[0].id
  const group = await make('groups', { name: 'bosses' })
  const inner = await make('roles', { name: 'inner' })
  const changes: [string, string, unknown?][] = [
    ['DELETE', admin],
    ['PUT', admin, { enabled: false }],
    ['DELETE', `${admin}/credentials/${password}`],
    ['DELETE', `${admin}/role-mappings/realm`, [role]],
    ['DELETE', `${admin}/role-mappings/realm`],
  ]
  for (const [method, path, body] of changes) {
    const answer = await call(method, path, body)
    expect([method, path, answer]).toMatchObject([
      method,
      path,
      {
        status: 400,
        body: { errorMessage: expect.stringMatching(/^This would lock everyone out: .*Regent-Allow-Lock-Out: true/) },
      },
    ])
  }
  expect(await hasAdministrator(service)).toBe(true)

  // By the way of a group and of a role inside: the last who holds them may not lose any part of that way.
  expect((await call('POST', `roles-by-id/${inner}/composites`, [role])).status).toBe(204)
  const above = (await call('GET', 'roles/inner')).body
  expect((await call('POST', `groups/${group}/role-mappings/realm`, [above])).status).toBe(204)
  expect((await call('PUT', `${admin}/groups/${group}`)).status).toBe(204)
  expect((await call('DELETE', `${admin}/role-mappings/realm`, [role])).status).toBe(204)
  const ways: [string, string, unknown?][] = [
    ['DELETE', `${admin}/groups/${group}`],
    ['DELETE', `groups/${group}`],
    ['DELETE', `groups/${group}/role-mappings/realm`, [above]],
    ['DELETE', `roles-by-id/${inner}/composites`, [role]],
    ['DELETE', `roles-by-id/${inner}`],
  ]
  for (const [method, path, body] of ways) expect([path, (await call(method, path, body)).status]).toEqual([path, 400])
  expect(await hasAdministrator(service)).toBe(true)
})

test('another administrator is enough, be it a person or the account of a client that is enabled', async () => {
  const other = await make('users', person('other'))
  expect((await call('DELETE', admin)).status).toBe(400)
  expect((await call('POST', `users/${other}/role-mappings/realm`, [role])).status).toBe(204)
  expect((await call('DELETE', admin)).status).toBe(204)

  const client = await make('clients', { clientId: 'robot', serviceAccountsEnabled: true })
  const account = (await call('GET', `clients/${client}/service-account-user`)).body.id
  expect((await call('POST', `users/${account}/role-mappings/realm`, [role])).status).toBe(204)
  expect((await call('DELETE', `users/${other}`)).status).toBe(204)
  expect((await call('PUT', `clients/${client}`, { enabled: false })).status).toBe(400)
  expect((await call('PUT', `clients/${client}`, { serviceAccountsEnabled: false })).status).toBe(400)
  expect((await call('DELETE', `clients/${client}`)).status).toBe(400)
  expect(await hasAdministrator(service)).toBe(true)
})

test('who means it says so, in a request or with a document, and admin-password lets somebody in again', async () => {
  const state = source([{ realm: 'master', users: [{ username: 'admin', enabled: false }] }])
  await expect(planSources(service, SYSTEM, [state])).rejects.toMatchObject({ code: 'lock_out' })
  await expect(applySources(service, SYSTEM, [state])).rejects.toMatchObject({ code: 'lock_out' })
  expect(await hasAdministrator(service)).toBe(true)
  await applySources(service, { ...SYSTEM, mayLockOut: true }, [state])
  expect(await hasAdministrator(service)).toBe(false)
  // Where nobody administers, there is nobody to lock out.
  expect((await call('PUT', admin, { lastName: 'Example', enabled: false })).status).toBe(204)
  await resetAdminPassword(service, 'admin', 'new')
  expect(await hasAdministrator(service)).toBe(true)
  expect((await call('DELETE', admin, undefined, MEANT)).status).toBe(204)
  expect(await hasAdministrator(service)).toBe(false)
})

test('only changes that can lock out ask, and they ask once', async () => {
  const asked = async (...args: Parameters<typeof call>) => {
    statements = []
    expect((await call(...args)).status).toBeLessThan(300)
    return statements.filter((sql) => sql.includes('belonging')).length
  }
  expect(await asked('PUT', admin, { firstName: 'Ann' })).toBe(0)
  expect(await asked('POST', 'groups', { name: 'staff' })).toBe(0)
  expect(await asked('POST', 'users', person('ann'))).toBe(0)
  const ann = (await call('GET', 'users?username=ann')).body[0].id
  expect(await asked('POST', `users/${ann}/role-mappings/realm`, [role])).toBe(1)
  expect(await asked('DELETE', `users/${ann}`)).toBe(1)
})
