// The erasure of users: nothing in the store contains their values, and what others did remains.
import { gunzipSync } from 'node:zlib'
import { beforeEach, expect, test } from 'vitest'
import { listDrift } from '../../src/reconcile/drift/drift.ts'
import { SYSTEM } from '../../src/service/context/service.ts'
import { enqueueMessages } from '../../src/service/messages/outbox.ts'
import { bootstrap } from '../../src/service/operations/bootstrap.ts'
import { eraseUser } from '../../src/service/operations/erase-user.ts'
import { dumpRows } from '../support/database-rows.ts'
import { deleteObject, getLiveObject, updateObject } from '../support/live-objects.ts'
import { createPlanClient } from '../support/plan-client.ts'
import { testServer } from '../support/server.ts'
import { newName, openNewService, testService } from '../support/service.ts'
import { ANN } from '../support/sources.ts'

const { service } = await testService()
const server = await testServer()
const { call } = server

/** The name of the user, which no other test has in its rows. */
let name: string
let realm: string
let regent: ReturnType<typeof createPlanClient>

beforeEach(() => {
  // Characters that have a meaning in expressions.
  name = `canary.o+${newName()}`
  realm = newName()
  regent = createPlanClient(server, `source-of-${realm}`)
})

const events = { adminEventsEnabled: true, adminEventsDetailsEnabled: true, eventsEnabled: true }
const personalFields = () => ({
  username: name,
  email: `${name}@canary.example`,
  firstName: `First ${name}`,
  lastName: `Last-${name}`,
  attributes: { phone: [`+49 ${name}`] },
})
const policy = (users: string[]) => ({
  name: 'friends',
  type: 'user',
  logic: 'POSITIVE',
  config: { users: JSON.stringify(users) },
})
const client = (users: string[], resources: object[]) => ({
  clientId: 'shop',
  serviceAccountsEnabled: true,
  authorizationServicesEnabled: true,
  authorizationSettings: { policies: [policy(users)], resources },
})
const document = (more: object = {}) => ({
  realm,
  enabled: true,
  ...events,
  displayName: 'One',
  clients: [client(['zoe'], [])],
  users: [{ username: 'zoe', enabled: true, firstName: 'Zoe' }],
  ...more,
})
const withUser = () =>
  document({
    clients: [client(['zoe', name], [{ name: 'album', owner: { name } }])],
    users: [
      { username: 'zoe', enabled: true, firstName: 'Zoe' },
      { enabled: true, ...personalFields(), credentials: [{ type: 'password', value: 'pw' }] },
    ],
  })

const erase = (user: string, of = realm) => call('POST', `/regent/v1/erase/${of}`, { body: { user } })
const logIn = (of: string, username: string, password: string) =>
  call('POST', `/realms/${of}/protocol/openid-connect/token`, {
    token: null,
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({ grant_type: 'password', client_id: 'admin-cli', username, password }).toString(),
  })
/** Returns the content of a backup of the whole store. */
async function readWholeBackup(): Promise<string> {
  const response = await server.app.inject({
    url: '/regent/v1/backup',
    headers: { authorization: `Bearer ${await server.adminToken()}` },
  })
  expect(response.statusCode).toBe(200)
  return gunzipSync(response.rawPayload).toString()
}
const findRows = async (text: string) =>
  Object.entries(await dumpRows(service)).flatMap(([table, rows]) =>
    rows.filter((row) => row.toLowerCase().includes(text.toLowerCase())).map((row) => `${table}: ${row}`),
  )

/** Leaves values of the user in the journal, events, outbox and saved plans. */
async function actAsUser(): Promise<void> {
  const { id } = await getLiveObject(service, SYSTEM, realm, 'user', name)
  expect((await logIn(realm, name, 'pw')).status).toBe(200)
  expect((await logIn(realm, `${name}@canary.example`, 'wrong')).body.error).toBe('invalid_grant')
  const user = `/admin/realms/${realm}/users/${id}`
  expect((await call('PUT', user, { body: { firstName: `Other ${name}` } })).status).toBe(204)
  await service.write(SYSTEM, realm, (context) =>
    enqueueMessages(context, { kind: 'notice', url: 'http://127.0.0.1:1/', form: { email: `${name}@canary.example` } }),
  )
}

test('a user whom a source declares, or refers to, is refused with file and line, and nothing changes', async () => {
  await regent.apply(withUser())
  const before = await dumpRows(service, realm)
  const { status, body } = await erase(name)
  expect(status).toBe(409)
  expect(await dumpRows(service, realm)).toEqual(before)
  expect(body.errorMessage).toContain(`declares the user ${name} at source-of-${realm}.yaml:26`)
  expect(body.errorMessage).toMatch(/refers to the user in .*authorization policy.* at \S+\.yaml:\d+/)
  await deleteObject(service, ANN, realm, 'user', name)
  expect((await erase(name)).status).toBe(409)
})

