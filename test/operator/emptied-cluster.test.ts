// A cluster that loses everything while the operator runs: nothing is deleted, and when all is back nothing has happened.
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { openCluster } from '../../src/operator/cluster.ts'
import { type Service, SYSTEM } from '../../src/service/context/service.ts'
import { listSavedPlans } from '../../src/service/sources/saved-plans.ts'
import { listRealmSources } from '../../src/service/sources/source-records.ts'
import { type Kubernetes, openKubernetes } from '../support/kubernetes.ts'
import { getLiveObject } from '../support/live-objects.ts'
import { hasOwnCluster, type OwnCluster, onOwnCluster, startOwnCluster } from '../support/own-cluster.ts'
import { newName, testService } from '../support/service.ts'
import { createNamespace, resource, startOperator, type TestOperator } from '../support/test-operator.ts'

/** Starting a cluster takes its time, and so does asking one that does not answer again. */
const until = (what: () => boolean) => vi.waitUntil(what, { timeout: 60_000 })

describe.skipIf(!hasOwnCluster)(onOwnCluster, () => {
  let own: OwnCluster
  let service: Service
  let kubernetes: Kubernetes
  let operated: TestOperator
  const said: string[] = []
  beforeAll(async () => {
    ;({ service } = await testService())
    own = await startOwnCluster()
    kubernetes = await openKubernetes(own.config)
    operated = startOperator(service, { cluster: openCluster(own.config), say: (line) => said.push(line) })
  })
  afterAll(async () => {
    await operated?.stop()
    await own?.remove()
  })

  test('the guard holds, says so, and lets go when the resources are back', async () => {
    const [space, guest] = [await createNamespace(kubernetes), await createNamespace(kubernetes)]
    const realm = newName()
    const acme = resource('Realm', 'acme', { realm, allowedNamespaces: [{ name: guest.namespace }] })
    const shop = resource('RealmClient', 'shop', { realmRef: { name: 'acme' } })
    const portal = resource('RealmClient', 'portal', { realm, name: 'Portal' })
    await space.apply(acme)
    await space.apply(shop)
    await guest.apply(portal)
    await guest.waitForReady(portal, 'True')
    await space.waitForReady(shop, 'True')
    const applied = await service.read(SYSTEM, realm, listRealmSources)
    const ran = service.applyCounts.changed
    const holds = async () => {
      for (const name of ['shop', 'portal'])
        expect(await getLiveObject(service, SYSTEM, realm, 'client', name)).toMatchObject({ key: [name] })
    }

    await own.stop()
    await own.startEmpty()
    await until(() => operated.failures.some((error) => String(error).includes('knows no RealmClient')))
    await holds()
    kubernetes = await openKubernetes(own.config)
    await until(() => said.some((line) => line.includes(`declares the realm ${realm} any more`)))
    await holds()

    for (const { namespace } of [guest, space])
      await kubernetes.request('POST', '/api/v1/namespaces', { metadata: { name: namespace } })
    await guest.apply(portal)
    await guest.waitForReady(portal, 'False', 'RealmNotFound')
    await space.apply(acme)
    await space.waitForReady(acme, 'False', 'PendingApproval')
    await holds()
    await space.apply(shop)
    await space.waitForReady(shop, 'True')
    await guest.waitForReady(portal, 'True')
    expect(await service.read(SYSTEM, realm, listRealmSources)).toEqual(applied)
    expect(service.applyCounts.changed).toBe(ran)
    expect((await listSavedPlans(service, SYSTEM)).filter(({ realms }) => realms[0]?.name === realm)).toEqual([])

    await space.delete(acme, shop)
    await guest.delete(portal)
    await space.waitForDeletion(shop)
    await space.waitForDeletion(acme)
    await guest.waitForDeletion(portal)
    expect(await service.findRealms([realm])).toEqual([])
  })
})
