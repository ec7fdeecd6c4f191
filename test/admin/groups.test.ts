// Groups over REST: a tree by names, which is stored as paths.
import { expect, test } from 'vitest'
import { testServer } from '../support/server.ts'
import { testService } from '../support/service.ts'

const { call, make, realm } = await testServer()
const idOf = (address: string) => address.split('/').at(-1)!

test('a group with a slash in its name is found by a path with that slash', async () => {
  const path = await realm()
  const outer = await make(`${path}/groups`, { name: 'a/b' })
  const inner = await make(`${outer}/children`, { name: 'c/d' })
  expect((await call('GET', inner)).body).toMatchObject({ name: 'c/d', path: '/a/b/c/d', parentId: idOf(outer) })
  for (const way of ['a/b/c/d', 'a%2Fb/c%2Fd'])
    expect((await call('GET', `${path}/group-by-path/${way}`)).body).toMatchObject({ id: idOf(inner) })
  expect((await call('GET', `${path}/group-by-path/a~/b`)).status).toBe(404)
})

test('moving a group moves its subgroups, and a group cannot be moved into itself or below', async () => {
  const path = await realm()
  const [fruit, nuts] = [
    await make(`${path}/groups`, { name: 'fruit' }),
    await make(`${path}/groups`, { name: 'nuts' }),
  ]
  const apple = await make(`${fruit}/children`, { name: 'apple' })
  expect((await call('POST', `${nuts}/children`, { body: { id: idOf(fruit), name: 'any' } })).status).toBe(204)
  expect((await call('GET', apple)).body.path).toBe('/nuts/fruit/apple')
  expect(await call('POST', `${apple}/children`, { body: { id: idOf(nuts), name: 'nuts' } })).toMatchObject({
    status: 400,
    body: { errorMessage: 'Group /nuts cannot be moved below itself' },
  })
})

test('a search ignores case, does not expand wildcards, and adds ancestors after paging', async () => {
  const path = await realm()
  const top = await make(`${path}/groups`, { name: 'Straße_1' })
  for (const name of ['ÄPFEL', 'äpfel 2', 'a%b']) await make(`${top}/children`, { name })
  const names = async (query: string) =>
    (await call('GET', `${path}/groups?${query}`)).body.flatMap(
      (group: { name: string; subGroups: { name: string }[] }) => [
        group.name,
        ...group.subGroups.map(({ name }) => name),
      ],
    )
  expect(await names('search=%C3%A4PF')).toEqual(['Straße_1', 'ÄPFEL', 'äpfel 2'])
  expect(await names('search=%C3%A4PF&first=1&max=1')).toEqual(['Straße_1', 'äpfel 2'])
  expect(await names('search=%C3%A4PF&populateHierarchy=false')).toEqual(['ÄPFEL', 'äpfel 2'])
  expect(await names('search=%25&populateHierarchy=false')).toEqual(['a%b'])
  expect(await names('search=e_&populateHierarchy=false')).toEqual(['Straße_1'])
  expect((await call('GET', `${path}/groups/count?search=%C3%84`)).body).toEqual({ count: 2 })
})

test('subgroups, roles, ids and paths in a body are ignored', async () => {
  const path = await realm()
  const body = {
    name: 'crew',
    path: '/other',
    parentId: 'x',
    realmRoles: ['offline_access'],
    subGroups: [{ name: 'y' }],
  }
  const crew = await make(`${path}/groups`, body)
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

test('a search takes as many statements as a list, for any depth of the tree', async () => {
  const path = await realm()
  const { statements } = await testService()
  let last = await make(`${path}/groups`, { name: 'g0' })
  const before = await statements(() => call('GET', `${path}/groups?search=g`))
  for (const name of ['g1', 'g2', 'g3']) last = await make(`${last}/children`, { name })
  expect((await statements(() => call('GET', `${path}/groups?search=g3`))).length).toBe(before.length)
})
