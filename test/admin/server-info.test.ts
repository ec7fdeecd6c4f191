// The server information agrees with the other operations.
import { expect, test } from 'vitest'
import { createAdminToken } from '../support/admin-tokens.ts'
import { testServer } from '../support/server.ts'

const { call, realm } = await testServer()

test('the server information lists the same providers as the other operations', async () => {
  const path = await realm()
  const { body } = await call('GET', '/admin/serverinfo')
  const ids = (list: { id: string }[]) => list.map(({ id }) => id).sort()
  const authenticators = (await call('GET', `${path}/authentication/authenticator-providers`)).body
  expect(ids(body.componentTypes['org.keycloak.authentication.Authenticator'])).toEqual(ids(authenticators))
  expect(Object.keys(body.providers.authenticator.providers).sort()).toEqual(ids(authenticators))
  const providers = body.identityProviders.map(({ id }: { id: string }) => id)
  for (const id of providers)
    expect((await call('GET', `${path}/identity-provider/providers/${id}`)).status, id).toBe(200)
  const types = body.protocolMapperTypes['openid-connect'].map(({ id }: { id: string }) => id)
  const used = body.builtinProtocolMappers['openid-connect'].map(
    (mapper: { protocolMapper: string }) => mapper.protocolMapper,
  )
  expect(types).toEqual(expect.arrayContaining(used))
})

test('only an administrator of all realms gets system information, with a version that clients can compare', async () => {
  const { body } = await call('GET', '/admin/serverinfo')
  expect(body.systemInfo.version).toMatch(/^\d+\.\d+\.\d+$/)
  expect(body.memoryInfo.used + body.memoryInfo.free).toBe(body.memoryInfo.total)
  const name = (await realm()).split('/').at(-1)!
  const token = await createAdminToken(name, { clientRoles: { 'realm-management': ['query-users'] } })
  const less = (await call('GET', '/admin/serverinfo', { token })).body
  expect(Object.keys(body).filter((key) => !(key in less))).toEqual(['systemInfo', 'cpuInfo', 'memoryInfo'])
  expect((await call('GET', '/admin/serverinfo', { token: await createAdminToken(name, {}) })).status).toBe(403)
})
