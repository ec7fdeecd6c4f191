// The metadata of a realm for applications: OpenID Connect Discovery and RFC 8414.
import { expect, test } from 'vitest'
import { testServer } from '../support/server.ts'

const { call, create, createRealm } = await testServer()

const getMetadata = async (realm: string, document = 'openid-configuration') =>
  (await call('GET', `/realms/${realm.split('/').at(-1)}/.well-known/${document}`, { token: null })).body

test('the metadata is the same at the address of each standard, and 404 for an unknown realm', async () => {
  const realm = await createRealm()
  const name = realm.split('/').at(-1)
  const addresses = [
    (id: string) => `/realms/${id}/.well-known/openid-configuration`,
    (id: string) => `/realms/${id}/.well-known/oauth-authorization-server`,
    (id: string) => `/.well-known/oauth-authorization-server/realms/${id}`,
  ]
  const expected = await getMetadata(realm)
  expect(expected.issuer).toMatch(new RegExp(`/realms/${name}$`))
  for (const address of addresses) {
    expect((await call('GET', address(name!), { token: null })).body, address('x')).toEqual(expected)
    expect((await call('GET', address('nowhere'), { token: null })).status, address('x')).toBe(404)
  }
})

test('the scopes are those of OpenID Connect that the realm has and does not exclude', async () => {
  const realm = await createRealm()
  const before: string[] = (await getMetadata(realm)).scopes_supported
  expect(before).toEqual(expect.arrayContaining(['openid', 'profile', 'email', 'offline_access']))
  expect(before).not.toContain('role_list')
  await create(`${realm}/client-scopes`, { name: 'orders', protocol: 'openid-connect' })
  const attributes = { 'include.in.openid.provider.metadata': 'false' }
  await create(`${realm}/client-scopes`, { name: 'hidden', protocol: 'openid-connect', attributes })
  const { scopes_supported } = await getMetadata(realm)
  expect(scopes_supported.toSorted()).toEqual([...before, 'orders'].sort())
})

test('public and pairwise subjects are listed', async () => {
  expect((await getMetadata(await createRealm())).subject_types_supported).toEqual(['public', 'pairwise'])
})

test('the prompt "create" is listed exactly while users can register', async () => {
  const realm = await createRealm()
  const listPrompts = async () => (await getMetadata(realm)).prompt_values_supported
  expect(await listPrompts()).toEqual(['none', 'login', 'consent'])
  await call('PUT', realm, { body: { registrationAllowed: true } })
  expect(await listPrompts()).toEqual(['none', 'login', 'consent', 'create'])
})

test('the levels of authentication are those of the browser flow, and the names that the realm gives them', async () => {
  const realm = await createRealm()
  const listLevels = async () => (await getMetadata(realm)).acr_values_supported
  expect(await listLevels()).toEqual(['0', '1'])
  await call('PUT', realm, { body: { attributes: { 'acr.loa.map': '{"gold":3}' } } })
  expect(await listLevels()).toEqual(['gold', '0', '1'])
  const flows = `${realm}/authentication/flows`
  await create(flows, { alias: 'levels', providerId: 'basic-flow', topLevel: true })
  const provider = 'conditional-level-of-authentication'
  const execution = await create(`${flows}/levels/executions/execution`, { provider })
  await call('POST', `${realm}/authentication/executions/${execution.split('/').at(-1)}/config`, {
    body: { alias: 'third', config: { 'loa-condition-level': '3' } },
  })
  await call('PUT', realm, { body: { browserFlow: 'levels' } })
  expect(await listLevels()).toEqual(['gold', '0', '3'])
})
