// A cluster that loses all its data while the operator runs.
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { connectToCluster } from '../../src/operator/cluster/cluster-client.ts'
import { type Service, SYSTEM } from '../../src/service/context/service.ts'
import { listSavedPlans } from '../../src/service/sources/saved-plans.ts'
import { listRealmSources } from '../../src/service/sources/source-records.ts'
import { type Kubernetes, openKubernetes } from '../support/kubernetes.ts'
import { getLiveObject } from '../support/live-objects.ts'
import { hasOwnCluster, type OwnCluster, onOwnCluster, startOwnCluster } from '../support/own-cluster.ts'
import { newName, testService } from '../support/service.ts'
import { createNamespace, resource, startOperator, type TestOperator } from '../support/test-operator.ts'

/** Waits as long as a cluster needs to start and the operator to retry. */
const waitUntil = (condition: () => boolean) => vi.waitUntil(condition, { timeout: 60_000 })

describe.skipIf(!hasOwnCluster)(onOwnCluster, () => {
  let ownCluster: OwnCluster
  let service: Service
  let kubernetes: Kubernetes
  let operator: TestOperator
  const messages: string[] = []
  beforeAll(async () => {
    ;({ service } = await testService())
    ownCluster = await startOwnCluster()
    kubernetes = await openKubernetes(ownCluster.config)
    operator = startOperator(service, {
      cluster: connectToCluster(ownCluster.config),
      log: (line) => messages.push(line),
    })
  })
  afterAll(async () => {
    await operator?.stop()
    await ownCluster?.remove()
  })

  test('no object is deleted when the cluster loses its resources, and nothing is written when they are back', async () => {
    const [space, tenant] = [await createNamespace(kubernetes), await createNamespace(kubernetes)]
    const realm = newName()
    const acme = resource('Realm', 'acme', { realm, allowedNamespaces: [{ name: tenant.namespace }] })
    const shop = resource('RealmClient', 'shop', { realmRef: { name: 'acme' } })
    const portal = resource('RealmClient', 'portal', { realm, name: 'Portal' })
    await space.apply(acme)
    await space.apply(shop)
    await tenant.apply(portal)
    await tenant.waitForReady(portal, 'True')
    await space.waitForReady(shop, 'True')
    const applied = await service.read(SYSTEM, realm, listRealmSources)
    const changesBefore = service.applyCounts.changed
    const expectObjects = async () => {
      for (const name of ['shop', 'portal'])
        expect(await getLiveObject(service, SYSTEM, realm, 'client', name)).toMatchObject({ key: [name] })
    }

    await ownCluster.stop()
    await ownCluster.startEmpty()
    await waitUntil(() => operator.failures.some((error) => String(error).includes('does not serve RealmClient')))
    await expectObjects()
    kubernetes = await openKubernetes(ownCluster.config)
    await waitUntil(() => messages.some((line) => line.includes(`declares the realm ${realm} any more`)))
    await expectObjects()

    for (const { namespace } of [tenant, space])
      await kubernetes.request('POST', '/api/v1/namespaces', { metadata: { name: namespace } })
    await tenant.apply(portal)
    await tenant.waitForReady(portal, 'False', 'RealmNotFound')
    await space.apply(acme)
    await space.waitForReady(acme, 'False', 'PendingApproval')
    await expectObjects()
    await space.apply(shop)
    await space.waitForReady(shop, 'True')
    await tenant.waitForReady(portal, 'True')
    expect(await service.read(SYSTEM, realm, listRealmSources)).toEqual(applied)
    expect(service.applyCounts.changed).toBe(changesBefore)
    expect((await listSavedPlans(service, SYSTEM)).filter(({ realms }) => realms[0]?.name === realm)).toEqual([])

    await space.delete(acme, shop)
    await tenant.delete(portal)
    await space.waitForDeletion(shop)
    await space.waitForDeletion(acme)
    await tenant.waitForDeletion(portal)
    expect(await service.findRealms([realm])).toEqual([])
  })
})
