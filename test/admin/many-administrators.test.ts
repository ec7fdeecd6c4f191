// Many administrators at once, who do with the same users, groups and roles whatever comes to their minds.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isFullRun } from '../support/campaign.ts'
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
/** What somebody does: to which object, and with which other one. */
type Act = (path: string, known: Known, one: number, other: number) => Promise<TestResponse>

const role = (known: Known, at: number) => ({ id: known.roles[at] ?? 'none', name: `role-${at}` })
const post = (path: string, body: object) => call('POST', path, { body })
const put = (path: string, body: object) => call('PUT', path, { body })
const remove = (path: string, body?: object) => call('DELETE', path, body && { body })
const idOf = ({ headers }: TestResponse) => String(headers.location).split('/').at(-1)!

async function creates(known: Known, kind: keyof Known, at: number, made: Promise<TestResponse>): Promise<TestResponse> {
  const answer = await made
  if (answer.status === 201) known[kind][at] = idOf(answer)
  return answer
}

/** Each group is in the list of groups at a place of its own, but its name may be that of others elsewhere in the tree. */
const groupName = (at: number) => ({ name: `group-${at % 4}` })

const acts: Readonly<Record<string, Act>> = {
  'make a user': (path, known, one) =>
    creates(known, 'users', one, post(`${path}/users`, { username: `user-${one}`, email: `user-${one}@example.org` })),
  'call a user otherwise': (path, { users }, one, other) =>
    put(`${path}/users/${users[one]}`, { username: `user-${other}` }),
  'give a user the address of another': (path, { users }, one, other) =>
    put(`${path}/users/${users[one]}`, { email: `user-${other}@example.org` }),
  'delete a user': (path, { users }, one) => remove(`${path}/users/${users[one]}`),
  'let a user join': (path, { users, groups }, one, other) =>
    call('PUT', `${path}/users/${users[one]}/groups/${groups[other]}`),
  'let a user leave': (path, { users, groups }, one, other) =>
    remove(`${path}/users/${users[one]}/groups/${groups[other]}`),
  'give a user a role': (path, known, one, other) =>
    post(`${path}/users/${known.users[one]}/role-mappings/realm`, [role(known, other)]),
  'take a role from a user': (path, known, one, other) =>
    remove(`${path}/users/${known.users[one]}/role-mappings/realm`, [role(known, other)]),
  'make a group': (path, known, one) => creates(known, 'groups', one, post(`${path}/groups`, groupName(one))),
  'make a group in a group': async (path, known, one, other) =>
    creates(known, 'groups', one, post(`${path}/groups/${known.groups[other]}/children`, groupName(one))),
  'move a group into a group': (path, { groups }, one, other) =>
    post(`${path}/groups/${groups[other]}/children`, { id: groups[one] ?? 'none', name: 'any' }),
  'move a group to the top': (path, { groups }, one) =>
    post(`${path}/groups`, { id: groups[one] ?? 'none', name: 'any' }),
  'call a group otherwise': (path, { groups }, one, other) => put(`${path}/groups/${groups[one]}`, groupName(other)),
  'delete a group': (path, { groups }, one) => remove(`${path}/groups/${groups[one]}`),
  'give a group a role': (path, known, one, other) =>
    post(`${path}/groups/${known.groups[one]}/role-mappings/realm`, [role(known, other)]),
  'make a role': async (path, known, one) => {
    const answer = await post(`${path}/roles`, { name: `role-${one}` })
    if (answer.status === 201) known.roles[one] = (await call('GET', `${path}/roles/role-${one}`)).body.id
    return answer
  },
  'call a role otherwise': (path, { roles }, one, other) =>
    put(`${path}/roles-by-id/${roles[one]}`, { name: `role-${other}` }),
  'let a role contain another': (path, known, one, other) =>
    post(`${path}/roles-by-id/${known.roles[one]}/composites`, [role(known, other)]),
  'delete a role': (path, { roles }, one) => remove(`${path}/roles-by-id/${roles[one]}`),
}

