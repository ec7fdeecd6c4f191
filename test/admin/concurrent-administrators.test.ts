// A property: concurrent random changes of the same users, groups and roles leave consistent relations.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isFullRun } from '../support/property-options.ts'
import { type TestResponse, testServer } from '../support/server.ts'

/** The number of requests of each administrator. A campaign makes more. */
const REQUESTS = Number(process.env.REGENT_TURNS ?? (isFullRun ? 4 : 1))
const ADMINISTRATORS = 64
/** Milliseconds. A campaign takes longer than other tests. */
const TIME_LIMIT = 3_600_000
/** The number of users, of groups and of roles. */
const OBJECTS = 8

const { call, create, createRealm } = await testServer()

/** The ids of the latest objects, by kind and index. A created object replaces the one at its index. */
type ObjectIds = Readonly<Record<'users' | 'groups' | 'roles', (string | undefined)[]>>
/** A change of the object at `index`. Some changes also refer to the object at `otherIndex`. */
type Change = (path: string, ids: ObjectIds, index: number, otherIndex: number) => Promise<TestResponse>

const toRole = (ids: ObjectIds, at: number) => ({ id: ids.roles[at] ?? 'none', name: `role-${at}` })
const post = (path: string, body: object) => call('POST', path, { body })
const put = (path: string, body: object) => call('PUT', path, { body })
const remove = (path: string, body?: object) => call('DELETE', path, body && { body })
const getId = ({ headers }: TestResponse) => String(headers.location).split('/').at(-1)!

/** Awaits the creation of an object, and stores its id. */
async function createObject(
  ids: ObjectIds,
  kind: keyof ObjectIds,
  at: number,
  request: Promise<TestResponse>,
): Promise<TestResponse> {
  const response = await request
  if (response.status === 201) ids[kind][at] = getId(response)
  return response
}

/** Several indexes share a name, so that groups of different parents have the same name. */
const toGroup = (at: number) => ({ name: `group-${at % 4}` })

const changes: Readonly<Record<string, Change>> = {
  'create a user': (path, ids, index) =>
    createObject(
      ids,
      'users',
      index,
      post(`${path}/users`, { username: `user-${index}`, email: `user-${index}@example.org` }),
    ),
  'change a username': (path, { users }, index, otherIndex) =>
    put(`${path}/users/${users[index]}`, { username: `user-${otherIndex}` }),
  'change an email': (path, { users }, index, otherIndex) =>
    put(`${path}/users/${users[index]}`, { email: `user-${otherIndex}@example.org` }),
  'delete a user': (path, { users }, index) => remove(`${path}/users/${users[index]}`),
  'add a user to a group': (path, { users, groups }, index, otherIndex) =>
    call('PUT', `${path}/users/${users[index]}/groups/${groups[otherIndex]}`),
  'remove a user from a group': (path, { users, groups }, index, otherIndex) =>
    remove(`${path}/users/${users[index]}/groups/${groups[otherIndex]}`),
  'add a role to a user': (path, ids, index, otherIndex) =>
    post(`${path}/users/${ids.users[index]}/role-mappings/realm`, [toRole(ids, otherIndex)]),
  'remove a role from a user': (path, ids, index, otherIndex) =>
    remove(`${path}/users/${ids.users[index]}/role-mappings/realm`, [toRole(ids, otherIndex)]),
  'create a group': (path, ids, index) => createObject(ids, 'groups', index, post(`${path}/groups`, toGroup(index))),
  'create a subgroup': async (path, ids, index, otherIndex) =>
    createObject(ids, 'groups', index, post(`${path}/groups/${ids.groups[otherIndex]}/children`, toGroup(index))),
  'make a group a subgroup': (path, { groups }, index, otherIndex) =>
    post(`${path}/groups/${groups[otherIndex]}/children`, { id: groups[index] ?? 'none', name: 'any' }),
  'make a group a top-level group': (path, { groups }, index) =>
    post(`${path}/groups`, { id: groups[index] ?? 'none', name: 'any' }),
  'rename a group': (path, { groups }, index, otherIndex) =>
    put(`${path}/groups/${groups[index]}`, toGroup(otherIndex)),
  'delete a group': (path, { groups }, index) => remove(`${path}/groups/${groups[index]}`),
  'add a role to a group': (path, ids, index, otherIndex) =>
    post(`${path}/groups/${ids.groups[index]}/role-mappings/realm`, [toRole(ids, otherIndex)]),
  'create a role': async (path, ids, index) => {
    const response = await post(`${path}/roles`, { name: `role-${index}` })
    if (response.status === 201) ids.roles[index] = (await call('GET', `${path}/roles/role-${index}`)).body.id
    return response
  },
  'rename a role': (path, { roles }, index, otherIndex) =>
    put(`${path}/roles-by-id/${roles[index]}`, { name: `role-${otherIndex}` }),
  'add a role to a composite role': (path, ids, index, otherIndex) =>
    post(`${path}/roles-by-id/${ids.roles[index]}/composites`, [toRole(ids, otherIndex)]),
  'delete a role': (path, { roles }, index) => remove(`${path}/roles-by-id/${roles[index]}`),
}

