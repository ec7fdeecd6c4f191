// A cluster that restarts, and one that loses all its data, while the operator runs.
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { ClusterError, ClusterUnreachable, connectToCluster } from '../../src/operator/cluster/cluster-client.ts'
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
  /** The messages about the API server. Others are about realms of other tests in the store, which no resource of this cluster declares. */
  const listOutages = () => messages.filter((line) => line.startsWith('The API server'))
  beforeAll(async () => {
    ;({ service } = await testService())
    ownCluster = await startOwnCluster()
    kubernetes = await openKubernetes(ownCluster.config)
    operator = startOperator(service, {
      cluster: connectToCluster(ownCluster.config, (line) => messages.push(line)),
      log: (line) => messages.push(line),
    })
  })
  afterAll(async () => {
    await operator?.stop()
    await ownCluster?.remove()
  })

  test('a restart of the API server is logged once when it begins and once when it ends, and resources are applied again', async () => {
    const space = await createNamespace(kubernetes)
    const acme = (displayName: string) => resource('Realm', 'acme', { realm, displayName })
    const realm = newName()
    await space.apply(acme('One'))
    await space.waitForReady(acme(''), 'True')
    await ownCluster.stop()
    await waitUntil(() => listOutages().length > 0)
    await ownCluster.start()
    await waitUntil(() => listOutages().length > 1)
    await space.apply(acme('Two'))
    await space.waitForReady(acme(''), 'True')
    expect(listOutages()).toEqual([
      expect.stringMatching(/^The API server https:\S+ does not respond: /),
      expect.stringMatching(/^The API server https:\S+ responds again\.$/),
    ])
    // The server prints no stack of these.
    const isHandled = (error: unknown) => error instanceof ClusterUnreachable || error instanceof ClusterError
    expect(operator.failures.filter((error) => !isHandled(error))).toEqual([])
    expect(operator.failures.map(String).filter((text) => text.includes('too old resource version'))).toEqual([])
    await space.delete(acme(''))
    await space.waitForDeletion(acme(''))
    messages.length = 0
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
