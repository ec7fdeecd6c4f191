// What a source may touch, and which administrative power its documents give at most.
import { expect, test } from 'vitest'
import { planSources } from '../../src/reconcile/run.ts'
import type { Ceiling } from '../../src/service/power.ts'
import { SYSTEM } from '../../src/service/service.ts'
import { applyAs, source } from '../support/reconcile.ts'
import { newName, testService } from '../support/service.ts'

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
