// Users of a realm are created at the same time, but not with the same names, nor during a change of the configuration.
import { sql } from 'kysely'
import { expect, inject, test } from 'vitest'
import { SYSTEM } from '../../src/service/context/service.ts'
import { writers } from '../../src/service/kinds/index.ts'
import { testServer } from '../support/server.ts'
import { newRealm, testService } from '../support/service.ts'

const { call, create, createRealm } = await testServer()
const { service } = await testService()

/** Creates users at the same time, and returns the sorted statuses. */
async function createAll(path: string, users: readonly object[]): Promise<number[]> {
  const responses = await Promise.all(users.map((body) => call('POST', `${path}/users`, { body })))
  return responses.map(({ status }) => status).sort()
}

const repeat = <T>(count: number, value: T): T[] => Array.from({ length: count }, () => value)

test.runIf(inject('databaseUrl'))(
  'two users are created at the same time, and a change of the configuration waits',
  async () => {
    const realm = await newRealm(service)
    const order: string[] = []
    const createUser = (username: string, work = async () => {}) =>
      service.write(SYSTEM, { realm, newUserNames: [username] }, async (context) => {
        await writers.user.create(context, [{ representation: { username } }])
        await work()
        order.push(username)
      })
    const hasStarted = Promise.withResolvers<void>()
    const mayEnd = Promise.withResolvers<void>()
    const slow = createUser('slow', () => {
      hasStarted.resolve()
      return mayEnd.promise
    })
    await hasStarted.promise
    await createUser('quick')
    const role = service.write(SYSTEM, realm, async (context) => {
      order.push('role')
      await writers.role.create(context, [{ representation: { name: 'a role' } }])
    })
    await expect.poll(countWaiting).toBe(1)
    // It waits for the role, so that new users do not keep the role waiting for ever.
    const last = createUser('last')
    await expect.poll(countWaiting).toBe(2)
    mayEnd.resolve()
    await Promise.all([slow, role, last])
    expect(order).toEqual(['quick', 'slow', 'role', 'last'])
  },
)

test('of users who are created at the same time with the same user name or email address, one is created', async () => {
  const path = await createRealm()
  expect(await createAll(path, repeat(8, { username: 'ann' }))).toEqual([201, ...repeat(7, 409)])
  const sameEmail = Array.from({ length: 8 }, (_, at) => ({ username: `user-${at}`, email: 'Bob@example.org' }))
  expect(await createAll(path, sameEmail)).toEqual([201, ...repeat(7, 409)])
})

test('of two users who are created at the same time, none has the email address of the other as user name', async () => {
  const path = await createRealm()
  for (let round = 0; round < 10; round++) {
    const name = `Name-${round}@example.org`
    const users = [{ username: name }, { username: `other-${round}`, email: name.toLowerCase() }]
    expect(await createAll(path, users)).toEqual([201, 409])
  }
})

test('many users are created at the same time, each with the default role and group, in a realm that is changed meanwhile', async () => {
  const path = await createRealm()
  const group = (await create(`${path}/groups`, { name: 'staff' })).split('/').at(-1)
  await call('PUT', `${path}/default-groups/${group}`)
  const names = Array.from({ length: 30 }, (_, at) => `user-${at}`)
  const roles = names.slice(0, 10).map((name) => create(`${path}/roles`, { name }))
  expect(
    await createAll(
      path,
      names.map((username) => ({ username })),
    ),
  ).toEqual(repeat(30, 201))
  await Promise.all(roles)
  const { body: members } = await call('GET', `${path}/groups/${group}/members?max=100`)
  expect(members).toHaveLength(30)
  const { body: users } = await call('GET', `${path}/users?max=100`)
  for (const { id } of users) {
    const { body } = await call('GET', `${path}/users/${id}/role-mappings/realm`)
    expect(body).toHaveLength(1)
  }
})

test('a write that creates users only can write nothing else', async () => {
  const realm = await newRealm(service)
  const write = service.write(SYSTEM, { realm, newUserNames: [] }, (context) =>
    writers.role.create(context, [{ representation: { name: 'a role' } }]),
  )
  await expect(write).rejects.toThrow('The create of a role needs the exclusive lock of the realm.')
})

/** Returns the number of connections that wait for the lock of a realm. */
async function countWaiting(): Promise<number> {
  const [row] = await service.query(async (db) => {
    const { rows } = await sql<{ count: number }>`
      select count(*)::integer as count from pg_locks l join pg_database d on d.oid = l.database
      where l.locktype = 'advisory' and not l.granted and d.datname = current_database()`.execute(db)
    return rows
  })
  return row!.count
}
