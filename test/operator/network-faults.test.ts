// The operator behind a failing network: each single fault only takes time.
import { afterAll, afterEach, beforeAll, describe, expect, inject, test, vi } from 'vitest'
import { connectToCluster } from '../../src/operator/cluster/cluster-client.ts'
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

/** Faults that the operator may report. It handles the others silently. */
const reportedFaults: readonly Fault[] = ['halved', 'ended', 'responseLost', 'broken', 'refused']

describe.skipIf(!hasKubernetes)(onKubernetes, () => {
  let service: Service
  let kubernetes: Kubernetes
  let proxy: FaultProxy
  let operator: TestOperator
  beforeAll(async () => {
    // A separate service, since applies of other tests must not be counted.
    service = await openNewService()
    await service.createRealm(SYSTEM, { representation: { realm: 'master' } }, async () => {})
    kubernetes = await openKubernetes()
  })
  afterEach(async () => {
    await operator.stop()
    await proxy.close()
  })
  afterAll(async () => {
    if (kubernetes) await stopTestOperator(kubernetes, startOperator(service))
    await service.close()
  })

  // The fault "silent" takes as long as a watch may be silent, so only campaigns have the time for it.
  const faults = (Object.keys(FAULTS) as Fault[]).filter((fault) => fault !== 'silent')

  test.for(faults)('%s: each change is applied once, and resources can be deleted', async (fault) => {
    const space = await createNamespace(kubernetes)
    const realm = newName()
    proxy = await openFaultProxy(inject('operatorConfig'))
    proxy.inject(injectTimes(fault, 5))
    operator = startOperator(service, { cluster: connectToCluster(proxy.config) })
    const applied = service.applyCounts.changed
    const acme = resource('Realm', 'acme', { realm })
    const shop = (name: string) => resource('RealmClient', 'shop', { realmRef: { name: 'acme' }, name })
    for (const item of [acme, shop('One'), shop('Two')]) {
      await space.apply(item)
      await space.waitForReady(item, 'True')
    }
    const { representation } = await getLiveObject(service, SYSTEM, realm, 'client', 'shop')
    expect(representation).toMatchObject({ name: 'Two' })
    for (const item of [shop(''), acme]) {
      await space.delete(item)
      await space.waitForDeletion(item)
    }
    expect(await service.findRealms([realm])).toEqual([])
    expect(service.applyCounts.changed - applied).toBe(5)
    expect([...proxy.injected]).toEqual([[fault, 5]])
    if (!reportedFaults.includes(fault)) expect(operator.failures).toEqual([])
  })

  test('a resource gets its finalizer before its realm is created', async () => {
    const space = await createNamespace(kubernetes)
    const realm = newName()
    proxy = await openFaultProxy(inject('operatorConfig'))
    let realmsAtFirstWrite: Promise<unknown[]> | undefined
    proxy.inject((moment) => {
      if (moment === 'write') realmsAtFirstWrite ??= service.findRealms([realm])
      return undefined
    })
    operator = startOperator(service, { cluster: connectToCluster(proxy.config) })
    const acme = resource('Realm', 'acme', { realm })
    await space.apply(acme)
    await space.waitForReady(acme, 'True')
    expect(await realmsAtFirstWrite).toEqual([])
  })

  test('a resource without finalizer is not applied, and can be deleted', async () => {
    const space = await createNamespace(kubernetes)
    const realm = newName()
    proxy = await openFaultProxy(inject('operatorConfig'))
    operator = startOperator(service, { cluster: connectToCluster(proxy.config) })
    const acme = resource('Realm', 'acme', { realm })
    const client = (name: string) => resource('RealmClient', name, { realmRef: { name: 'acme' } })
    const listClients = async () => {
      const live = await listLiveObjects(service, SYSTEM, realm, 'client')
      return ['early', 'late', 'later'].filter((name) => live.has(name))
    }
    await space.apply(acme)
    await space.waitForReady(acme, 'True')

    let writes = 0
    proxy.inject((moment) => (moment === 'write' && ++writes ? 'broken' : undefined))
    for (const name of ['early', 'late']) await space.apply(client(name))
    await vi.waitUntil(() => writes > 6, { timeout: 30_000 })
    expect(await listClients()).toEqual([])
    await space.delete(client('early'))
    await space.waitForDeletion(client('early'))

    proxy.inject(() => undefined)
    await space.apply(client('later'))
    for (const item of [client('late'), client('later'), acme]) await space.waitForReady(item, 'True')
    expect(await listClients()).toEqual(['late', 'later'])
  })
})
