// Role mappings of users and groups over REST, and composite roles.
import { expect, test } from 'vitest'
import { testServer } from '../support/server.ts'
import { testService } from '../support/service.ts'

const { call, create, createRealm } = await testServer()
const getId = (address: string) => address.split('/').at(-1)!
const getNames = (response: { body: { name: string }[] }) => response.body.map(({ name }) => name)

async function createRole(path: string, name: string): Promise<{ id: string; name: string }> {
  return (await call('GET', await create(`${path}/roles`, { name }))).body
}

test('effective roles of a user include those of parent groups and of composite roles', async () => {
  const path = await createRealm()
  const shop = await create(`${path}/clients`, { clientId: 'shop' })
  const [manager, worker, seller] = [
    await createRole(path, 'manager'),
    await createRole(path, 'worker'),
    await createRole(shop, 'seller'),
  ]
  await call('POST', `${path}/roles/manager/composites`, { body: [worker, seller] })
  const crew = await create(`${path}/groups`, { name: 'crew' })
  const night = await create(`${crew}/children`, { name: 'night' })
  const ann = await create(`${path}/users`, { username: 'ann', groups: ['/crew/night'] })
  await call('POST', `${crew}/role-mappings/realm`, { body: [manager] })
  for (const subject of [ann, night]) {
    expect(getNames(await call('GET', `${subject}/role-mappings/realm/composite`))).toEqual(
      expect.arrayContaining(['manager', 'worker']),
    )
    expect(getNames(await call('GET', `${subject}/role-mappings/clients/${getId(shop)}/composite`))).toEqual(['seller'])
    expect((await call('GET', `${subject}/role-mappings/clients/${getId(shop)}`)).body).toEqual([])
  }
})

test('roles are mapped by id, and a role that is missing or of another container returns an error without any mapping', async () => {
  const path = await createRealm()
  const shop = await create(`${path}/clients`, { clientId: 'shop' })
  const [manager, seller] = [await createRole(path, 'manager'), await createRole(shop, 'seller')]
  const ann = await create(`${path}/users`, { username: 'ann' })
  const mappings = `${ann}/role-mappings/realm`
  for (const invalid of [[manager, { id: 'nowhere', name: 'manager' }], [manager, seller], [{ name: 'manager' }]])
    expect((await call('POST', mappings, { body: invalid })).body).toEqual({ error: 'Role not found' })
  expect(getNames(await call('GET', mappings))).not.toContain('manager')
  await call('POST', mappings, { body: [manager, manager] })
  expect(getNames(await call('GET', mappings))).toContain('manager')
  expect(getNames(await call('GET', `${mappings}/available`))).not.toContain('manager')
  expect((await call('DELETE', mappings)).status).toBe(204)
  expect((await call('GET', `${ann}/role-mappings`)).body).toEqual({})
})

test('the composites of a client role are listed by client', async () => {
  const path = await createRealm()
  const [shop, store] = [
    await create(`${path}/clients`, { clientId: 'shop' }),
    await create(`${path}/clients`, { clientId: 'store' }),
  ]
  const keeper = await createRole(store, 'keeper')
  await createRole(shop, 'seller')
  await call('POST', `${shop}/roles/seller/composites`, { body: [{ id: keeper.id }] })
  expect(getNames(await call('GET', `${shop}/roles/seller/composites/clients/${getId(store)}`))).toEqual(['keeper'])
  expect(getNames(await call('GET', `${shop}/roles/seller/composites/clients/${getId(shop)}`))).toEqual([])
})

