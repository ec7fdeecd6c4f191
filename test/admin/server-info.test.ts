// The server information: providers, and system information for administrators of all realms.
import { expect, test } from 'vitest'
import { createAdminToken } from '../support/admin-tokens.ts'
import { testServer } from '../support/server.ts'

const { call, create, createRealm } = await testServer()

test('the server information lists the same authenticators and identity providers as their own operations', async () => {
  const path = await createRealm()
  const { body } = await call('GET', '/admin/serverinfo')
  const listIds = (list: { id: string }[]) => list.map(({ id }) => id).sort()
  const authenticators = (await call('GET', `${path}/authentication/authenticator-providers`)).body
  expect(listIds(body.componentTypes['org.keycloak.authentication.Authenticator'])).toEqual(listIds(authenticators))
  expect(Object.keys(body.providers.authenticator.providers).sort()).toEqual(listIds(authenticators))
  const providers = body.identityProviders.map(({ id }: { id: string }) => id)
  for (const id of providers)
    expect((await call('GET', `${path}/identity-provider/providers/${id}`)).status, id).toBe(200)
  const types = body.protocolMapperTypes['openid-connect'].map(({ id }: { id: string }) => id)
  const usedTypes = body.builtinProtocolMappers['openid-connect'].map(
    (mapper: { protocolMapper: string }) => mapper.protocolMapper,
  )
  expect(types).toEqual(expect.arrayContaining(usedTypes))
})

test('only an administrator of all realms gets system information, with a version that clients can compare', async () => {
  const { body } = await call('GET', '/admin/serverinfo')
  expect(body.systemInfo.version).toMatch(/^\d+\.\d+\.\d+$/)
  expect(body.memoryInfo.used + body.memoryInfo.free).toBe(body.memoryInfo.total)
  const name = (await createRealm()).split('/').at(-1)!
  const token = await createAdminToken(name, { clientRoles: { 'realm-management': ['query-users'] } })
  const restricted = (await call('GET', '/admin/serverinfo', { token })).body
  expect(Object.keys(body).filter((key) => !(key in restricted))).toEqual(['systemInfo', 'cpuInfo', 'memoryInfo'])
  expect((await call('GET', '/admin/serverinfo', { token: await createAdminToken(name, {}) })).status).toBe(403)
})

test('the themes that a realm may declare are listed by type', async () => {
  const { themes } = (await call('GET', '/admin/serverinfo')).body
  const names = Object.entries<{ name: string }[]>(themes).map(([type, all]) => [type, all.map(({ name }) => name)])
  expect(Object.fromEntries(names)).toEqual({
    account: ['keycloak.v3'],
    admin: ['keycloak.v2'],
    common: ['keycloak'],
    email: ['keycloak'],
    login: ['keycloak', 'keycloak.v2'],
    welcome: ['keycloak'],
  })
  expect(themes.login[0].locales).toEqual(['en', 'de'])
})

test('every built-in protocol mapper can be added to a client, and every type of mapper lists its settings', async () => {
  const realm = await createRealm()
  const { builtinProtocolMappers, protocolMapperTypes, componentTypes } = (await call('GET', '/admin/serverinfo')).body
  for (const protocol of ['openid-connect', 'saml']) {
    const client = await create(`${realm}/clients`, { clientId: protocol, protocol })
    const mappers: { protocolMapper: string; config: Record<string, string> }[] = builtinProtocolMappers[protocol]
    const added = await call('POST', `${client}/protocol-mappers/add-models`, { body: mappers })
    expect(added.status, protocol).toBe(204)
    const types = new Map<string, { name: string }[]>(
      protocolMapperTypes[protocol].map((type: { id: string; properties: object[] }) => [type.id, type.properties]),
    )
    for (const { protocolMapper, config } of mappers) {
      const names = types.get(protocolMapper)?.map(({ name }) => name)
      for (const name of ['claim.name', 'attribute.name'].filter((setting) => setting in config))
        expect(names, protocolMapper).toContain(name)
    }
  }
  const listed = componentTypes['org.keycloak.protocol.ProtocolMapper']
  for (const { id, properties } of Object.values<{ id: string; properties: object[] }[]>(protocolMapperTypes).flat())
    expect(listed.find((type: { id: string }) => type.id === id).properties, id).toEqual(properties)
})

test('the validators that are listed are those that a user profile accepts', async () => {
  const path = `${await createRealm()}/users/profile`
  const { body: profile } = await call('GET', path)
  const { componentTypes, providers } = (await call('GET', '/admin/serverinfo')).body
  const listed = componentTypes['org.keycloak.validate.Validator'].map(({ id }: { id: string }) => id)
  expect(Object.keys(providers.validator.providers)).toEqual(listed)
  const config = { min: 1, max: 2, pattern: 'a', options: ['a'] }
  const put = (validator: string) => {
    const attribute = { name: 'x', validations: { [validator]: config } }
    return call('PUT', path, { body: { ...profile, attributes: [...profile.attributes, attribute] } })
  }
  for (const validator of listed) expect((await put(validator)).status, validator).toBe(200)
  expect((await put('unknown')).status).toBe(400)
})
