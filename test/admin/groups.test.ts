// Groups over REST.
import { expect, test } from 'vitest'
import { testServer } from '../support/server.ts'
import { testService } from '../support/service.ts'

const { call, create, createRealm } = await testServer()
const getId = (address: string) => address.split('/').at(-1)!

test('a group with a slash in its name is found by its path, with or without percent-encoding', async () => {
  const path = await createRealm()
  const outer = await create(`${path}/groups`, { name: 'a/b' })
  const inner = await create(`${outer}/children`, { name: 'c/d', description: 'Inner' })
  expect((await call('GET', inner)).body).toMatchObject({
    name: 'c/d',
    path: '/a/b/c/d',
    parentId: getId(outer),
    description: 'Inner',
  })
  for (const groupPath of ['a/b/c/d', 'a%2Fb/c%2Fd', '%2Fa%2Fb%2Fc%2Fd'])
    expect((await call('GET', `${path}/group-by-path/${groupPath}`)).body).toMatchObject({ id: getId(inner) })
  expect((await call('GET', `${path}/group-by-path/a~/b`)).status).toBe(404)
})

test('moving a group moves its subgroups, and moving it below itself returns 400', async () => {
  const path = await createRealm()
  const [fruit, nuts] = [
    await create(`${path}/groups`, { name: 'fruit' }),
    await create(`${path}/groups`, { name: 'nuts' }),
  ]
  const apple = await create(`${fruit}/children`, { name: 'apple' })
  expect((await call('POST', `${nuts}/children`, { body: { id: getId(fruit), name: 'any' } })).status).toBe(204)
  expect((await call('GET', apple)).body.path).toBe('/nuts/fruit/apple')
  expect(await call('POST', `${apple}/children`, { body: { id: getId(nuts), name: 'nuts' } })).toMatchObject({
    status: 400,
    body: { errorMessage: 'Group /nuts cannot be moved below itself' },
  })
})

test('a search ignores case, does not expand database wildcards, and adds ancestors after paging', async () => {
  const path = await createRealm()
  const top = await create(`${path}/groups`, { name: 'Straße_1' })
  for (const name of ['ÄPFEL', 'äpfel 2', 'a%b']) await create(`${top}/children`, { name })
  const searchNames = async (query: string) =>
    (await call('GET', `${path}/groups?${query}`)).body.flatMap(
      (group: { name: string; subGroups: { name: string }[] }) => [
        group.name,
        ...group.subGroups.map(({ name }) => name),
      ],
    )
  expect(await searchNames('search=%C3%A4PF')).toEqual(['Straße_1', 'ÄPFEL', 'äpfel 2'])
  expect(await searchNames('search=%C3%A4PF&first=1&max=1')).toEqual(['Straße_1', 'äpfel 2'])
  expect(await searchNames('search=%C3%A4PF&populateHierarchy=false')).toEqual(['ÄPFEL', 'äpfel 2'])
  expect(await searchNames('search=%25&populateHierarchy=false')).toEqual(['a%b'])
  expect(await searchNames('search=e_&populateHierarchy=false')).toEqual(['Straße_1'])
  expect((await call('GET', `${path}/groups/count?search=%C3%84`)).body).toEqual({ count: 2 })
})

test('in a search, * matches any text, and names of listed subgroups begin with the text', async () => {
  const groups = `${await createRealm()}/groups`
  const parent = await create(groups, { name: 'staff' })
  for (const name of ['sales', 'resale']) await create(`${parent}/children`, { name })
  const list = async (path: string) => (await call('GET', path)).body.map(({ name }: { name: string }) => name)
  expect(await list(`${groups}?search=s*l&populateHierarchy=false`)).toEqual(['resale', 'sales'])
  expect((await call('GET', `${groups}/count?search=S*`)).body).toEqual({ count: 3 })
  expect(await list(`${groups}?search=s*l&exact=true`)).toEqual([])
  expect(await list(`${parent}/children?search=SALE`)).toEqual(['sales'])
  expect(await list(`${parent}/children?search=*sale`)).toEqual(['resale', 'sales'])
})

test('exact lists the subgroups with exactly the name in search, and none without search', async () => {
  const groups = `${await createRealm()}/groups`
  const parent = await create(groups, { name: 'staff' })
  for (const name of ['a', 'ab']) await create(`${parent}/children`, { name })
  const list = async (query: string) =>
    (await call('GET', `${parent}/children?${query}`)).body.map(({ name }: { name: string }) => name)
  expect(await list('')).toEqual(['a', 'ab'])
  expect(await list('exact=false')).toEqual(['a', 'ab'])
  expect(await list('search=a')).toEqual(['a', 'ab'])
  expect(await list('search=a&exact=true')).toEqual(['a'])
  expect(await list('exact=true')).toEqual([])
})

test('subgroups, roles, the path and the parent in a body are ignored, and another id is refused', async () => {
  const path = await createRealm()
  const body = {
    name: 'crew',
    path: '/other',
    parentId: 'x',
    realmRoles: ['offline_access'],
    subGroups: [{ name: 'y' }],
  }
  const crew = await create(`${path}/groups`, body)
  await call('PUT', crew, { body: { ...body, name: 'team', attributes: { a: ['1'], b: [] } } })
  expect((await call('GET', crew)).body).toMatchObject({
    path: '/team',
    realmRoles: [],
    subGroupCount: 0,
    attributes: { a: ['1'] },
  })
  expect((await call('PUT', crew, { body: { id: 'other', name: 'team' } })).body).toEqual({
    errorMessage: 'Invalid group id',
  })
})

test('a search takes the same number of statements for any depth of the tree', async () => {
  const path = await createRealm()
  const { statements } = await testService()
  let parent = await create(`${path}/groups`, { name: 'g0' })
  const before = await statements(() => call('GET', `${path}/groups?search=g`))
  for (const name of ['g1', 'g2', 'g3']) parent = await create(`${parent}/children`, { name })
  expect((await statements(() => call('GET', `${path}/groups?search=g3`))).length).toBe(before.length)
})
