// Organizations over REST: members, and objects that are deleted with memberships.
import { expect, test } from 'vitest'
import { testServer } from '../support/server.ts'

const { call, create, createRealm } = await testServer()

const SETTINGS = { organizationsEnabled: true, adminEventsEnabled: true, adminEventsDetailsEnabled: true }
const users = ['ann', 'bob', 'carl', 'eva'].map((username) => ({
  username,
  enabled: true,
  email: `${username}@acme.example`,
  firstName: username.toUpperCase(),
  attributes: { floor: ['2'] },
}))

/** Creates a realm with two organizations. `acme` has the managed member eva and the unmanaged member bob. */
async function createOrganizations() {
  const path = await createRealm({
    ...SETTINGS,
    users,
    identityProviders: [{ alias: 'partner', providerId: 'oidc', enabled: true }],
    organizations: [
      {
        name: 'Acme Ltd',
        alias: 'acme',
        members: [{ username: 'eva', membershipType: 'MANAGED' }, { username: 'bob' }],
        identityProviders: [{ alias: 'partner' }],
      },
      { name: 'bolt' },
    ],
  })
  const { body: organizations } = await call('GET', `${path}/organizations`)
  const [acme, bolt] = (organizations as { id: string }[]).map(({ id }) => `${path}/organizations/${id}`)
  const { body: members } = await call('GET', `${acme}/members`)
  const [bob, eva] = (members as { id: string }[]).map(({ id }) => id)
  return { path, acme: acme!, bolt: bolt!, bob: bob!, eva: eva! }
}

const summarizeMembers = (body: { username: string; membershipType: string }[]) =>
  body.map(({ username, membershipType }) => `${username} ${membershipType}`)

test('members are found by a part of a name, by an exact name, and by membership type', async () => {
  const { path, acme, eva } = await createOrganizations()
  const { body: profile } = await call('GET', `${path}/users/profile`)
  await call('PUT', `${path}/users/profile`, { body: { ...profile, unmanagedAttributePolicy: 'ADMIN_VIEW' } })
  const findUsernames = async (query: string) => summarizeMembers((await call('GET', `${acme}/members${query}`)).body)
  expect(await findUsernames('')).toEqual(['bob UNMANAGED', 'eva MANAGED'])
  expect(await findUsernames('?search=B@ac')).toEqual(['bob UNMANAGED'])
  expect(await findUsernames('?search=v*@a')).toEqual(['eva MANAGED'])
  expect(await findUsernames('?search=EVA&exact=true')).toEqual(['eva MANAGED'])
  expect(await findUsernames('?search=ev&exact=true')).toEqual([])
  expect(await findUsernames('?membershipType=managed')).toEqual(['eva MANAGED'])
  expect(await findUsernames('?search=b&membershipType=MANAGED')).toEqual([])
  expect(await findUsernames('?first=1&max=1')).toEqual(['eva MANAGED'])
  expect((await call('GET', `${acme}/members?membershipType=other`)).status).toBe(400)
  expect((await call('GET', `${acme}/members/count`)).body).toBe(2)
  expect((await call('GET', `${acme}/members?briefRepresentation=false`)).body[1]).toMatchObject({
    id: eva,
    attributes: { floor: ['2'] },
    totp: false,
  })
})

test('a user can be a member of several organizations, and a second membership in one returns 409', async () => {
  const { path, acme, bolt, bob } = await createOrganizations()
  const response = await call('POST', `${bolt}/members`, { body: `"${bob}"` })
  expect(response).toMatchObject({
    status: 201,
    headers: { location: expect.stringContaining(`${bolt}/members/${bob}`) },
  })
  expect(await call('POST', `${bolt}/members`, { body: bob })).toMatchObject({
    status: 409,
    body: { errorMessage: 'User is already a member of the organization.' },
  })
  const getNames = (body: { name: string }[]) => body.map(({ name }) => name)
  expect(getNames((await call('GET', `${acme}/members/${bob}/organizations`)).body)).toEqual(['Acme Ltd', 'bolt'])
  expect(getNames((await call('GET', `${path}/organizations/members/${bob}/organizations`)).body)).toHaveLength(2)
  expect((await call('DELETE', `${acme}/members/${bob}`)).status).toBe(204)
  expect((await call('GET', `${acme}/members/${bob}`)).body).toEqual({ error: 'HTTP 404 Not Found' })
  expect(summarizeMembers((await call('GET', `${bolt}/members`)).body)).toEqual(['bob UNMANAGED'])
  const { body: events } = await call('GET', `${path}/admin-events?direction=asc`)
  const membershipEvents = (
    events as { operationType: string; resourceType: string; resourcePath: string; details: object }[]
  ).slice(-2)
  const [acmePath, boltPath] = [acme, bolt].map((address) => address.replace(`${path}/`, ''))
  expect(membershipEvents).toMatchObject([
    {
      operationType: 'CREATE',
      resourceType: 'ORGANIZATION_MEMBERSHIP',
      resourcePath: `${boltPath}/members`,
      details: { username: 'bob', email: 'bob@acme.example' },
    },
    { operationType: 'DELETE', resourceType: 'ORGANIZATION_MEMBERSHIP', resourcePath: `${acmePath}/members/${bob}` },
  ])
})