test(
  `${ADMINISTRATORS} administrators who change the same objects leave a consistent realm, and get no unexpected status`,
  async () => {
    const path = await createRealm({ editUsernameAllowed: true })
    const ids: ObjectIds = { users: [], groups: [], roles: [] }
    for (let at = 0; at < OBJECTS; at++) {
      await changes['create a user']!(path, ids, at, at)
      await changes['create a role']!(path, ids, at, at)
      await changes[at ? 'create a subgroup' : 'create a group']!(path, ids, at, at - 1)
    }
    // More creations than deletions: otherwise most changes would find no object.
    const weighted = Object.keys(changes).map((title) => ({
      arbitrary: fc.constant(title),
      weight: title.startsWith('create') ? 3 : 1,
    }))
    const position = fc.nat({ max: OBJECTS - 1 })
    const sample = fc.sample(fc.tuple(fc.oneof(...weighted), position, position), ADMINISTRATORS * REQUESTS)
    const outcomes = new Set<string>()
    const execute = async (requests: typeof sample) => {
      for (const [title, index, otherIndex] of requests) {
        const { status } = await changes[title]!(path, ids, index, otherIndex)
        outcomes.add(`${title}: ${status}`)
      }
    }
    await Promise.all(
      Array.from({ length: ADMINISTRATORS }, (_, at) => execute(sample.slice(at * REQUESTS, (at + 1) * REQUESTS))),
    )
    const unexpected = [...outcomes].filter((outcome) => !/: (201|204|400|404|409)$/.test(outcome))
    expect(unexpected).toEqual([])
    await expectConsistent(path)
  },
  TIME_LIMIT,
)