test('of roles with the same name in several clients, only the added one is a composite or mapped', async () => {
  const path = await createRealm()
  const roles: Record<string, { id: string }[]> = {}
  for (const clientId of ['shop', 'store']) {
    const client = await create(`${path}/clients`, { clientId })
    roles[clientId] = [await createRole(client, 'keeper'), await createRole(client, 'seller')]
  }
  const [keeper, seller] = [roles.shop![0]!, roles.store![1]!]
  const ann = await create(`${path}/users`, { username: 'ann' })
  await createRole(path, 'manager')
  await call('POST', `${path}/roles/manager/composites`, { body: [keeper, seller] })
  for (const { id, containerId } of [keeper, seller] as { id: string; containerId: string }[])
    await call('POST', `${ann}/role-mappings/clients/${containerId}`, { body: [{ id }] })
  const listIds = ({ body }: { body: { id: string }[] }) => body.map(({ id }) => id).sort()
  expect(listIds(await call('GET', `${path}/roles/manager/composites`))).toEqual([keeper.id, seller.id].sort())
  const { clientMappings } = (await call('GET', `${ann}/role-mappings`)).body
  expect(clientMappings).toMatchObject({
    shop: { mappings: [{ id: keeper.id }] },
    store: { mappings: [{ id: seller.id }] },
  })
  expect(clientMappings.shop.mappings.length + clientMappings.store.mappings.length).toBe(2)
})

test('effective roles take the same number of statements for any depth', async () => {
  const path = await createRealm()
  const { statements } = await testService()
  const ann = await create(`${path}/users`, { username: 'ann' })
  const measureStatements = () => statements(() => call('GET', `${ann}/role-mappings/realm/composite`))
  const before = await measureStatements()
  let parent = await createRole(path, 'r0')
  await call('POST', `${ann}/role-mappings/realm`, { body: [parent] })
  for (const name of ['r1', 'r2', 'r3']) {
    const child = await createRole(path, name)
    await call('POST', `${path}/roles/${parent.name}/composites`, { body: [child] })
    parent = child
  }
  expect((await measureStatements()).length).toBe(before.length)
  expect(getNames(await call('GET', `${ann}/role-mappings/realm/composite`))).toContain('r3')
})

test('a role whose id and name are of two roles is mapped to no user and no group', async () => {
  const path = await createRealm()
  const [reader, writer] = [await createRole(path, 'reader'), await createRole(path, 'writer')]
  const owners = [await create(`${path}/users`, { username: 'ann' }), await create(`${path}/groups`, { name: 'staff' })]
  for (const owner of owners) {
    const mappings = `${owner}/role-mappings/realm`
    for (const method of ['POST', 'DELETE'])
      expect((await call(method, mappings, { body: [{ id: reader.id, name: writer.name }] })).status).toBe(404)
    expect((await call('POST', mappings, { body: [reader] })).status).toBe(204)
  }
})

test('the scope mappings of the realm take client roles, and those of a client do not take realm roles', async () => {
  const path = await createRealm()
  const client = await create(`${path}/clients`, { clientId: 'app', fullScopeAllowed: false })
  const scope = await create(`${path}/client-scopes`, { name: 'reports', protocol: 'openid-connect' })
  const role = await createRole(client, 'reader')
  for (const owner of [client, scope]) {
    const mappings = `${owner}/scope-mappings`
    expect((await call('POST', `${mappings}/realm`, { body: [role] })).status).toBe(204)
    expect((await call('GET', mappings)).body).toMatchObject({
      clientMappings: { app: { mappings: [{ id: role.id }] } },
    })
    expect((await call('DELETE', `${mappings}/realm`, { body: [{ id: role.id }] })).status).toBe(204)
    expect((await call('GET', mappings)).body).toEqual({})
    const ofRealm = (await call('GET', `${path}/roles/offline_access`)).body
    expect((await call('POST', `${mappings}/clients/${getId(client)}`, { body: [ofRealm] })).status).toBe(404)
  }
  const ann = await create(`${path}/users`, { username: 'ann' })
  expect((await call('POST', `${ann}/role-mappings/realm`, { body: [role] })).status).toBe(404)
})

