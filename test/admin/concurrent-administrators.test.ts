// Many administrators who change the same users, groups and roles at once, at random.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isFullRun } from '../support/property-options.ts'
import { type TestResponse, testServer } from '../support/server.ts'

/** So often each of them does something; a campaign has more. */
const TURNS = Number(process.env.REGENT_TURNS ?? (isFullRun ? 4 : 1))
const ADMINISTRATORS = 64
/** A campaign takes its time. */
const TIME_LIMIT = 3_600_000
/** So many users, groups and roles they know of. */
const PLACES = 8

const { call, make, realm } = await testServer()

/** The objects that they know of, by kind and place in their list; who makes one there, forgets the one before. */
type Known = Readonly<Record<'users' | 'groups' | 'roles', (string | undefined)[]>>
/** An action of an administrator on the object with the first index; some also use the one with the second index. */
type Act = (path: string, ids: Known, index: number, other: number) => Promise<TestResponse>

const role = (ids: Known, at: number) => ({ id: ids.roles[at] ?? 'none', name: `role-${at}` })
const post = (path: string, body: object) => call('POST', path, { body })
const put = (path: string, body: object) => call('PUT', path, { body })
const remove = (path: string, body?: object) => call('DELETE', path, body && { body })
const idOf = ({ headers }: TestResponse) => String(headers.location).split('/').at(-1)!

async function creates(
  ids: Known,
  kind: keyof Known,
  at: number,
  request: Promise<TestResponse>,
): Promise<TestResponse> {
  const response = await request
  if (response.status === 201) ids[kind][at] = idOf(response)
  return response
}

/** Each group has its own index in the list of groups, but its name may repeat in another part of the tree. */
const groupName = (at: number) => ({ name: `group-${at % 4}` })

const acts: Readonly<Record<string, Act>> = {
  'make a user': (path, ids, index) =>
    creates(
      ids,
      'users',
      index,
      post(`${path}/users`, { username: `user-${index}`, email: `user-${index}@example.org` }),
    ),
  'call a user otherwise': (path, { users }, index, other) =>
    put(`${path}/users/${users[index]}`, { username: `user-${other}` }),
  'give a user the address of another': (path, { users }, index, other) =>
    put(`${path}/users/${users[index]}`, { email: `user-${other}@example.org` }),
  'delete a user': (path, { users }, index) => remove(`${path}/users/${users[index]}`),
  'let a user join': (path, { users, groups }, index, other) =>
    call('PUT', `${path}/users/${users[index]}/groups/${groups[other]}`),
  'let a user leave': (path, { users, groups }, index, other) =>
    remove(`${path}/users/${users[index]}/groups/${groups[other]}`),
  'give a user a role': (path, ids, index, other) =>
    post(`${path}/users/${ids.users[index]}/role-mappings/realm`, [role(ids, other)]),
  'take a role from a user': (path, ids, index, other) =>
    remove(`${path}/users/${ids.users[index]}/role-mappings/realm`, [role(ids, other)]),
  'make a group': (path, ids, index) => creates(ids, 'groups', index, post(`${path}/groups`, groupName(index))),
  'make a group in a group': async (path, ids, index, other) =>
    creates(ids, 'groups', index, post(`${path}/groups/${ids.groups[other]}/children`, groupName(index))),
  'move a group into a group': (path, { groups }, index, other) =>
    post(`${path}/groups/${groups[other]}/children`, { id: groups[index] ?? 'none', name: 'any' }),
  'move a group to the top': (path, { groups }, index) =>
    post(`${path}/groups`, { id: groups[index] ?? 'none', name: 'any' }),
  'call a group otherwise': (path, { groups }, index, other) =>
    put(`${path}/groups/${groups[index]}`, groupName(other)),
  'delete a group': (path, { groups }, index) => remove(`${path}/groups/${groups[index]}`),
  'give a group a role': (path, ids, index, other) =>
    post(`${path}/groups/${ids.groups[index]}/role-mappings/realm`, [role(ids, other)]),
  'make a role': async (path, ids, index) => {
    const response = await post(`${path}/roles`, { name: `role-${index}` })
    if (response.status === 201) ids.roles[index] = (await call('GET', `${path}/roles/role-${index}`)).body.id
    return response
  },
  'call a role otherwise': (path, { roles }, index, other) =>
    put(`${path}/roles-by-id/${roles[index]}`, { name: `role-${other}` }),
  'let a role contain another': (path, ids, index, other) =>
    post(`${path}/roles-by-id/${ids.roles[index]}/composites`, [role(ids, other)]),
  'delete a role': (path, { roles }, index) => remove(`${path}/roles-by-id/${roles[index]}`),
}

test(
  `${ADMINISTRATORS} administrators leave a consistent realm, and no request returns 500`,
  async () => {
    const path = await realm({ editUsernameAllowed: true })
    const ids: Known = { users: [], groups: [], roles: [] }
    for (let at = 0; at < PLACES; at++) {
      await acts['make a user']!(path, ids, at, at)
      await acts['make a role']!(path, ids, at, at)
      await acts[at ? 'make a group in a group' : 'make a group']!(path, ids, at, at - 1)
    }
    // What is deleted must be made again, or soon there is nothing left to do.
    const weighted = Object.keys(acts).map((act) => ({
      arbitrary: fc.constant(act),
      weight: act.startsWith('make') ? 3 : 1,
    }))
    const place = fc.nat({ max: PLACES - 1 })
    const turns = fc.sample(fc.tuple(fc.oneof(...weighted), place, place), ADMINISTRATORS * TURNS)
    const answers = new Map<string, number>()
    const work = async (actions: typeof turns) => {
      for (const [act, index, other] of actions) {
        const { status } = await acts[act]!(path, ids, index, other)
        answers.set(`${act}: ${status}`, (answers.get(`${act}: ${status}`) ?? 0) + 1)
      }
    }
    await Promise.all(
      Array.from({ length: ADMINISTRATORS }, (_, at) => work(turns.slice(at * TURNS, (at + 1) * TURNS))),
    )
    const odd = [...answers.keys()].filter((outcome) => !/: (201|204|400|404|409)$/.test(outcome))
    expect(odd).toEqual([])
    await expectWhole(path)
  },
  TIME_LIMIT,
)

