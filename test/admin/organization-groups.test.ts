// Groups of organizations over REST.
import { expect, test } from 'vitest'
import { testServer } from '../support/server.ts'

const { call, create, createRealm } = await testServer()
const getId = (address: string) => address.split('/').at(-1)!

/** Creates a realm with the organizations acme, which has the member ann, and bolt. */
async function createOrganizations() {
  const path = await createRealm({
    organizationsEnabled: true,
    users: [{ username: 'ann', enabled: true, email: 'ann@acme.example' }, { username: 'bob' }],
    groups: [{ name: 'plain' }],
    organizations: [{ name: 'acme', members: [{ username: 'ann' }] }, { name: 'bolt' }],
  })
  const { body: organizations } = await call('GET', `${path}/organizations`)
  const [acme, bolt] = (organizations as { id: string }[]).map(({ id }) => `${path}/organizations/${id}`)
  const { body: users } = await call('GET', `${path}/users`)
  const [ann, bob] = (users as { id: string }[]).map(({ id }) => id)
  return { path, acme: acme!, bolt: bolt!, ann: ann!, bob: bob! }
}

/** Creates a subgroup and returns its address. */
async function createSubgroup(group: string, body: object): Promise<string> {
  const { body: created } = await call('POST', `${group}/children`, { body })
  return group.replace(/[^/]+$/, created.id)
}

const toNames = ({ body }: { body: { name: string }[] }) => body.map(({ name }) => name)

test('a group has a description and attributes, which a replacement changes, and the groups of the realm do not contain it', async () => {
  const { path, acme } = await createOrganizations()
  const staff = await create(`${acme}/groups`, { name: 'staff', description: 'All', attributes: { floor: ['1'] } })
  expect((await call('GET', staff)).body).toMatchObject({
    path: '/staff',
    description: 'All',
    attributes: { floor: ['1'] },
  })
  await call('PUT', staff, { body: { name: 'crew', attributes: { floor: ['2'] } } })
  const { body: crew } = await call('GET', staff)
  expect(crew).toMatchObject({ name: 'crew', attributes: { floor: ['2'] } })
  expect(crew).not.toHaveProperty('description')
  expect(toNames(await call('GET', `${path}/groups`))).toEqual(['plain'])
  expect((await call('GET', `${path}/groups/${getId(staff)}`)).body.errorMessage).toMatch(/non Organization API/)
})

test('a moved group takes its subgroups and members along, and stays in its organization', async () => {
  const { acme, bolt, ann } = await createOrganizations()
  const [staff, site] = [
    await create(`${acme}/groups`, { name: 'staff' }),
    await create(`${acme}/groups`, { name: 'site' }),
  ]
  const night = await createSubgroup(staff, { name: 'night', attributes: { shift: ['3'] } })
  await call('PUT', `${night}/members/${ann}`)
  const move = (below: string) => call('POST', `${below}/children`, { body: { id: getId(staff), name: 'staff' } })
  expect((await move(site)).status).toBe(204)
  expect((await call('GET', night)).body).toMatchObject({ path: '/site/staff/night', attributes: { shift: ['3'] } })
  expect((await call('GET', `${night}/members`)).body).toMatchObject([{ username: 'ann' }])
  expect((await move(night)).body.errorMessage).toBe('Organization group /site/staff cannot be moved below itself')
  const other = await create(`${bolt}/groups`, { name: 'other' })
  expect((await move(other)).body.errorMessage).toBe('Group does not belong to the organization')
})

test('two organizations may have groups of the same name, and a rename changes those of one only', async () => {
  const { acme, bolt } = await createOrganizations()
  const [first, second] = [
    await create(`${acme}/groups`, { name: 'staff' }),
    await create(`${bolt}/groups`, { name: 'staff' }),
  ]
  const [night, day] = [await createSubgroup(first, { name: 'x' }), await createSubgroup(second, { name: 'x' })]
  await call('PUT', first, { body: { name: 'crew' } })
  expect((await call('GET', night)).body.path).toBe('/crew/x')
  expect((await call('GET', day)).body.path).toBe('/staff/x')
})

