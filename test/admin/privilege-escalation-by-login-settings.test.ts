// A caller who controls the login of a realm could log in as any user, so changing it requires the admin permissions of every user.
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
const toKeyProvider = (providerId: string, config: object) => ({
  name: providerId,
  providerId,
  providerType: 'org.keycloak.keys.KeyProvider',
  config,
})
const rsaKeyProvider = toKeyProvider('rsa', { privateKey: [privateKey] })
const mailServer = { smtpServer: { host: 'evil.example', from: 'a@evil.example' } }

test('changing keys, the mail server or flows returns 403 for a caller who is weaker than a user of the realm', async () => {
  const { path, users: userIds, as, expectForbidden } = await createAdminRealm({ manager: 'manage-realm' })
  const copy = { newName: 'custom' }
  expect((await as('manager', 'POST', 'authentication/flows/browser/copy', copy)).status).toBe(201)
  const [execution] = (await as('manager', 'GET', 'authentication/flows/custom/executions')).body
  const disabling = ['authentication/flows/custom/executions', { ...execution, requirement: 'DISABLED' }] as const
  const attempts: [method: string, address: string, body: object][] = [
    ['POST', 'components', rsaKeyProvider],
    ['PUT', '', mailServer],
    ['PUT', '', { browserFlow: 'registration' }],
    ['PUT', ...disabling],
  ]
  for (const attempt of attempts) await expectForbidden('manager', ...attempt)
  expect((await as('manager', 'POST', 'components', toKeyProvider('rsa-generated', {}))).status).toBe(201)
  expect((await as('manager', 'PUT', '', { displayName: 'Example' })).status).toBe(204)

  // Without a stronger user, manage-realm is enough, as in Keycloak.
  await call('DELETE', `${path}/users/${userIds.admin}`)
  for (const attempt of attempts) expect((await as('manager', ...attempt)).status).toBeOneOf([201, 202, 204])
})

test('a new realm may declare users with only the admin permissions that its creator gets', async () => {
  const token = await createAdminToken('master', { realmRoles: ['create-realm'] })
  const realm = newName()
  const createBody = (...roles: string[]) => ({
    realm,
    users: [{ username: 'ann', clientRoles: { 'realm-management': roles } }],
  })
  const refusal = await call('POST', '/admin/realms', { token, body: createBody('impersonation') })
  expect(refusal.status).toBe(403)
  const response = await call('POST', '/admin/realms', { token, body: createBody('manage-users') })
  expect(response.status).toBe(201)
})
