// Who decides how everybody gets in could get in as anybody: they must not be weaker than anybody in the realm.
import { generateKeyPairSync } from 'node:crypto'
import { expect, test } from 'vitest'
import { createAdminToken } from '../support/administrators.ts'
import { createAdminRealm } from '../support/realm-with-boss.ts'
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
const given = key('rsa', { privateKey: [privateKey] })
const mail = { smtpServer: { host: 'mine.example', from: 'a@mine.example' } }
const off = { requirement: 'DISABLED' }

test('keys, mail servers and flows are not decided by who is weaker than somebody of the realm', async () => {
  const { path, users: people, as, expectForbidden } = await createAdminRealm({ manager: 'manage-realm' })
  const copy = { newName: 'mine' }
  expect((await as('manager', 'POST', 'authentication/flows/browser/copy', copy)).status).toBe(201)
  const [step] = (await as('manager', 'GET', 'authentication/flows/mine/executions')).body
  const changed = ['authentication/flows/mine/executions', { ...step, ...off }] as const
  const attempts: [method: string, address: string, body: object][] = [
    ['POST', 'components', given],
    ['PUT', '', mail],
    ['PUT', '', { browserFlow: 'registration' }],
    ['PUT', ...changed],
  ]
  for (const attempt of attempts) await expectForbidden('manager', ...attempt)
  expect((await as('manager', 'POST', 'components', key('rsa-generated', {}))).status).toBe(201)
  expect((await as('manager', 'PUT', '', { displayName: 'Ours' })).status).toBe(204)

  // Where nobody is stronger, it is as at the reference server.
  await call('DELETE', `${path}/users/${people.boss}`)
  for (const attempt of attempts) expect((await as('manager', ...attempt)).status).toBeOneOf([201, 202, 204])
})

test('who makes a realm lets it begin with people who administer as much as they will themselves', async () => {
  const token = await createAdminToken('master', { realmRoles: ['create-realm'] })
  const realm = newName()
  const withAnn = (...roles: string[]) => ({
    realm,
    users: [{ username: 'ann', clientRoles: { 'realm-management': roles } }],
  })
  const refused = await call('POST', '/admin/realms', { token, body: withAnn('impersonation') })
  expect(refused.status).toBe(403)
  const made = await call('POST', '/admin/realms', { token, body: withAnn('manage-users') })
  expect(made.status).toBe(201)
})
