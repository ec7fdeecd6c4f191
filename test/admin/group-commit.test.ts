// Writes that wait for the lock of the same realm share a transaction.
import { expect, test } from 'vitest'
import { bigint, query, row, text } from '../../src/store/database/query.ts'
import { testServer } from '../support/server.ts'
import { testService } from '../support/service.ts'

/** Writes at a time. More than the largest group. */
const WRITES = 48

const { call, create, createRealm } = await testServer()
const { service } = await testService()

const journalRow = row({ number: bigint, key: text, transaction: text, user: text })

/** Returns the journal entries about created roles, in their order. */
function listRoleEntries(path: string) {
  const realm = path.split('/').at(-1)
  return service.query((tx) =>
    query(journalRow)`
      select j.number, j.key ->> -1 as key, j.xmin::text as transaction, coalesce(j.actor ->> 'user', '') as user
      from journal j join realm r on r.number = j.realm
      where r.name = ${realm} and j.kind = 'role' and j.operation = 'create' order by j.number`.all(tx),
  )
}

const createRoles = (path: string, names: readonly string[], token?: string) =>
  Promise.all(names.map((name) => call('POST', `${path}/roles`, { body: { name }, ...(token && { token }) })))
const names = (prefix: string) => Array.from({ length: WRITES }, (_, at) => `${prefix}-${at}`)

test('writes that wait together share transactions, and each has its own entry in the journal', async () => {
  const path = await createRealm()
  const responses = await createRoles(path, names('role'))
  expect(responses.map(({ status }) => status)).toEqual(Array(WRITES).fill(201))
  const entries = await listRoleEntries(path)
  expect(entries.map(({ key }) => key).sort()).toEqual(names('role').sort())
  expect(entries.map(({ number }) => number)).toEqual(entries.map((_, at) => entries[0]!.number + at))
  // PGlite has one connection, for which requests wait before they become writes.
  const transactions = new Set(entries.map(({ transaction }) => transaction)).size
  expect(transactions).toBeLessThan(service.engine === 'PGlite' ? WRITES + 1 : WRITES / 4)
})

test('of writes that share a transaction, only the failed ones get an error', async () => {
  const path = await createRealm()
  await create(`${path}/roles`, { name: 'role-7' })
  const all = [...names('role'), 'role-20', 'x'.repeat(300)]
  const responses = await createRoles(path, all)
  const failed = all.map((name, at) => [name, responses[at]!.status] as const).filter(([, status]) => status !== 201)
  expect(failed.map(([, status]) => status).sort()).toEqual([400, 409, 409])
  const entries = await listRoleEntries(path)
  expect(entries.map(({ key }) => key).sort()).toEqual(names('role').sort())
  expect(new Set(entries.map(({ number }) => number)).size).toBe(WRITES)
})

test('users whose names are the same are created once', async () => {
  const path = await createRealm()
  const users = [...names('user'), 'user-1', 'USER-2', 'other']
  const responses = await Promise.all(
    users.map((username) =>
      call('POST', `${path}/users`, {
        body: { username, email: username === 'other' ? 'user-3@example.org' : `${username}@example.org` },
      }),
    ),
  )
  expect(responses.filter(({ status }) => status === 409)).toHaveLength(3)
  expect((await call('GET', `${path}/users/count`)).body).toBe(WRITES)
})

test('a setting of the realm applies to the next write of the transaction', async () => {
  const path = await createRealm()
  const [updated, ...created] = await Promise.all([
    call('PUT', path, { body: { adminEventsEnabled: true } }),
    ...names('role').map((name) => call('POST', `${path}/roles`, { body: { name } })),
  ])
  expect([updated.status, ...created.map(({ status }) => status)]).toEqual([204, ...Array(WRITES).fill(201)])
  const [firstEntry] = await listRoleEntries(path)
  const events = (await call('GET', `${path}/admin-events?resourceTypes=REALM_ROLE&max=${2 * WRITES}`)).body
  const update = await service.query((tx) =>
    query(row({ number: bigint }))`
      select j.number from journal j join realm r on r.number = j.realm
      where r.name = ${path.split('/').at(-1)} and j.kind = 'realm' and j.operation = 'update'`.firstOrThrow(tx),
  )
  expect(events).toHaveLength(WRITES - Math.max(0, update.number - firstEntry!.number))
})

test('an administrator creates nothing after the write that takes the role, in the same transaction or later', async () => {
  const path = await createRealm()
  const realm = path.split('/').at(-1)
  const group = await create(`${path}/groups`, { name: 'administrators' })
  const [management] = (await call('GET', `${path}/clients?clientId=realm-management`)).body
  const role = (await call('GET', `${path}/clients/${management.id}/roles/realm-admin`)).body
  const mappings = `${group}/role-mappings/clients/${management.id}`
  const user = { username: 'ann', email: 'ann@example.org', firstName: 'Ann', lastName: 'Lee', enabled: true }
  await create(`${path}/users`, {
    ...{ ...user, groups: ['/administrators'] },
    credentials: [{ type: 'password', value: 'ann', temporary: false }],
  })
  for (let round = 0; round < 4; round++) {
    await call('POST', mappings, { body: [role] })
    const { access_token: token } = (
      await call('POST', `/realms/${realm}/protocol/openid-connect/token`, {
        body: 'grant_type=password&client_id=admin-cli&username=ann&password=ann',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        token: null,
      })
    ).body
    await createRoles(path, [`before-${round}`], token)
    const [first, , last] = await Promise.all([
      createRoles(path, names(`first-${round}`).slice(0, 8), token),
      call('DELETE', mappings, { body: [role] }),
      createRoles(path, names(`last-${round}`).slice(0, 8), token),
    ])
    const removal = await service.query((tx) =>
      query(row({ number: bigint }))`
        select max(j.number) as number from journal j join realm r on r.number = j.realm
        where r.name = ${realm} and j.kind = 'group' and j.operation = 'update'`.firstOrThrow(tx),
    )
    const created = (await listRoleEntries(path)).filter(({ user }) => user === 'ann')
    expect(created.filter(({ number }) => number > removal.number)).toEqual([])
    expect([...first, ...last].every(({ status }) => [201, 403].includes(status))).toBe(true)
    expect(created.at(0)).toBeDefined()
  }
})

test('each write that shares a transaction is a revision of its own', async () => {
  const path = await createRealm()
  await createRoles(path, names('role'))
  const revisions = (await call('GET', `/regent/v1/history/${path.split('/').at(-1)}?max=100`)).body
  // One more for the creation of the realm.
  expect(revisions).toHaveLength(WRITES + 1)
})
