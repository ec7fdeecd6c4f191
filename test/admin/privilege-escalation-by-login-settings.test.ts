// A caller who controls the login of a realm could log in as any user, so no user may have more admin permissions.
import { generateKeyPairSync } from 'node:crypto'
import { expect, test } from 'vitest'
import { createAdminRealm } from '../support/admin-realm.ts'
import { createAdminToken } from '../support/admin-tokens.ts'
import { testServer } from '../support/server.ts'
import { newName } from '../support/service.ts'

const { call } = await testServer()

const privateKey = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({
  type: 'pkcs1',
  format: 'pem',
})
const key = (providerId: string, config: object) => ({
  name: providerId,
  providerId,
  providerType: 'org.keycloak.keys.KeyProvider',
  config,
})
const providedKey = key('rsa', { privateKey: [privateKey] })
const mail = { smtpServer: { host: 'mine.example', from: 'a@mine.example' } }
const off = { requirement: 'DISABLED' }

test('keys, mail servers and flows are not changed by a caller who is weaker than a user of the realm', async () => {
  const { path, users: userIds, as, expectForbidden } = await createAdminRealm({ manager: 'manage-realm' })
  const copy = { newName: 'mine' }
  expect((await as('manager', 'POST', 'authentication/flows/browser/copy', copy)).status).toBe(201)
  const [step] = (await as('manager', 'GET', 'authentication/flows/mine/executions')).body
  const changed = ['authentication/flows/mine/executions', { ...step, ...off }] as const
  const attempts: [method: string, address: string, body: object][] = [
    ['POST', 'components', providedKey],
    ['PUT', '', mail],
    ['PUT', '', { browserFlow: 'registration' }],
    ['PUT', ...changed],
  ]
  for (const attempt of attempts) await expectForbidden('manager', ...attempt)
  expect((await as('manager', 'POST', 'components', key('rsa-generated', {}))).status).toBe(201)
  expect((await as('manager', 'PUT', '', { displayName: 'Ours' })).status).toBe(204)

  // Where nobody is stronger, it is as at the reference server.
  await call('DELETE', `${path}/users/${userIds.admin}`)
  for (const attempt of attempts) expect((await as('manager', ...attempt)).status).toBeOneOf([201, 202, 204])
})

test('a new realm may contain users with the admin permissions that its creator gets', async () => {
  const token = await createAdminToken('master', { realmRoles: ['create-realm'] })
  const realm = newName()
  const withAnn = (...roles: string[]) => ({
    realm,
    users: [{ username: 'ann', clientRoles: { 'realm-management': roles } }],
  })
  const refused = await call('POST', '/admin/realms', { token, body: withAnn('impersonation') })
  expect(refused.status).toBe(403)
  const response = await call('POST', '/admin/realms', { token, body: withAnn('manage-users') })
  expect(response.status).toBe(201)
})
