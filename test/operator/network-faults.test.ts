// The operator behind a network that fails: each fault by itself does no more than take time.
import { afterAll, afterEach, beforeAll, describe, expect, inject, test, vi } from 'vitest'
import { openCluster } from '../../src/operator/cluster.ts'
import { type Service, SYSTEM } from '../../src/service/context/service.ts'
import { FAULTS, type Fault, type FaultProxy, injectTimes, openFaultProxy } from '../support/fault-proxy.ts'
import { hasKubernetes, type Kubernetes, onKubernetes, openKubernetes } from '../support/kubernetes.ts'
import { getLiveObject, listLiveObjects } from '../support/live-objects.ts'
import { newName, openNewService } from '../support/service.ts'
import {
  createNamespace,
  resource,
  startOperator,
  stopTestOperator,
  type TestOperator,
} from '../support/test-operator.ts'

/** What a person may be told of; the others pass without a word. */
const told: readonly Fault[] = ['halved', 'ended', 'responseLost', 'broken', 'refused']

describe.skipIf(!hasKubernetes)(onKubernetes, () => {
  let service: Service
  let kubernetes: Kubernetes
  let proxy: FaultProxy
  let operated: TestOperator
  beforeAll(async () => {
    // Not the worker's: others may apply something to that, and each apply is counted here.
    service = await openNewService()
    await service.createRealm(SYSTEM, { representation: { realm: 'master' } }, async () => {})
    kubernetes = await openKubernetes()
  })
  afterEach(async () => {
    await operated.stop()
    await proxy.close()
  })
  afterAll(async () => {
    if (kubernetes) await stopTestOperator(kubernetes, startOperator(service))
    await service.close()
  })

  // The silent one takes as long as a watch may be silent: a campaign has the time.
  const faults = (Object.keys(FAULTS) as Fault[]).filter((fault) => fault !== 'silent')

  test.for(faults)('%s: everything becomes live, once, and lets go', async (fault) => {
    const space = await createNamespace(kubernetes)
    const realm = newName()
    proxy = await openFaultProxy(inject('operatorConfig'))
    proxy.inject(injectTimes(fault, 5))
    operated = startOperator(service, { cluster: openCluster(proxy.config) })
    const applied = service.applyCounts.changed
    const acme = resource('Realm', 'acme', { realm })
    const shop = (name: string) => resource('RealmClient', 'shop', { realmRef: { name: 'acme' }, name })
    for (const one of [acme, shop('One'), shop('Two')]) {
      await space.apply(one)
      await space.waitForReady(one, 'True')
    }
    const { representation } = await getLiveObject(service, SYSTEM, realm, 'client', 'shop')
    expect(representation).toMatchObject({ name: 'Two' })
    for (const one of [shop(''), acme]) {
      await space.delete(one)
      await space.waitForDeletion(one)
    }
    expect(await service.findRealms([realm])).toEqual([])
    expect(service.applyCounts.changed - applied).toBe(5)
    expect([...proxy.injected]).toEqual([[fault, 5]])
    if (!told.includes(fault)) expect(operated.failures).toEqual([])
  })

  test('a resource is held before what it states is live', async () => {
    const space = await createNamespace(kubernetes)
    const realm = newName()
    proxy = await openFaultProxy(inject('operatorConfig'))
    let thereAtFirst: Promise<unknown[]> | undefined
    proxy.inject((moment) => {
      if (moment === 'write') thereAtFirst ??= service.findRealms([realm])
      return undefined
    })
    operated = startOperator(service, { cluster: openCluster(proxy.config) })
    const acme = resource('Realm', 'acme', { realm })
    await space.apply(acme)
    await space.waitForReady(acme, 'True')
    expect(await thereAtFirst).toEqual([])
  })

  test('what cannot be held is not applied, and may be deleted before it can be', async () => {
    const space = await createNamespace(kubernetes)
    const realm = newName()
    proxy = await openFaultProxy(inject('operatorConfig'))
    operated = startOperator(service, { cluster: openCluster(proxy.config) })
    const acme = resource('Realm', 'acme', { realm })
    const client = (name: string) => resource('RealmClient', name, { realmRef: { name: 'acme' } })
    const clients = async () => {
      const live = await listLiveObjects(service, SYSTEM, realm, 'client')
      return ['early', 'late', 'later'].filter((name) => live.has(name))
    }
    await space.apply(acme)
    await space.waitForReady(acme, 'True')

    let writes = 0
    proxy.inject((moment) => (moment === 'write' && ++writes ? 'broken' : undefined))
    for (const name of ['early', 'late']) await space.apply(client(name))
    await vi.waitUntil(() => writes > 6, { timeout: 30_000 })
    expect(await clients()).toEqual([])
    await space.delete(client('early'))
    await space.waitForDeletion(client('early'))

    proxy.inject(() => undefined)
    await space.apply(client('later'))
    for (const one of [client('late'), client('later'), acme]) await space.waitForReady(one, 'True')
    expect(await clients()).toEqual(['late', 'later'])
  })
})
