// Deletion of a Realm: a realm without users is deleted, one with users stays live until its deletion is approved. Nothing waits for that.
import { describe, expect, test } from 'vitest'
import { SYSTEM } from '../../src/service/context/service.ts'
import { listSavedPlans } from '../../src/service/sources/saved-plans.ts'
import { hasKubernetes, onKubernetes } from '../support/kubernetes.ts'
import { testServer } from '../support/server.ts'
import { newName } from '../support/service.ts'
import { createNamespace, resource, setUpOperator, waitUntil } from '../support/test-operator.ts'

describe.skipIf(!hasKubernetes)(onKubernetes, () => {
  const setup = setUpOperator()

  test('a namespace with a realm is deleted at once; users of the realm remain until its deletion is approved', async () => {
    const [space, tenant] = [await createNamespace(setup.kubernetes), await createNamespace(setup.kubernetes)]
    const [realm, empty] = [newName(), newName()]
    const acme = resource('Realm', 'acme', { realm, allowedNamespaces: [{ name: tenant.namespace }] })
    const other = resource('Realm', 'other', { realm: empty })
    const realmRef = { name: 'acme', namespace: space.namespace }
    const [shop, app] = [resource('RealmClient', 'shop', { realmRef }), resource('RealmClient', 'app', { realmRef })]
    for (const item of [acme, other, shop]) await space.apply(item)
    await tenant.apply(app)
    for (const item of [acme, other, shop]) await space.waitForReady(item, 'True')
    await tenant.waitForReady(app, 'True')
    const { create, call } = await testServer()
    await create(`/admin/realms/${realm}/users`, { username: 'ann', enabled: true })
    await setup.kubernetes.request('DELETE', `/api/v1/namespaces/${space.namespace}`)
    await waitUntil(async () => {
      const { status } = await setup.kubernetes.request('GET', `/api/v1/namespaces/${space.namespace}`)
      return status === 404
    })
    expect((await setup.service.findRealms([realm, empty])).map(({ name }) => name)).toEqual([realm])
    expect((await call('GET', `/admin/realms/${realm}/users?username=ann`)).body).toHaveLength(1)
    // The tenant can still be deleted.
    await tenant.delete(app)
    await tenant.waitForDeletion(app)
    const findPlan = async () =>
      (await listSavedPlans(setup.service, SYSTEM)).find(({ realms }) => realms[0]?.name === realm)
    await waitUntil(async () => (await findPlan())?.realms[0]?.guards[0]?.guard === 'deletesRealm')
    const plan = (await findPlan())!
    const approval = await call('POST', `/regent/v1/plans/${plan.id}/approve`)
    expect(approval.status).toBe(200)
    await waitUntil(async () => (await setup.service.findRealms([realm])).length === 0)
  })
})
