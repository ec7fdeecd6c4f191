// What a source may touch, and which administrative power its documents give at most.
import { expect, test } from 'vitest'
import { planSources } from '../../src/reconcile/run/run.ts'
import type { Ceiling } from '../../src/service/context/power.ts'
import { SYSTEM } from '../../src/service/context/service.ts'
import { applyAs, source } from '../support/reconcile.ts'
import { testServer } from '../support/server.ts'
import { newName, testService } from '../support/service.ts'

const { call } = await testServer()
const { service } = await testService()

const stated = (realm: string, ceiling: Ceiling, content: object) => ({
  ...source([{ realm, ...content }], `source-of-${realm}`),
  ceiling,
})
const person = (...roles: string[]) => ({ username: 'ann', clientRoles: { 'realm-management': roles } })

test('a source gives nobody more power than its limit, and is told who would get it', async () => {
  const realm = newName()
  const limit: Ceiling = { roles: ['manage-users'] }
  await applyAs(service, stated(realm, limit, { users: [person('view-users', 'manage-users')] }))
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
    await expect(applyAs(service, attempt)).rejects.toMatchObject({ problems: [problem] })
    await expect(planSources(service, SYSTEM, [attempt])).rejects.toMatchObject({ problems: [problem] })
    await applyAs(service, { ...attempt, ceiling: { roles: ['realm-admin'] } })
    await applyAs(service, stated(realm, {}, {}))
  }
})

test('a source that is limited to some realms touches no other one', async () => {
  const [own, other] = [newName(), newName()]
  const limit: Ceiling = { realms: [own] }
  await applyAs(service, stated(own, limit, {}))
  await expect(applyAs(service, stated(other, limit, {}))).rejects.toMatchObject({
    problems: [{ message: `the source source-of-${other} may not touch the realm ${other}: its limit is ${own}` }],
  })
  await applyAs(service, stated(other, {}, {}))
  const taken = newName()
  const renaming = { ...source([{ realm: taken, renamedFrom: other }], 'thief'), ceiling: { realms: [taken] } }
  await expect(applyAs(service, renaming)).rejects.toMatchObject({
    problems: [{ message: `the source thief may not touch the realm ${other}: its limit is ${taken}` }],
  })
})

test('tokens of a client that a source declares carry the administrative roles that the source may give', async () => {
  const realm = newName()
  const client = { clientId: 'app', publicClient: true, directAccessGrantsEnabled: true }
  const boss = { ...person('realm-admin'), username: 'boss', enabled: true, email: 'boss@example.org' }
  const content = {
    users: [{ ...boss, firstName: 'A', lastName: 'B', credentials: [{ type: 'password', value: 'pw' }] }],
  }
  await applyAs(service, source([{ realm, enabled: true, ...content }], `platform-of-${realm}`))
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
  await applyAs(service, stated(realm, { roles: [] }, { clients: [client] }))
  expect(await opened()).toEqual([403, 403, 403])
  await applyAs(service, stated(realm, { roles: ['manage-users'] }, { clients: [{ ...client, description: 'x' }] }))
  expect(await opened()).toEqual([200, 200, 403])
  await applyAs(service, stated(realm, {}, { clients: [{ ...client, description: 'y' }] }))
  expect(await opened()).toEqual([200, 200, 200])
})

test('a source that may not give all of a realm does not change clients by which administrators log in', async () => {
  const realm = newName()
  await applyAs(service, source([{ realm }], `platform-of-${realm}`))
  const attempt = (roles: Ceiling['roles'], client: object) =>
    applyAs(service, stated(realm, { roles }, { clients: [{ clientId: 'security-admin-console', ...client }] }))
  const redirect = { redirectUris: ['https://evil.example/*'] }
  await expect(attempt(['manage-clients'], redirect)).rejects.toMatchObject({
    problems: [{ message: expect.stringContaining('administrators log in by client security-admin-console') }],
  })
  await attempt(['manage-clients'], { description: 'The console.' })
  await attempt(['realm-admin'], redirect)
})
