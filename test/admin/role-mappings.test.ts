// Roles of users and groups over REST, and what roles contain.
import { expect, test } from 'vitest'
import { testServer } from '../support/server.ts'
import { testService } from '../support/service.ts'

const { call, make, realm } = await testServer()
const idOf = (address: string) => address.split('/').at(-1)!
const names = (answer: { body: { name: string }[] }) => answer.body.map(({ name }) => name)

async function makeRole(path: string, name: string): Promise<{ id: string; name: string }> {
  return (await call('GET', await make(`${path}/roles`, { name }))).body
}

test('a user has in effect what the groups above theirs have, and what these roles contain', async () => {
  const path = await realm()
  const shop = await make(`${path}/clients`, { clientId: 'shop' })
  const [boss, worker, seller] = [
    await makeRole(path, 'boss'),
    await makeRole(path, 'worker'),
    await makeRole(shop, 'seller'),
  ]
  await call('POST', `${path}/roles/boss/composites`, { body: [worker, seller] })
  const crew = await make(`${path}/groups`, { name: 'crew' })
  const night = await make(`${crew}/children`, { name: 'night' })
  const ann = await make(`${path}/users`, { username: 'ann', groups: ['/crew/night'] })
  await call('POST', `${crew}/role-mappings/realm`, { body: [boss] })
  for (const subject of [ann, night]) {
    expect(names(await call('GET', `${subject}/role-mappings/realm/composite`))).toEqual(
      expect.arrayContaining(['boss', 'worker']),
    )
    expect(names(await call('GET', `${subject}/role-mappings/clients/${idOf(shop)}/composite`))).toEqual(['seller'])
    expect((await call('GET', `${subject}/role-mappings/clients/${idOf(shop)}`)).body).toEqual([])
  }
})

test('roles are mapped by id, all or none, and only where they belong', async () => {
  const path = await realm()
  const shop = await make(`${path}/clients`, { clientId: 'shop' })
  const [boss, seller] = [await makeRole(path, 'boss'), await makeRole(shop, 'seller')]
  const ann = await make(`${path}/users`, { username: 'ann' })
  const mapped = `${ann}/role-mappings/realm`
  for (const wrong of [[boss, { id: 'nowhere', name: 'boss' }], [boss, seller], [{ name: 'boss' }]])
    expect((await call('POST', mapped, { body: wrong })).body).toEqual({ error: 'Role not found' })
  expect(names(await call('GET', mapped))).not.toContain('boss')
  await call('POST', mapped, { body: [boss, boss] })
  expect(names(await call('GET', mapped))).toContain('boss')
  expect(names(await call('GET', `${mapped}/available`))).not.toContain('boss')
  expect((await call('DELETE', mapped)).status).toBe(204)
  expect((await call('GET', `${ann}/role-mappings`)).body).toEqual({})
})

test('a client role lists what it contains of another client', async () => {
  const path = await realm()
  const [shop, store] = [
    await make(`${path}/clients`, { clientId: 'shop' }),
    await make(`${path}/clients`, { clientId: 'store' }),
  ]
  const keeper = await makeRole(store, 'keeper')
  await makeRole(shop, 'seller')
  await call('POST', `${shop}/roles/seller/composites`, { body: [{ id: keeper.id }] })
  expect(names(await call('GET', `${shop}/roles/seller/composites/clients/${idOf(store)}`))).toEqual(['keeper'])
  expect(names(await call('GET', `${shop}/roles/seller/composites/clients/${idOf(shop)}`))).toEqual([])
})

test('a role contains, and a user has, no namesakes of what they have', async () => {
  const path = await realm()
  const made: Record<string, { id: string }[]> = {}
  for (const clientId of ['shop', 'store']) {
    const client = await make(`${path}/clients`, { clientId })
    made[clientId] = [await makeRole(client, 'keeper'), await makeRole(client, 'seller')]
  }
  const [keeper, seller] = [made.shop![0]!, made.store![1]!]
  const ann = await make(`${path}/users`, { username: 'ann' })
  await makeRole(path, 'boss')
  await call('POST', `${path}/roles/boss/composites`, { body: [keeper, seller] })
  for (const { id, containerId } of [keeper, seller] as { id: string; containerId: string }[])
    await call('POST', `${ann}/role-mappings/clients/${containerId}`, { body: [{ id }] })
  const ids = ({ body }: { body: { id: string }[] }) => body.map(({ id }) => id).sort()
  expect(ids(await call('GET', `${path}/roles/boss/composites`))).toEqual([keeper.id, seller.id].sort())
  const { clientMappings } = (await call('GET', `${ann}/role-mappings`)).body
  expect(clientMappings).toMatchObject({
    shop: { mappings: [{ id: keeper.id }] },
    store: { mappings: [{ id: seller.id }] },
  })
  expect(clientMappings.shop.mappings.length + clientMappings.store.mappings.length).toBe(2)
})

test('roles in effect cost as many statements however deep they are', async () => {
  const path = await realm()
  const { statements } = await testService()
  const ann = await make(`${path}/users`, { username: 'ann' })
  const list = () => statements(() => call('GET', `${ann}/role-mappings/realm/composite`))
  const before = await list()
  let last = await makeRole(path, 'r0')
  await call('POST', `${ann}/role-mappings/realm`, { body: [last] })
  for (const name of ['r1', 'r2', 'r3']) {
    const next = await makeRole(path, name)
    await call('POST', `${path}/roles/${last.name}/composites`, { body: [next] })
    last = next
  }
  expect((await list()).length).toBe(before.length)
  expect(names(await call('GET', `${ann}/role-mappings/realm/composite`))).toContain('r3')
})
