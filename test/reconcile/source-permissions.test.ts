// Source permissions: which realms a source may declare, and which admin roles its documents may grant.
import { expect, test } from 'vitest'
import { planSources } from '../../src/reconcile/run/run.ts'
import { SYSTEM } from '../../src/service/context/service.ts'
import type { SourcePermissions } from '../../src/service/context/source-permissions.ts'
import { logInWithPassword } from '../support/password-login.ts'
import { testServer } from '../support/server.ts'
import { newName, testService } from '../support/service.ts'
import { applySource, createSource } from '../support/sources.ts'

const { call } = await testServer()
const { service } = await testService()

const declare = (realm: string, sourcePermissions: SourcePermissions, content: object) => ({
  ...createSource([{ realm, ...content }], `source-of-${realm}`),
  sourcePermissions,
})
const userWith = (...roles: string[]) => ({ username: 'ann', clientRoles: { 'realm-management': roles } })

test('a document that grants an admin role beyond its source permissions is refused, whatever object grants it', async () => {
  const realm = newName()
  const sourcePermissions: SourcePermissions = { roles: ['manage-users'] }
  await applySource(service, declare(realm, sourcePermissions, { users: [userWith('view-users', 'manage-users')] }))
  const grants = [
    { users: [userWith('manage-users', 'realm-admin')] },
    { roles: { realm: [{ name: 'strong', composites: { client: { 'realm-management': ['realm-admin'] } } }] } },
    { groups: [{ name: 'strong', clientRoles: { 'realm-management': ['realm-admin'] } }] },
    {
      clients: [{ clientId: 'narrow' }],
      clientScopeMappings: { 'realm-management': [{ client: 'narrow', roles: ['realm-admin'] }] },
    },
    ...['grant-role', 'revoke-role'].map((uses) => ({
      workflows: [{ name: 'strong', steps: [{ uses, with: { role: 'realm-management/realm-admin' } }] }],
    })),
  ]
  for (const grant of grants) {
    const attempt = declare(realm, sourcePermissions, grant)
    const problem = {
      position: { file: expect.any(String) },
      message: expect.stringContaining(`you lack realm-admin of ${realm}`),
    }
    await expect(applySource(service, attempt)).rejects.toMatchObject({ problems: [problem] })
    await expect(planSources(service, SYSTEM, [attempt])).rejects.toMatchObject({ problems: [problem] })
    await applySource(service, { ...attempt, sourcePermissions: { roles: ['realm-admin'] } })
    await applySource(service, declare(realm, {}, {}))
  }
})

test('a source with permissions for some realms cannot declare or rename another realm', async () => {
  const [permitted, other] = [newName(), newName()]
  const sourcePermissions: SourcePermissions = { realms: [permitted] }
  await applySource(service, declare(permitted, sourcePermissions, {}))
  await expect(applySource(service, declare(other, sourcePermissions, {}))).rejects.toMatchObject({
    problems: [
      {
        message: `source source-of-${other} is not permitted to declare realm ${other}. Permitted realms: ${permitted}.`,
      },
    ],
  })
  await applySource(service, declare(other, {}, {}))
  const newRealmName = newName()
  const renaming = {
    ...createSource([{ realm: newRealmName, renamedFrom: other }], 'renaming'),
    sourcePermissions: { realms: [newRealmName] },
  }
  await expect(applySource(service, renaming)).rejects.toMatchObject({
    problems: [
      { message: `source renaming is not permitted to declare realm ${other}. Permitted realms: ${newRealmName}.` },
    ],
  })
})

test('tokens of a declared client contain only the admin roles that its source may grant', async () => {
  const realm = newName()
  const client = { clientId: 'app', publicClient: true, directAccessGrantsEnabled: true }
  const chief = { ...userWith('realm-admin'), username: 'chief', enabled: true, email: 'chief@example.org' }
  const content = {
    users: [{ ...chief, firstName: 'A', lastName: 'B', credentials: [{ type: 'password', value: 'pw' }] }],
  }
  await applySource(service, createSource([{ realm, enabled: true, ...content }], `platform-of-${realm}`))
  const requestStatuses = async () => {
    const { status, body } = await logInWithPassword(realm, { clientId: 'app', username: 'chief', password: 'pw' })
    expect(status).toBe(200)
    const statuses = ['users', 'clients', 'components'].map(
      async (below) => (await call('GET', `/admin/realms/${realm}/${below}`, { token: body.access_token })).status,
    )
    return Promise.all(statuses)
  }
  await applySource(service, declare(realm, { roles: [] }, { clients: [client] }))
  expect(await requestStatuses()).toEqual([403, 403, 403])
  await applySource(
    service,
    declare(realm, { roles: ['manage-users'] }, { clients: [{ ...client, redirectUris: ['/x'] }] }),
  )
  expect(await requestStatuses()).toEqual([200, 200, 403])
  await applySource(service, declare(realm, {}, { clients: [{ ...client, redirectUris: ['/y'] }] }))
  expect(await requestStatuses()).toEqual([200, 200, 200])
})

test('a source that may not grant realm-admin cannot change redirect URIs of a client that administrators log in with', async () => {
  const realm = newName()
  await applySource(service, createSource([{ realm }], `platform-of-${realm}`))
  const attempt = (roles: SourcePermissions['roles'], client: object) =>
    applySource(service, declare(realm, { roles }, { clients: [{ clientId: 'security-admin-console', ...client }] }))
  const redirect = { redirectUris: ['https://evil.example/*'] }
  await expect(attempt(['manage-clients'], redirect)).rejects.toMatchObject({
    problems: [{ message: expect.stringContaining('Administrators log in with the client security-admin-console') }],
  })
  await attempt(['manage-clients'], { description: 'The console.' })
  await attempt(['realm-admin'], redirect)
})
