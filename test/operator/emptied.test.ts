// A cluster that loses everything while the operator runs: nothing is deleted, and when all is back nothing has happened.
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { openCluster } from '../../src/operator/cluster.ts'
import { type Service, SYSTEM } from '../../src/service/context/service.ts'
import { listPlans } from '../../src/service/sources/plans.ts'
import { sourcesOf } from '../../src/service/sources/sources.ts'
import { liveObject } from '../support/changes.ts'
import { type Kubernetes, openKubernetes } from '../support/kubernetes.ts'
import { newSpace, type Operated, operate, resource } from '../support/operated.ts'
import { canOwnCluster, type OwnCluster, onOwnCluster, ownCluster } from '../support/own-cluster.ts'
import { newName, testService } from '../support/service.ts'

/** Starting a cluster takes its time, and so does asking one that does not answer again. */
const until = (what: () => boolean) => vi.waitUntil(what, { timeout: 60_000 })

describe.skipIf(!canOwnCluster)(onOwnCluster, () => {
  let own: OwnCluster
  let service: Service
  let kubernetes: Kubernetes
  let operated: Operated
  const said: string[] = []
  beforeAll(async () => {
    ;({ service } = await testService())
    own = await ownCluster()
    kubernetes = await openKubernetes(own.config)
    operated = operate(service, { cluster: openCluster(own.config), say: (line) => said.push(line) })
  })
  afterAll(async () => {
    await operated?.stop()
    await own?.leave()
  })

  test('the guard holds, says so, and lets go when the resources are back', async () => {
    const [space, guest] = [await newSpace(kubernetes), await newSpace(kubernetes)]
    const realm = newName()
    const acme = resource('Realm', 'acme', { realm, allowedNamespaces: [{ name: guest.namespace }] })
    const shop = resource('RealmClient', 'shop', { realmRef: { name: 'acme' } })
    const portal = resource('RealmClient', 'portal', { realm, name: 'Portal' })
    await space.apply(acme)
    await space.apply(shop)
    await guest.apply(portal)
    await guest.stands(portal, 'True')
    await space.stands(shop, 'True')
    const applied = await service.read(SYSTEM, realm, sourcesOf)
    const ran = service.applies.changed
    const holds = async () => {
      for (const name of ['shop', 'portal'])
        expect(await liveObject(service, SYSTEM, realm, 'client', name)).toMatchObject({ key: [name] })
    }

    await own.stop()
    await own.startEmpty()
    await until(() => operated.failures.some((error) => String(error).includes('knows no RealmClient')))
    await holds()
    kubernetes = await openKubernetes(own.config)
    await until(() => said.some((line) => line.includes(`declares the realm ${realm} any more`)))
    await holds()

    for (const { namespace } of [guest, space])
      await kubernetes.ask('POST', '/api/v1/namespaces', { metadata: { name: namespace } })
    await guest.apply(portal)
    await guest.stands(portal, 'False', 'RealmNotFound')
    await space.apply(acme)
    await space.stands(acme, 'False', 'PendingApproval')
    await holds()
    await space.apply(shop)
    await space.stands(shop, 'True')
    await guest.stands(portal, 'True')
    expect(await service.read(SYSTEM, realm, sourcesOf)).toEqual(applied)
    expect(service.applies.changed).toBe(ran)
    expect((await listPlans(service, SYSTEM)).filter(({ realms }) => realms[0]?.name === realm)).toEqual([])

    await space.delete(acme, shop)
    await guest.delete(portal)
    await space.gone(shop)
    await space.gone(acme)
    await guest.gone(portal)
    expect(await service.find([realm])).toEqual([])
  })
})