test('after the erasure of a user who was declared, the store contains none of their values, and history, drift and rollback of others work', async () => {
  await regent.apply(withUser())
  await actAsUser()
  const { body: revisions } = await call('GET', `/regent/v1/history/${realm}`)
  await regent.save({ ...withUser(), displayName: 'Pending' })
  const { saved } = await regent.save({ ...withUser(), displayName: 'Two' })
  expect((await regent.applySaved(saved!.id)).status).toBe(200)
  await regent.apply(document())
  expect((await findRows(name)).length).toBeGreaterThan(10)
  expect(await readWholeBackup()).toContain(name)
  const { status, body } = await erase(name)
  expect(body, JSON.stringify(body)).toMatchObject({ deleted: false, messages: 1, plans: 2 })
  expect(status).toBe(200)
  expect(await findRows(name)).toEqual([])
  const backup = await readWholeBackup()
  expect(backup).toContain(realm)
  expect(backup.toLowerCase()).not.toContain(name.toLowerCase())
  await updateObject(service, ANN, realm, 'user', ['zoe'], { firstName: 'Drifted' })
  expect(await listDrift(service, SYSTEM, realm)).toMatchObject([{ key: ['zoe'], live: 'Drifted' }])
  expect((await call('GET', `/regent/v1/history/${realm}`)).body.length).toBeGreaterThan(revisions.length)
  const rollback = { revision: revisions[0].number }
  const rolledBack = await call('POST', `/regent/v1/rollback/${realm}`, { body: rollback })
  expect(rolledBack.status, JSON.stringify(rolledBack.body)).toBe(200)
  expect(rolledBack.body.plan.notes.map(({ message }: { message: string }) => message)).toContain(
    'authorization resource album of client shop belonged to an erased user and is not restored.',
  )
  expect((await call('GET', `/regent/v1/plans/${saved!.id}`)).body.state).toBe('applied')
})

test('after the erasure of a live administrator, the store contains none of their values, and their changes remain', async () => {
  await regent.apply(document())
  const { firstName, lastName, email, username } = personalFields()
  const body = { username, email, firstName, lastName, enabled: true, emailVerified: true }
  const user = await server.create('/admin/realms/master/users', {
    ...body,
    credentials: [{ type: 'password', value: 'pw' }],
  })
  const [admin] = (await call('GET', '/admin/realms/master/roles?search=admin')).body.filter(
    (role: { name: string }) => role.name === 'admin',
  )
  expect((await call('POST', `${user}/role-mappings/realm`, { body: [admin] })).status).toBe(204)
  const { access_token: token } = (await logIn('master', username, 'pw')).body
  expect((await call('PUT', `/admin/realms/${realm}`, { token, body: { displayName: 'By hand' } })).status).toBe(204)
  const changes = await call('GET', `/regent/v1/history/${realm}?max=1`)
  expect(changes.body).toMatchObject([{ actor: { user: username } }])
  expect((await erase(username, 'master')).body).toMatchObject({ deleted: true })
  expect(await findRows(name)).toEqual([])
  const [latest] = (await call('GET', `/regent/v1/history/${realm}?max=1`)).body
  expect(latest).toMatchObject({ number: changes.body[0].number, actor: { kind: 'administrator', user: '(erased)' } })
  expect(latest.actor).not.toHaveProperty('address')
  expect(await listDrift(service, SYSTEM, realm)).toMatchObject([{ path: 'displayName', by: { name: '(erased)' } }])
  expect((await call('GET', user)).status).toBe(404)
})

test('earlier names are erased too, and the values of another user with a similar name remain', async () => {
  await regent.apply(document({ editUsernameAllowed: true }))
  const base = `/admin/realms/${realm}/users`
  const similar = await server.create(base, { username: `${name}-2`, email: `2${name}@canary.example`, enabled: true })
  const user = await server.create(base, { ...personalFields(), enabled: true })
  const renamed = { username: 'renamed', email: 'renamed@canary.example' }
  expect((await call('PUT', user, { body: renamed })).status).toBe(204)
  expect((await call('DELETE', user)).status).toBe(204)
  const id = user.split('/').at(-1)!
  expect((await erase('renamed')).body).toMatchObject({ users: [id], deleted: false })
  const remaining = (await findRows(name)).filter((row) => !row.includes(similar.split('/').at(-1)!))
  expect(remaining).toEqual([])
  expect((await findRows('renamed@')).filter((row) => !row.startsWith('admin_event'))).toEqual([])
  expect((await call('GET', similar)).body).toMatchObject({ username: `${name}-2` })
  const adminEvents = await call('GET', `/admin/realms/${realm}/admin-events?resourceTypes=USER`)
  const representations = adminEvents.body.flatMap(({ representation }: { representation?: string }) =>
    representation === undefined ? [] : [JSON.parse(representation).username],
  )
  expect(representations.sort()).toEqual([`${name}-2`, 'zoe'])
  expect((await erase(id)).body).toMatchObject({ users: [id], journalEntries: 0 })
  expect((await erase(newName())).status).toBe(404)
})

test('the last administrator is not erased', async () => {
  // In the store of the other tests, there may be other administrators.
  const separateService = await openNewService()
  await bootstrap(separateService, { user: 'admin', password: 'admin' })
  const before = await dumpRows(separateService)
  await expect(
    separateService.write(SYSTEM, { realm: 'master' }, (context) => eraseUser(context, 'admin')),
  ).rejects.toThrow('This would lock everyone out')
  expect(await dumpRows(separateService)).toEqual(before)
  await separateService.close()
})