test('a search matches the beginning of names, exact names and all attributes, with or without parents', async () => {
  const { acme } = await createOrganizations()
  const staff = await create(`${acme}/groups`, { name: 'staff', attributes: { floor: ['1'], wing: ['a', 'b'] } })
  await create(`${acme}/groups`, { name: 'stage', attributes: { floor: ['1'] } })
  await createSubgroup(staff, { name: 'stand' })
  const search = async (query: string) => toNames(await call('GET', `${acme}/groups?${query}`))
  expect(await search('')).toEqual(['staff', 'stage'].sort())
  expect(await search('search=STA')).toEqual(['staff', 'stage', 'stand'])
  expect(await search('search=taff')).toEqual([])
  expect(await search('search=*aff')).toEqual(['staff'])
  expect(await search('search=sta%25')).toEqual([])
  expect(await search('search=staff&exact=true')).toEqual(['staff'])
  expect(await search('q=floor:1%20wing:b')).toEqual(['staff'])
  expect(await search('search=sta&first=1&max=1')).toEqual(['stage'])
  const { body } = await call('GET', `${acme}/groups?search=stand&populateHierarchy=true&subGroupsCount=true`)
  expect(body).toMatchObject([{ name: 'staff', subGroupCount: 1, subGroups: [{ name: 'stand', subGroupCount: 0 }] }])
})

test('only members of the organization can join, and who leaves the organization leaves its groups', async () => {
  const { acme, ann, bob } = await createOrganizations()
  const staff = await create(`${acme}/groups`, { name: 'staff' })
  const join = (user: string) => call('PUT', `${staff}/members/${user}`)
  expect((await join(bob)).body.errorMessage).toBe('User is not member of the organization')
  expect((await join(ann)).status).toBe(204)
  expect((await join(ann)).body.errorMessage).toBe('User is already a member of the group')
  await call('DELETE', `${acme}/members/${ann}`)
  await call('POST', `${acme}/members`, { body: ann })
  expect((await call('GET', `${staff}/members`)).body).toEqual([])
})

test('an administrator of users cannot change groups of organizations, and one of organizations cannot add members', async () => {
  const { path, acme, ann } = await createOrganizations()
  const staff = await create(`${acme}/groups`, { name: 'staff' })
  const token = async (role: string) => {
    const credentials = [{ type: 'password', value: 'pw' }]
    const profile = { email: `${role}@x.example`, firstName: 'A', lastName: 'B' }
    const user = await create(`${path}/users`, { username: role, enabled: true, credentials, ...profile })
    const [client] = (await call('GET', `${path}/clients?clientId=realm-management`)).body
    const { body } = await call('GET', `${path}/clients/${client.id}/roles/${role}`)
    await call('POST', `${user}/role-mappings/clients/${client.id}`, { body: [body] })
    const response = await call('POST', `/realms/${getId(path)}/protocol/openid-connect/token`, {
      token: null,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: `grant_type=password&client_id=admin-cli&username=${role}&password=pw`,
    })
    return response.body.access_token as string
  }
  const [ofUsers, ofOrganizations] = [await token('manage-users'), await token('manage-organizations')]
  const status = async (bearer: string, method: string, address: string, body?: object) =>
    (await call(method, address, { token: bearer, ...(body && { body }) })).status
  expect(await status(ofUsers, 'GET', `${acme}/groups`)).toBe(403)
  expect(await status(ofUsers, 'PUT', staff, { name: 'x' })).toBe(403)
  expect(await status(ofOrganizations, 'PUT', staff, { name: 'crew' })).toBe(204)
  expect(await status(ofOrganizations, 'GET', `${staff}/members`)).toBe(403)
  expect(await status(ofOrganizations, 'PUT', `${staff}/members/${ann}`)).toBe(403)
})
