// Nobody gains administrative power beyond their own: by a role inside of another one, a group, a password, or in the place of another.
import { expect, test } from 'vitest'
import { hashPassword } from '../../src/service/passwords.ts'
import { SYSTEM } from '../../src/service/service.ts'
import { users } from '../../src/service/users.ts'
import { testServer } from '../support/server.ts'
import { testService } from '../support/service.ts'

const { call, make, realm } = await testServer()
const { service } = await testService()

test('who manages users does not come by the power of a realm administrator', async () => {
  const path = await realm()
  const name = path.split('/').at(-1)!
  const power = { client: { 'realm-management': ['realm-admin'] } }
  await make(`${path}/roles`, { name: 'powerful', composites: power })
  const bosses = (await make(`${path}/groups`, { name: 'bosses' })).split('/').at(-1)!
  const powerful = (await call('GET', `${path}/roles/powerful`)).body
  await call('POST', `${path}/groups/${bosses}/role-mappings/realm`, { body: [powerful] })
  const credentials = [await hashPassword('pw')]
  const person = (username: string, role: string) => ({
    representation: {
      username,
      enabled: true,
      email: `${username}@example.org`,
      firstName: 'A',
      lastName: 'B',
      credentials,
      clientRoles: { 'realm-management': role.split(' ') },
    },
  })
  const made = await service.write(SYSTEM, name, (context) =>
    users.create(context, [person('manager', 'manage-users impersonation'), person('boss', 'realm-admin')]),
  )
  const [manager, boss] = made.map(({ id }) => id)
  const answer = await call('POST', `/realms/${name}/protocol/openid-connect/token`, {
    token: null,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: 'grant_type=password&client_id=admin-cli&username=manager&password=pw',
  })
  const as = async (method: string, address: string, body?: unknown) =>
    (await call(method, `${path}/${address}`, { token: answer.body.access_token, body })).status
  expect(await as('POST', `users/${manager}/role-mappings/realm`, [powerful])).toBe(403)
  expect(await as('PUT', `users/${manager}/groups/${bosses}`)).toBe(403)
  expect(await as('POST', 'users', { username: 'new', groups: ['/bosses'] })).toBe(403)
  expect(await as('PUT', `users/${boss}/reset-password`, { type: 'password', value: 'new' })).toBe(403)
  expect(await as('PUT', `users/${boss}`, { email: 'mine@example.org' })).toBe(403)
  expect(await as('POST', `users/${boss}/impersonation`)).toBe(403)
  expect(await as('PUT', `users/${manager}/reset-password`, { type: 'password', value: 'new' })).toBe(204)
  expect(await as('POST', 'users', { username: 'new' })).toBe(201)
})
