// The server information: providers, and system information for administrators of all realms.
import { expect, test } from 'vitest'
import { createAdminToken } from '../support/admin-tokens.ts'
import { testServer } from '../support/server.ts'

const { call, createRealm } = await testServer()

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