/** Expects that names are unique, and that operations that list the same relation from both sides agree. */
async function expectConsistent(path: string): Promise<void> {
  // biome-ignore lint/suspicious/noExplicitAny: objects of three kinds
  const list = async (address: string): Promise<any[]> => (await call('GET', `${path}/${address}`)).body
  const [users, roles, groups] = [await list('users?max=-1'), await list('roles'), await listGroups(path)]
  expectUnique(users.map(({ username }) => username))
  expectUnique(users.map(({ email }) => email).filter(Boolean))
  expectUnique(roles.map(({ name }) => name))
  expectUnique(groups.map((group) => group.id))
  expectUnique(groups.map((group) => group.path))
  expect(await list('users/count')).toBe(users.length)
  expect(await list('groups/count')).toEqual({ count: groups.length })
  for (const { id, path: groupPath } of groups) {
    expect((await call('GET', `${path}/groups/${id}`)).body.path).toBe(groupPath)
    expect((await call('GET', `${path}/group-by-path${groupPath}`)).body.id).toBe(id)
  }
  const listPairs = async (owners: { id: string }[], toAddress: (id: string) => string, isReversed = false) => {
    const relations = owners.map(async ({ id }) =>
      (await list(toAddress(id))).map((element) => (isReversed ? [element.id, id] : [id, element.id])),
    )
    return (await Promise.all(relations)).flat().map(String).sort()
  }
  const memberships = await listPairs(users, (id) => `users/${id}/groups?max=-1`)
  expect(await listPairs(groups, (id) => `groups/${id}/members?max=-1`, true)).toEqual(memberships)
  const rolesOfUsers = await listPairs(users, (id) => `users/${id}/role-mappings/realm`)
  const listRoleMappings = async (kind: string) => {
    const mappings = roles.map(async ({ id, name }) =>
      (await list(`roles/${name}/${kind}?max=-1`)).map((subject) => String([subject.id, id])),
    )
    return (await Promise.all(mappings)).flat().sort()
  }
  expect(await listRoleMappings('users')).toEqual(rolesOfUsers)
  expect(await listRoleMappings('groups')).toEqual(await listPairs(groups, (id) => `groups/${id}/role-mappings/realm`))
  const composites = await listPairs(roles, (id) => `roles-by-id/${id}/composites`)
  const roleIds = new Set(
    (await Promise.all((await list('clients')).map(({ id }) => list(`clients/${id}/roles`))))
      .flat()
      .map(({ id }) => id),
  )
  for (const { id } of roles) roleIds.add(id)
  expect(composites.map((pair) => pair.split(',')[1]!).filter((id) => !roleIds.has(id))).toEqual([])
}

/** Returns all groups by descending from the top level, and expects the parent and path of each. */
async function listGroups(
  path: string,
  parent?: { id: string; path: string },
): Promise<{ id: string; path: string }[]> {
  const { body } = await call('GET', parent ? `${path}/groups/${parent.id}/children?max=-1` : `${path}/groups?max=-1`)
  const groups = body as { id: string; name: string; path: string; parentId?: string }[]
  for (const group of groups) {
    expect(group.parentId).toBe(parent?.id)
    expect(group.path).toBe(`${parent?.path ?? ''}/${group.name}`)
  }
  return [...groups, ...(await Promise.all(groups.map((group) => listGroups(path, group)))).flat()]
}

function expectUnique(values: readonly string[]): void {
  expect(values.filter((value, at) => values.indexOf(value) !== at)).toEqual([])
}

test.runIf(isFullRun)('administrators who increment a counter with If-Match lose no increment', async () => {
  const path = await createRealm()
  const names = ['first', 'second']
  const creations = names.map(async (name) => {
    await create(`${path}/roles`, { name, description: '0' })
    const { id } = (await call('GET', `${path}/roles/${name}`)).body
    return [
      { address: await create(`${path}/users`, { username: name, firstName: '0' }), field: 'firstName' },
      { address: await create(`${path}/groups`, { name, description: '0' }), field: 'description' },
      { address: `${path}/roles-by-id/${id}`, field: 'description' },
    ]
  })
  const counters = (await Promise.all(creations)).flat()
  const increments = counters.map(() => 0)
  const increment = async (index: number): Promise<void> => {
    const { address, field } = counters[index]!
    for (;;) {
      const { body, headers } = await call('GET', address)
      const { status } = await call('PUT', address, {
        body: { ...body, [field]: String(Number(body[field]) + 1) },
        headers: { 'if-match': String(headers.etag) },
      })
      if (status === 204) increments[index]!++
      if (status !== 412) return expect(status).toBe(204)
    }
  }
  await Promise.all(Array.from({ length: ADMINISTRATORS }, (_, at) => increment(at % counters.length)))
  const values = counters.map(async ({ address, field }) => Number((await call('GET', address)).body[field]))
  expect(await Promise.all(values)).toEqual(increments)
  expect(increments.reduce((a, b) => a + b)).toBe(ADMINISTRATORS)
})