test(
  `${ADMINISTRATORS} administrators leave a whole realm behind, and nobody gets an error`,
  async () => {
    const path = await realm({ editUsernameAllowed: true })
    const known: Known = { users: [], groups: [], roles: [] }
    for (let at = 0; at < PLACES; at++) {
      await acts['make a user']!(path, known, at, at)
      await acts['make a role']!(path, known, at, at)
      await acts[at ? 'make a group in a group' : 'make a group']!(path, known, at, at - 1)
    }
    // What is deleted must be made again, or soon there is nothing left to do.
    const weighted = Object.keys(acts).map((act) => ({
      arbitrary: fc.constant(act),
      weight: act.startsWith('make') ? 3 : 1,
    }))
    const place = fc.nat({ max: PLACES - 1 })
    const turns = fc.sample(fc.tuple(fc.oneof(...weighted), place, place), ADMINISTRATORS * TURNS)
    const answers = new Map<string, number>()
    const work = async (own: typeof turns) => {
      for (const [act, one, other] of own) {
        const { status } = await acts[act]!(path, known, one, other)
        answers.set(`${act}: ${status}`, (answers.get(`${act}: ${status}`) ?? 0) + 1)
      }
    }
    await Promise.all(
      Array.from({ length: ADMINISTRATORS }, (_, at) => work(turns.slice(at * TURNS, (at + 1) * TURNS))),
    )
    const odd = [...answers.keys()].filter((one) => !/: (201|204|400|404|409)$/.test(one))
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
    const found = owners.map(async ({ id }) =>
      (await list(way(id))).map((one) => (flipped ? [one.id, id] : [id, one.id])),
    )
    return (await Promise.all(found)).flat().map(String).sort()
  }
  const byUser = await pairs(users, (id) => `users/${id}/groups?max=-1`)
  expect(await pairs(groups, (id) => `groups/${id}/members?max=-1`, true)).toEqual(byUser)
  const rolesOfUsers = await pairs(users, (id) => `users/${id}/role-mappings/realm`)
  const named = roles.map(({ id, name }) => ({ id: name, role: id }))
  const holders = async (kind: string) => {
    const found = named.map(async ({ id, role: own }) =>
      (await list(`roles/${id}/${kind}?max=-1`)).map((one) => String([one.id, own])),
    )
    return (await Promise.all(found)).flat().sort()
  }
  expect(await holders('users')).toEqual(rolesOfUsers)
  expect(await holders('groups')).toEqual(await pairs(groups, (id) => `groups/${id}/role-mappings/realm`))
  const parts = await pairs(roles, (id) => `roles-by-id/${id}/composites`)
  const there = new Set(
    (await Promise.all((await list('clients')).map(({ id }) => list(`clients/${id}/roles`))))
      .flat()
      .map(({ id }) => id),
  )
  for (const { id } of roles) there.add(id)
  expect(parts.map((pair) => pair.split(',')[1]!).filter((id) => !there.has(id))).toEqual([])
}

/** Every group that is reached from the top, each below what it says that it is below. */
async function tree(path: string, above?: { id: string; path: string }): Promise<{ id: string; path: string }[]> {
  const { body } = await call('GET', above ? `${path}/groups/${above.id}/children?max=-1` : `${path}/groups?max=-1`)
  const found = body as { id: string; name: string; path: string; parentId?: string }[]
  for (const group of found) {
    expect(group.parentId).toBe(above?.id)
    expect(group.path).toBe(`${above?.path ?? ''}/${group.name}`)
  }
  return [...found, ...(await Promise.all(found.map((group) => tree(path, group)))).flat()]
}

function expectUnique(values: readonly string[]): void {
  expect(values.filter((one, at) => values.indexOf(one) !== at)).toEqual([])
}

test.runIf(isFullRun)(
  'of administrators who count on from what they have read, none takes back what another has counted',
  async () => {
    const path = await realm()
    const names = ['first', 'second']
    const made = names.map(async (name) => {
      await make(`${path}/roles`, { name, description: '0' })
      const { id } = (await call('GET', `${path}/roles/${name}`)).body
      return [
        { address: await make(`${path}/users`, { username: name, firstName: '0' }), field: 'firstName' },
        { address: await make(`${path}/groups`, { name, description: '0' }), field: 'description' },
        { address: `${path}/roles-by-id/${id}`, field: 'description' },
      ]
    })
    const counters = (await Promise.all(made)).flat()
    const counted = counters.map(() => 0)
    const raise = async (which: number): Promise<void> => {
      const { address, field } = counters[which]!
      for (;;) {
        const { body, headers } = await call('GET', address)
        const { status } = await call('PUT', address, {
          body: { ...body, [field]: String(Number(body[field]) + 1) },
          headers: { 'if-match': String(headers.etag) },
        })
        if (status === 204) counted[which]!++
        if (status !== 412) return expect(status).toBe(204)
      }
    }
    await Promise.all(Array.from({ length: ADMINISTRATORS }, (_, at) => raise(at % counters.length)))
    const shown = counters.map(async ({ address, field }) => Number((await call('GET', address)).body[field]))
    expect(await Promise.all(shown)).toEqual(counted)
    expect(counted.reduce((a, b) => a + b)).toBe(ADMINISTRATORS)
  },
)
