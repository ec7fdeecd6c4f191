// Nobody takes the place of somebody who may administer more: by what they log in with, or by speaking for them.
import { expect, test } from 'vitest'
import { SYSTEM } from '../../src/service/context/service.ts'
import { users } from '../../src/service/users/users.ts'
import { createAdminRealm } from '../support/realm-with-boss.ts'
import { testServer } from '../support/server.ts'
import { testService } from '../support/service.ts'

const { call, make } = await testServer()
const { service } = await testService()

const otp = {
  id: 'codes-of-the-boss',
  type: 'otp',
  secretData: '{"value":"abcdefghij"}',
  credentialData: '{"subType":"totp","digits":6,"period":30,"algorithm":"HmacSHA1"}',
}

test('what a stronger account is known by is not changed, and it is not impersonated', async () => {
  const { path, name, users: people, as, expectForbidden } = await createAdminRealm({
    manager: 'manage-users impersonation',
    weak: 'view-users',
  })
  const boss = `users/${people.boss}`
  await service.write(SYSTEM, name, async (context) => {
    const found = await users.list(context, { ids: [people.boss!] })
    await users.update(context, [{ live: found[0]!, set: { credentials: [otp] } }])
  })
  await make(`${path}/identity-provider/instances`, { alias: 'elsewhere', providerId: 'github' })
  const password = { type: 'password', value: 'new' }
  await expectForbidden('manager', 'PUT', `${boss}/reset-password`, password)
  await expectForbidden('manager', 'PUT', boss, { credentials: [password] })
  await expectForbidden('manager', 'PUT', boss, { email: 'mine@example.org' })
  await expectForbidden('manager', 'POST', `${boss}/federated-identity/elsewhere`, { userId: 'mine' })
  await expectForbidden('manager', 'DELETE', `${boss}/credentials/${otp.id}`)
  await expectForbidden('manager', 'PUT', `${boss}/remove-totp`)
  await expectForbidden('manager', 'POST', `${boss}/impersonation`)
  expect((await as('manager', 'PUT', boss, { firstName: 'Other', enabled: false })).status).toBe(204)
  await expectForbidden('manager', 'PUT', boss, { enabled: true })
  expect((await call('GET', `${path}/${boss}/credentials`)).body).toHaveLength(2)

  const weak = `users/${people.weak}`
  expect((await as('manager', 'PUT', `${weak}/reset-password`, password)).status).toBe(204)
  expect((await as('manager', 'PUT', weak, { email: 'new@example.org' })).status).toBe(204)
  const link = await as('manager', 'POST', `${weak}/federated-identity/elsewhere`, { userId: 'theirs' })
  expect(link.status).toBe(204)
  expect((await as('manager', 'POST', `${weak}/impersonation`)).status).toBe(200)
})

test('who manages identity providers speaks for nobody stronger, and gives no role by mappers', async () => {
  const { path, users: people, as, expectForbidden } = await createAdminRealm({ manager: 'manage-identity-providers' })
  const provider = { providerId: 'github', enabled: true, config: { clientId: 'a', clientSecret: 'b' } }
  await make(`${path}/identity-provider/instances`, { ...provider, alias: 'of-the-boss' })
  const link = `${path}/users/${people.boss}/federated-identity/of-the-boss`
  expect((await call('POST', link, { body: { userId: 'boss' } })).status).toBe(204)
  const other = { ...provider, config: { clientId: 'mine', clientSecret: 'mine' } }
  const changed = (alias: string) => [`identity-provider/instances/${alias}`, { ...other, alias }] as const
  await expectForbidden('manager', 'PUT', ...changed('of-the-boss'))
  expect((await as('manager', 'POST', 'identity-provider/instances', { ...provider, alias: 'free' })).status).toBe(201)
  expect((await as('manager', 'PUT', ...changed('free'))).status).toBe(204)

  const mappers = 'identity-provider/instances/free/mappers'
  const mapper = (type: string, config: object) => ({
    name: type,
    identityProviderAlias: 'free',
    identityProviderMapper: type,
    config: { syncMode: 'INHERIT', ...config },
  })
  await expectForbidden('manager', 'POST', mappers, mapper('oidc-hardcoded-role-idp-mapper', { role: 'powerful' }))
  const byClient = mapper('oidc-hardcoded-role-idp-mapper', { role: 'realm-management.realm-admin' })
  expect((await as('manager', 'POST', mappers, byClient)).status).toBe(403)
  await expectForbidden('manager', 'POST', mappers, mapper('oidc-advanced-group-idp-mapper', { group: '/bosses' }))
  const harmless = mapper('oidc-hardcoded-role-idp-mapper', { role: 'offline_access' })
  const made = await as('manager', 'POST', mappers, harmless)
  expect(made.status).toBe(201)
  const id = String(made.headers.location).split('/').at(-1)!
  const stronger = { ...harmless, id, config: { syncMode: 'INHERIT', role: 'powerful' } }
  await expectForbidden('manager', 'PUT', `${mappers}/${id}`, stronger)
})
