// What a source may touch, and which administrative power its documents give at most.
import { expect, test } from 'vitest'
import { planSources } from '../../src/reconcile/run/run.ts'
import type { SourcePermissions } from '../../src/service/context/admin-permissions.ts'
import { SYSTEM } from '../../src/service/context/service.ts'
import { testServer } from '../support/server.ts'
import { newName, testService } from '../support/service.ts'
import { applySource, createSource } from '../support/sources.ts'

const { call } = await testServer()
const { service } = await testService()

const stated = (realm: string, ceiling: SourcePermissions, content: object) => ({
  ...createSource([{ realm, ...content }], `source-of-${realm}`),
  sourcePermissions: ceiling,
})
const person = (...roles: string[]) => ({ username: 'ann', clientRoles: { 'realm-management': roles } })

test('a source gives nobody more power than its limit, and is told who would get it', async () => {
  const realm = newName()
  const limit: SourcePermissions = { roles: ['manage-users'] }
  await applySource(service, stated(realm, limit, { users: [person('view-users', 'manage-users')] }))
  const ways = [
    { users: [person('manage-users', 'realm-admin')] },
    { roles: { realm: [{ name: 'strong', composites: { client: { 'realm-management': ['realm-admin'] } } }] } },
    { groups: [{ name: 'strong', clientRoles: { 'realm-management': ['realm-admin'] } }] },
    {
      clients: [{ clientId: 'narrow' }],
      clientScopeMappings: { 'realm-management': [{ client: 'narrow', roles: ['realm-admin'] }] },
    },
  ]
  for (const way of ways) {
    const attempt = stated(realm, limit, way)
    const problem = {
      position: { file: expect.any(String) },
      message: expect.stringContaining(`you lack realm-admin of ${realm}`),
    }
    await expect(applySource(service, attempt)).rejects.toMatchObject({ problems: [problem] })
    await expect(planSources(service, SYSTEM, [attempt])).rejects.toMatchObject({ problems: [problem] })
    await applySource(service, { ...attempt, sourcePermissions: { roles: ['realm-admin'] } })
    await applySource(service, stated(realm, {}, {}))
  }
})

test('a source that is limited to some realms touches no other one', async () => {
  const [own, other] = [newName(), newName()]
  const limit: SourcePermissions = { realms: [own] }
  await applySource(service, stated(own, limit, {}))
  await expect(applySource(service, stated(other, limit, {}))).rejects.toMatchObject({
    problems: [
      { message: `source source-of-${other} is not permitted to declare realm ${other}. Permitted realms: ${own}.` },
    ],
  })
  await applySource(service, stated(other, {}, {}))
  const taken = newName()
  const renaming = {
    ...createSource([{ realm: taken, renamedFrom: other }], 'thief'),
    sourcePermissions: { realms: [taken] },
  }
  await expect(applySource(service, renaming)).rejects.toMatchObject({
    problems: [{ message: `source thief is not permitted to declare realm ${other}. Permitted realms: ${taken}.` }],
  })
})

test('tokens of a client that a source declares carry the administrative roles that the source may give', async () => {
  const realm = newName()
  const client = { clientId: 'app', publicClient: true, directAccessGrantsEnabled: true }
  const boss = { ...person('realm-admin'), username: 'boss', enabled: true, email: 'boss@example.org' }
  const content = {
    users: [{ ...boss, firstName: 'A', lastName: 'B', credentials: [{ type: 'password', value: 'pw' }] }],
  }
  await applySource(service, createSource([{ realm, enabled: true, ...content }], `platform-of-${realm}`))
  const opened = async () => {
    const { status, body } = await call('POST', `/realms/${realm}/protocol/openid-connect/token`, {
      token: null,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: 'grant_type=password&client_id=app&username=boss&password=pw',
    })
    expect(status).toBe(200)
    const statuses = ['users', 'clients', 'components'].map(
      async (below) => (await call('GET', `/admin/realms/${realm}/${below}`, { token: body.access_token })).status,
    )
    return Promise.all(statuses)
  }
  await applySource(service, stated(realm, { roles: [] }, { clients: [client] }))
  expect(await opened()).toEqual([403, 403, 403])
  await applySource(service, stated(realm, { roles: ['manage-users'] }, { clients: [{ ...client, description: 'x' }] }))
  expect(await opened()).toEqual([200, 200, 403])
  await applySource(service, stated(realm, {}, { clients: [{ ...client, description: 'y' }] }))
  expect(await opened()).toEqual([200, 200, 200])
})

test('a source that may not give all of a realm does not change clients by which administrators log in', async () => {
  const realm = newName()
  await applySource(service, createSource([{ realm }], `platform-of-${realm}`))
  const attempt = (roles: SourcePermissions['roles'], client: object) =>
    applySource(service, stated(realm, { roles }, { clients: [{ clientId: 'security-admin-console', ...client }] }))
  const redirect = { redirectUris: ['https://evil.example/*'] }
  await expect(attempt(['manage-clients'], redirect)).rejects.toMatchObject({
    problems: [{ message: expect.stringContaining('Administrators log in with the client security-admin-console') }],
  })
  await attempt(['manage-clients'], { description: 'The console.' })
  await attempt(['realm-admin'], redirect)
})
