// Role mappings of users and groups over REST, and composite roles.
import { expect, test } from 'vitest'
import { testServer } from '../support/server.ts'
import { testService } from '../support/service.ts'

const { call, make, realm } = await testServer()
const idOf = (address: string) => address.split('/').at(-1)!
const names = (response: { body: { name: string }[] }) => response.body.map(({ name }) => name)

async function makeRole(path: string, name: string): Promise<{ id: string; name: string }> {
  return (await call('GET', await make(`${path}/roles`, { name }))).body
}

test('effective roles of a user include those of parent groups and of composite roles', async () => {
  const path = await realm()
  const shop = await make(`${path}/clients`, { clientId: 'shop' })
  const [manager, worker, seller] = [
    await makeRole(path, 'manager'),
    await makeRole(path, 'worker'),
    await makeRole(shop, 'seller'),
  ]
  await call('POST', `${path}/roles/manager/composites`, { body: [worker, seller] })
  const crew = await make(`${path}/groups`, { name: 'crew' })
  const night = await make(`${crew}/children`, { name: 'night' })
  const ann = await make(`${path}/users`, { username: 'ann', groups: ['/crew/night'] })
  await call('POST', `${crew}/role-mappings/realm`, { body: [manager] })
  for (const subject of [ann, night]) {
    expect(names(await call('GET', `${subject}/role-mappings/realm/composite`))).toEqual(
      expect.arrayContaining(['manager', 'worker']),
    )
    expect(names(await call('GET', `${subject}/role-mappings/clients/${idOf(shop)}/composite`))).toEqual(['seller'])
    expect((await call('GET', `${subject}/role-mappings/clients/${idOf(shop)}`)).body).toEqual([])
  }
})

test('roles are mapped by id, all or none, and only in their container', async () => {
  const path = await realm()
  const shop = await make(`${path}/clients`, { clientId: 'shop' })
  const [manager, seller] = [await makeRole(path, 'manager'), await makeRole(shop, 'seller')]
  const ann = await make(`${path}/users`, { username: 'ann' })
  const mapped = `${ann}/role-mappings/realm`
  for (const invalid of [[manager, { id: 'nowhere', name: 'manager' }], [manager, seller], [{ name: 'manager' }]])
    expect((await call('POST', mapped, { body: invalid })).body).toEqual({ error: 'Role not found' })
  expect(names(await call('GET', mapped))).not.toContain('manager')
  await call('POST', mapped, { body: [manager, manager] })
  expect(names(await call('GET', mapped))).toContain('manager')
  expect(names(await call('GET', `${mapped}/available`))).not.toContain('manager')
  expect((await call('DELETE', mapped)).status).toBe(204)
  expect((await call('GET', `${ann}/role-mappings`)).body).toEqual({})
})

test('a composite client role lists its roles of another client', async () => {
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

test('roles of other containers with the same name are neither composites nor mapped', async () => {
  const path = await realm()
  const roles: Record<string, { id: string }[]> = {}
  for (const clientId of ['shop', 'store']) {
    const client = await make(`${path}/clients`, { clientId })
    roles[clientId] = [await makeRole(client, 'keeper'), await makeRole(client, 'seller')]
  }
  const [keeper, seller] = [roles.shop![0]!, roles.store![1]!]
  const ann = await make(`${path}/users`, { username: 'ann' })
  await makeRole(path, 'manager')
  await call('POST', `${path}/roles/manager/composites`, { body: [keeper, seller] })
  for (const { id, containerId } of [keeper, seller] as { id: string; containerId: string }[])
    await call('POST', `${ann}/role-mappings/clients/${containerId}`, { body: [{ id }] })
  const ids = ({ body }: { body: { id: string }[] }) => body.map(({ id }) => id).sort()
  expect(ids(await call('GET', `${path}/roles/manager/composites`))).toEqual([keeper.id, seller.id].sort())
  const { clientMappings } = (await call('GET', `${ann}/role-mappings`)).body
  expect(clientMappings).toMatchObject({
    shop: { mappings: [{ id: keeper.id }] },
    store: { mappings: [{ id: seller.id }] },
  })
  expect(clientMappings.shop.mappings.length + clientMappings.store.mappings.length).toBe(2)
})

test('effective roles take the same number of statements for any depth', async () => {
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
