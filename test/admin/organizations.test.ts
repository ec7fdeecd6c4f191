// Organizations over REST, beyond the recorded exchanges: members, and what is deleted with them.
import { expect, test } from 'vitest'
import { testServer } from '../support/server.ts'

const { call, make, realm } = await testServer()

const SETTINGS = { organizationsEnabled: true, adminEventsEnabled: true, adminEventsDetailsEnabled: true }
const users = ['ann', 'bob', 'carl', 'eva'].map((username) => ({
  username,
  enabled: true,
  email: `${username}@acme.example`,
  firstName: username.toUpperCase(),
  attributes: { floor: ['2'] },
}))

/** A realm with an organization that made the account of eva and has bob as a member, and a second one. */
async function start() {
  const path = await realm({
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

const usernames = (body: { username: string; membershipType: string }[]) =>
  body.map(({ username, membershipType }) => `${username} ${membershipType}`)

test('members are found by a part of their name, the exact name, and the type of membership', async () => {
  const { acme, eva } = await start()
  const findUsernames = async (query: string) => usernames((await call('GET', `${acme}/members${query}`)).body)
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

test('a user can be a member of several organizations, of each once', async () => {
  const { path, acme, bolt, bob } = await start()
  const joined = await call('POST', `${bolt}/members`, { body: `"${bob}"` })
  expect(joined).toMatchObject({
    status: 201,
    headers: { location: expect.stringContaining(`${bolt}/members/${bob}`) },
  })
  expect(await call('POST', `${bolt}/members`, { body: bob })).toMatchObject({
    status: 409,
    body: { errorMessage: 'User is already a member of the organization.' },
  })
  const names = (body: { name: string }[]) => body.map(({ name }) => name)
  expect(names((await call('GET', `${acme}/members/${bob}/organizations`)).body)).toEqual(['Acme Ltd', 'bolt'])
  expect(names((await call('GET', `${path}/organizations/members/${bob}/organizations`)).body)).toHaveLength(2)
  expect((await call('DELETE', `${acme}/members/${bob}`)).status).toBe(204)
  expect((await call('GET', `${acme}/members/${bob}`)).body).toEqual({ error: 'HTTP 404 Not Found' })
  expect(usernames((await call('GET', `${bolt}/members`)).body)).toEqual(['bob UNMANAGED'])
  const { body: events } = await call('GET', `${path}/admin-events?direction=asc`)
  const membershipEvents = (
    events as { operationType: string; resourceType: string; resourcePath: string; details: object }[]
  ).slice(-2)
  const [from, to] = [acme, bolt].map((address) => address.replace(`${path}/`, ''))
  expect(membershipEvents).toMatchObject([
    {
      operationType: 'CREATE',
      resourceType: 'ORGANIZATION_MEMBERSHIP',
      resourcePath: `${to}/members`,
      details: { username: 'bob', email: 'bob@acme.example' },
    },
    { operationType: 'DELETE', resourceType: 'ORGANIZATION_MEMBERSHIP', resourcePath: `${from}/members/${bob}` },
  ])
})

test('a managed member is deleted with the membership and with the organization', async () => {
  const first = await start()
  await call('POST', `${first.bolt}/members`, { body: first.eva })
  expect((await call('DELETE', `${first.acme}/members/${first.eva}`)).status).toBe(204)
  expect((await call('GET', `${first.bolt}/members`)).body).toEqual([])

  const { path, acme, bolt, bob, eva } = await start()
  const ofRealm = () => call('GET', `${path}/identity-provider/instances?realmOnly=true`)
  expect((await ofRealm()).body).toEqual([])
  for (const id of [bob, eva]) await call('POST', `${bolt}/members`, { body: id })
  expect((await call('DELETE', acme)).status).toBe(204)
  expect(usernames((await call('GET', `${bolt}/members`)).body)).toEqual(['bob UNMANAGED'])
  const provider = await call('GET', `${path}/identity-provider/instances/partner`)
  expect(provider.body).not.toHaveProperty('organizationId')
  expect((await ofRealm()).body).toHaveLength(1)
})

test('members, providers and groups in the body of an organization are ignored', async () => {
  const { path, bob } = await start()
  const body = {
    name: 'third',
    members: [{ id: bob }],
    identityProviders: [{ alias: 'partner' }],
    groups: [{ name: 'g' }],
  }
  const third = await make(`${path}/organizations`, body)
  expect((await call('GET', `${third}/members`)).body).toEqual([])
  expect((await call('GET', third)).body).toEqual({
    id: third.split('/').at(-1),
    name: 'third',
    alias: 'third',
    enabled: true,
    attributes: {},
  })
})
