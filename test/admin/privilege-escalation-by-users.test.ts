// A caller cannot take over a user with more admin permissions by credentials, impersonation or identity providers.
import { expect, test } from 'vitest'
import { SYSTEM } from '../../src/service/context/service.ts'
import { users } from '../../src/service/users/users.ts'
import { createAdminRealm } from '../support/admin-realm.ts'
import { testServer } from '../support/server.ts'
import { testService } from '../support/service.ts'

const { call, create } = await testServer()
const { service } = await testService()

const otp = {
  id: 'admin-otp',
  type: 'otp',
  secretData: '{"value":"abcdefghij"}',
  credentialData: '{"subType":"totp","digits":6,"period":30,"algorithm":"HmacSHA1"}',
}

test('changing credentials, email or identities of a stronger user, and impersonating the user, return 403', async () => {
  const {
    path,
    name,
    users: userIds,
    as,
    expectForbidden,
  } = await createAdminRealm({
    manager: 'manage-users impersonation',
    weak: 'view-users',
  })
  const admin = `users/${userIds.admin}`
  await service.write(SYSTEM, name, async (context) => {
    const liveUsers = await users.list(context, { ids: [userIds.admin!] })
    await users.update(context, [{ live: liveUsers[0]!, set: { credentials: [otp] } }])
  })
  await create(`${path}/identity-provider/instances`, { alias: 'other-idp', providerId: 'github' })
  const password = { type: 'password', value: 'new' }
  await expectForbidden('manager', 'PUT', `${admin}/reset-password`, password)
  await expectForbidden('manager', 'PUT', admin, { credentials: [password] })
  await expectForbidden('manager', 'PUT', admin, { email: 'changed@example.org' })
  await expectForbidden('manager', 'POST', `${admin}/federated-identity/other-idp`, { userId: 'changed' })
  await expectForbidden('manager', 'DELETE', `${admin}/credentials/${otp.id}`)
  await expectForbidden('manager', 'PUT', `${admin}/remove-totp`)
  await expectForbidden('manager', 'POST', `${admin}/impersonation`)
  expect((await as('manager', 'PUT', admin, { firstName: 'Other', enabled: false })).status).toBe(204)
  await expectForbidden('manager', 'PUT', admin, { enabled: true })
  expect((await call('GET', `${path}/${admin}/credentials`)).body).toHaveLength(2)

  const weak = `users/${userIds.weak}`
  expect((await as('manager', 'PUT', `${weak}/reset-password`, password)).status).toBe(204)
  expect((await as('manager', 'PUT', weak, { email: 'new@example.org' })).status).toBe(204)
  const link = await as('manager', 'POST', `${weak}/federated-identity/other-idp`, { userId: 'linked' })
  expect(link.status).toBe(204)
  expect((await as('manager', 'POST', `${weak}/impersonation`)).status).toBe(200)
})

test('changing an identity provider of a stronger user, or granting roles by its mappers, returns 403', async () => {
  const { path, users: userIds, as, expectForbidden } = await createAdminRealm({ manager: 'manage-identity-providers' })
  const provider = { providerId: 'github', enabled: true, config: { clientId: 'a', clientSecret: 'b' } }
  await create(`${path}/identity-provider/instances`, { ...provider, alias: 'linked' })
  const link = `${path}/users/${userIds.admin}/federated-identity/linked`
  expect((await call('POST', link, { body: { userId: 'admin' } })).status).toBe(204)
  const changedProvider = { ...provider, config: { clientId: 'changed', clientSecret: 'changed' } }
  const toRequest = (alias: string) => [`identity-provider/instances/${alias}`, { ...changedProvider, alias }] as const
  await expectForbidden('manager', 'PUT', ...toRequest('linked'))
  expect((await as('manager', 'POST', 'identity-provider/instances', { ...provider, alias: 'unlinked' })).status).toBe(
    201,
  )
  expect((await as('manager', 'PUT', ...toRequest('unlinked'))).status).toBe(204)

  const mappers = 'identity-provider/instances/unlinked/mappers'
  const toMapper = (type: string, config: object) => ({
    name: type,
    identityProviderAlias: 'unlinked',
    identityProviderMapper: type,
    config: { syncMode: 'INHERIT', ...config },
  })
  await expectForbidden(
    'manager',
    'POST',
    mappers,
    toMapper('oidc-hardcoded-role-idp-mapper', { role: 'administrator' }),
  )
  const clientRoleMapper = toMapper('oidc-hardcoded-role-idp-mapper', { role: 'realm-management.realm-admin' })
  expect((await as('manager', 'POST', mappers, clientRoleMapper)).status).toBe(403)
  await expectForbidden(
    'manager',
    'POST',
    mappers,
    toMapper('oidc-advanced-group-idp-mapper', { group: '/realm-admins' }),
  )
  const permittedMapper = toMapper('oidc-hardcoded-role-idp-mapper', { role: 'offline_access' })
  const response = await as('manager', 'POST', mappers, permittedMapper)
  expect(response.status).toBe(201)
  const id = String(response.headers.location).split('/').at(-1)!
  const strongerMapper = { ...permittedMapper, id, config: { syncMode: 'INHERIT', role: 'administrator' } }
  await expectForbidden('manager', 'PUT', `${mappers}/${id}`, strongerMapper)
})