test('roles in the scope mappings of a client are found by their names, whatever their ids', async () => {
  const path = await createRealm()
  const app = await create(`${path}/clients`, { clientId: 'app', fullScopeAllowed: false })
  const shop = await create(`${path}/clients`, { clientId: 'shop' })
  const [seller, buyer] = [await createRole(shop, 'seller'), await createRole(shop, 'buyer')]
  const mappings = `${app}/scope-mappings/clients/${getId(shop)}`
  const body = [{ name: 'seller' }, { id: seller.id, name: 'buyer' }]
  expect((await call('POST', mappings, { body })).status).toBe(204)
  expect(getNames(await call('GET', mappings))).toEqual(['buyer', 'seller'])
  expect((await call('DELETE', mappings, { body: [{ name: 'buyer' }] })).status).toBe(204)
  expect(getNames(await call('GET', mappings))).toEqual(['seller'])
  expect((await call('POST', mappings, { body: [{ id: buyer.id, name: 'ghost' }] })).status).toBe(404)
})

test('a search for roles finds names and descriptions, and a new role gets an id of its own', async () => {
  const path = await createRealm()
  const client = await create(`${path}/clients`, { clientId: 'app' })
  const id = '6f5b1c0e-0000-4000-8000-0123456789ab'
  for (const owner of [path, client]) {
    await create(`${owner}/roles`, { id, name: 'reader', description: 'Reads the Reports' })
    await create(`${owner}/roles`, { name: 'reports-writer' })
    await create(`${owner}/roles`, { name: 'other', description: 'neither' })
    expect(getNames(await call('GET', `${owner}/roles?search=reports`))).toEqual(['reader', 'reports-writer'])
    expect((await call('GET', `${owner}/roles/reader`)).body.id).not.toBe(id)
  }
})

test('roles are listed by pages if first and max are given, or with a search', async () => {
  const path = `${await createRealm()}/roles`
  for (const name of ['buyer', 'baker']) await create(path, { name })
  const list = async (query: string) => getNames(await call('GET', `${path}?${query}`))
  const all = await list('')
  for (const query of ['first=1', 'max=1', 'search=%20&max=1', 'briefRepresentation=&first=&max=1'])
    expect(await list(query), query).toEqual(all)
  expect(await list('first=1&max=1')).toEqual(['buyer'])
  expect(await list('search=b&max=1')).toEqual(['baker'])
})

test('a new role has composites only if it is declared as composite, and no attributes without values', async () => {
  const path = `${await createRealm()}/roles`
  const composites = { realm: ['offline_access'], client: { account: ['view-profile'] } }
  const role = await create(path, { name: 'plain', composites, attributes: { color: [], size: ['1'] } })
  expect((await call('GET', role)).body).toMatchObject({ composite: false, attributes: { size: ['1'] } })
  const both = await create(path, { name: 'both', composite: true, composites })
  expect(getNames(await call('GET', `${both}/composites`))).toEqual(['offline_access', 'view-profile'])
  await call('PUT', both, { body: { name: 'both', attributes: { color: [] } } })
  expect((await call('GET', both)).body.attributes).toEqual({})
  for (const [missing, message] of [
    [{ realm: ['ghost'] }, 'Realm Role with name ghost does not exist'],
    [{ client: { account: ['ghost'] } }, 'Client Role with name ghost does not exist'],
  ]) {
    const response = await call('POST', path, { body: { name: 'new', composite: true, composites: missing } })
    expect(response).toMatchObject({ status: 404, body: { errorMessage: message } })
  }
})

test('groups with a role are returned in full with full=true', async () => {
  const path = await createRealm()
  const role = await createRole(path, 'reader')
  const group = await create(`${path}/groups`, { name: 'staff', attributes: { floor: ['2'] } })
  await call('POST', `${group}/role-mappings/realm`, { body: [role] })
  const list = async (query: string) => (await call('GET', `${path}/roles/reader/groups${query}`)).body[0].attributes
  expect(await list('?full=true')).toEqual({ floor: ['2'] })
  expect(await list('?briefRepresentation=false')).toEqual({ floor: ['2'] })
  expect(await list('')).toBeUndefined()
})