test('a managed member is deleted with the membership and with the organization, and an unmanaged one is not', async () => {
  const first = await createOrganizations()
  await call('POST', `${first.bolt}/members`, { body: first.eva })
  expect((await call('DELETE', `${first.acme}/members/${first.eva}`)).status).toBe(204)
  expect((await call('GET', `${first.bolt}/members`)).body).toEqual([])

  const { path, acme, bolt, bob, eva } = await createOrganizations()
  const listRealmProviders = () => call('GET', `${path}/identity-provider/instances?realmOnly=true`)
  expect((await listRealmProviders()).body).toEqual([])
  for (const id of [bob, eva]) await call('POST', `${bolt}/members`, { body: id })
  expect((await call('DELETE', acme)).status).toBe(204)
  expect(summarizeMembers((await call('GET', `${bolt}/members`)).body)).toEqual(['bob UNMANAGED'])
  const provider = await call('GET', `${path}/identity-provider/instances/partner`)
  expect(provider.body).not.toHaveProperty('organizationId')
  expect((await listRealmProviders()).body).toHaveLength(1)
})

test('members, providers and groups in the body of an organization are ignored', async () => {
  const { path, bob } = await createOrganizations()
  const body = {
    name: 'third',
    members: [{ id: bob }],
    identityProviders: [{ alias: 'partner' }],
    groups: [{ name: 'g' }],
  }
  const third = await create(`${path}/organizations`, body)
  expect((await call('GET', `${third}/members`)).body).toEqual([])
  expect((await call('GET', third)).body).toEqual({
    id: third.split('/').at(-1),
    name: 'third',
    alias: 'third',
    enabled: true,
    attributes: {},
  })
})

test('attributes in a query of organizations take precedence over a text, in lists and counts', async () => {
  const path = `${await createRealm({ organizationsEnabled: true })}/organizations`
  await create(path, { name: 'acme', attributes: { tier: ['gold'] } })
  await create(path, { name: 'bolt' })
  for (const query of ['q=tier:gold', 'q=tier:gold&search=bolt', 'q=tier:gold&search=acme&exact=true']) {
    expect((await call('GET', `${path}?${query}`)).body, query).toMatchObject([{ name: 'acme' }])
    expect((await call('GET', `${path}/count?${query}`)).body, query).toBe(1)
  }
  expect((await call('GET', `${path}?q=tier:&search=acme`)).body).toEqual([])
})

test('PUT of an organization without an alias keeps it if it is the name', async () => {
  const path = `${await createRealm(SETTINGS)}/organizations`
  const domains = [{ name: 'acme.example', verified: true }]
  const acme = await create(path, { name: 'acme', domains })
  expect((await call('GET', acme)).body).toMatchObject({ domains })
  const put = async (name: string) => (await call('PUT', acme, { body: { name, description: name } })).status
  expect(await put('acme')).toBe(204)
  expect(await put('other')).toBe(400)
  expect((await call('GET', acme)).body).toMatchObject({ name: 'acme', alias: 'acme', description: 'acme' })
})

test('an empty alias of an organization is its name, an empty URL is none, and enabled is false if it is null', async () => {
  const path = `${await createRealm(SETTINGS)}/organizations`
  const domains = [{ name: 'acme.example' }]
  const organization = await create(path, { name: 'acme', alias: '', redirectUrl: '', enabled: null, domains })
  const read = async () => (await call('GET', organization)).body
  expect(await read()).toMatchObject({ alias: 'acme', enabled: false })
  expect(await read()).not.toHaveProperty('redirectUrl')
  const put = async (body: object) =>
    (await call('PUT', organization, { body: { name: 'acme', domains, ...body } })).status
  expect(await put({ redirectUrl: 'https://acme.example' })).toBe(204)
  expect(await read()).toMatchObject({ enabled: true, redirectUrl: 'https://acme.example' })
  expect(await put({ alias: '', redirectUrl: '', enabled: null })).toBe(204)
  expect(await read()).toMatchObject({ alias: 'acme', enabled: false })
  expect(await read()).not.toHaveProperty('redirectUrl')
  expect(await put({ name: '' })).toBe(409)
})
