// What the server tells of itself is what its other operations say too.
import { expect, test } from 'vitest'
import { createAdminToken } from '../support/administrators.ts'
import { testServer } from '../support/server.ts'

const { call, realm } = await testServer()

test('there is to choose from what the operations for it list', async () => {
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
    (one: { protocolMapper: string }) => one.protocolMapper,
  )
  expect(types).toEqual(expect.arrayContaining(used))
})

test('only who administers every realm learns of the machine, and its version is one that clients can compare', async () => {
  const { body } = await call('GET', '/admin/serverinfo')
  expect(body.systemInfo.version).toMatch(/^\d+\.\d+\.\d+$/)
  expect(body.memoryInfo.used + body.memoryInfo.free).toBe(body.memoryInfo.total)
  const name = (await realm()).split('/').at(-1)!
  const token = await createAdminToken(name, { clientRoles: { 'realm-management': ['query-users'] } })
  const less = (await call('GET', '/admin/serverinfo', { token })).body
  expect(Object.keys(body).filter((key) => !(key in less))).toEqual(['systemInfo', 'cpuInfo', 'memoryInfo'])
  expect((await call('GET', '/admin/serverinfo', { token: await createAdminToken(name, {}) })).status).toBe(403)
})