/** Reads everything, and compares what the answers say of each other. */
async function expectWhole(path: string): Promise<void> {
  // biome-ignore lint/suspicious/noExplicitAny: objects of three kinds
  const list = async (way: string): Promise<any[]> => (await call('GET', `${path}/${way}`)).body
  const [users, roles, groups] = [await list('users?max=-1'), await list('roles'), await tree(path)]
  expectUnique(users.map(({ username }) => username))
  expectUnique(users.map(({ email }) => email).filter(Boolean))
  expectUnique(roles.map(({ name }) => name))
  expectUnique(groups.map((group) => group.id))
  expectUnique(groups.map((group) => group.path))
  expect(await list('users/count')).toBe(users.length)
  expect(await list('groups/count')).toEqual({ count: groups.length })
  for (const { id, path: way } of groups) {
    expect((await call('GET', `${path}/groups/${id}`)).body.path).toBe(way)
    expect((await call('GET', `${path}/group-by-path${way}`)).body.id).toBe(id)
  }
  const pairs = async (owners: { id: string }[], way: (id: string) => string, flipped = false) => {
    const relations = owners.map(async ({ id }) =>
      (await list(way(id))).map((element) => (flipped ? [element.id, id] : [id, element.id])),
    )
    return (await Promise.all(relations)).flat().map(String).sort()
  }
  const byUser = await pairs(users, (id) => `users/${id}/groups?max=-1`)
  expect(await pairs(groups, (id) => `groups/${id}/members?max=-1`, true)).toEqual(byUser)
  const rolesOfUsers = await pairs(users, (id) => `users/${id}/role-mappings/realm`)
  const roleIds = roles.map(({ id, name }) => ({ id: name, role: id }))
  const holders = async (kind: string) => {
    const holders = roleIds.map(async ({ id, role: roleName }) =>
      (await list(`roles/${id}/${kind}?max=-1`)).map((holder) => String([holder.id, roleName])),
    )
    return (await Promise.all(holders)).flat().sort()
  }
  expect(await holders('users')).toEqual(rolesOfUsers)
  expect(await holders('groups')).toEqual(await pairs(groups, (id) => `groups/${id}/role-mappings/realm`))
  const parts = await pairs(roles, (id) => `roles-by-id/${id}/composites`)
  const existing = new Set(
    (await Promise.all((await list('clients')).map(({ id }) => list(`clients/${id}/roles`))))
      .flat()
      .map(({ id }) => id),
  )
  for (const { id } of roles) existing.add(id)
  expect(parts.map((pair) => pair.split(',')[1]!).filter((id) => !existing.has(id))).toEqual([])
}

/** Every group that is reached from the top, each below what it says that it is below. */
async function tree(path: string, above?: { id: string; path: string }): Promise<{ id: string; path: string }[]> {
  const { body } = await call('GET', above ? `${path}/groups/${above.id}/children?max=-1` : `${path}/groups?max=-1`)
  const groups = body as { id: string; name: string; path: string; parentId?: string }[]
  for (const group of groups) {
    expect(group.parentId).toBe(above?.id)
    expect(group.path).toBe(`${above?.path ?? ''}/${group.name}`)
  }
  return [...groups, ...(await Promise.all(groups.map((group) => tree(path, group)))).flat()]
}

function expectUnique(values: readonly string[]): void {
  expect(values.filter((value, at) => values.indexOf(value) !== at)).toEqual([])
}

test.runIf(isFullRun)('administrators who increment a counter with If-Match lose no increment', async () => {
  const path = await realm()
  const names = ['first', 'second']
  const creations = names.map(async (name) => {
    await make(`${path}/roles`, { name, description: '0' })
    const { id } = (await call('GET', `${path}/roles/${name}`)).body
    return [
      { address: await make(`${path}/users`, { username: name, firstName: '0' }), field: 'firstName' },
      { address: await make(`${path}/groups`, { name, description: '0' }), field: 'description' },
      { address: `${path}/roles-by-id/${id}`, field: 'description' },
    ]
  })
  const counters = (await Promise.all(creations)).flat()
  const counted = counters.map(() => 0)
  const raise = async (index: number): Promise<void> => {
    const { address, field } = counters[index]!
    for (;;) {
      const { body, headers } = await call('GET', address)
      const { status } = await call('PUT', address, {
        body: { ...body, [field]: String(Number(body[field]) + 1) },
        headers: { 'if-match': String(headers.etag) },
      })
      if (status === 204) counted[index]!++
      if (status !== 412) return expect(status).toBe(204)
    }
  }
  await Promise.all(Array.from({ length: ADMINISTRATORS }, (_, at) => raise(at % counters.length)))
  const values = counters.map(async ({ address, field }) => Number((await call('GET', address)).body[field]))
  expect(await Promise.all(values)).toEqual(counted)
  expect(counted.reduce((a, b) => a + b)).toBe(ADMINISTRATORS)
})
