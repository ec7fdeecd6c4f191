// Resources that nobody deleted and that are not there any more: what they stated stays until they are back, or somebody approves.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Service, SYSTEM } from '../../src/service/context/service.ts'
import { listRealmSources } from '../../src/service/sources/source-records.ts'
import { hasKubernetes, type Kubernetes, onKubernetes } from '../support/kubernetes.ts'
import { getLiveObject } from '../support/live-objects.ts'
import { newName } from '../support/service.ts'
import {
  createNamespace,
  resource,
  startOperator,
  startTestOperator,
  stopTestOperator,
  type TestOperator,
} from '../support/test-operator.ts'

describe.skipIf(!hasKubernetes)(onKubernetes, () => {
  let service: Service
  let kubernetes: Kubernetes
  let operated: TestOperator
  beforeAll(async () => {
    ;({ service, kubernetes, operated } = await startTestOperator())
  })
  afterAll(() => stopTestOperator(kubernetes, operated))

  test('of resources that come back one by one, and in another order, nothing is deleted or written', async () => {
    const space = await createNamespace(kubernetes)
    const realm = newName()
    const acme = resource('Realm', 'acme', { realm })
    const clients = ['shop', 'portal'].map((name) => resource('RealmClient', name, { realmRef: { name: 'acme' } }))
    for (const one of [acme, ...clients]) await space.apply(one)
    for (const one of [acme, ...clients]) await space.waitForReady(one, 'True')
    const [applied, ran] = [await service.read(SYSTEM, realm, listRealmSources), service.applyCounts.changed]
    await operated.stop()
    for (const one of [acme, ...clients]) await space.removeFinalizers(one)
    await space.delete(acme, ...clients)

    operated = startOperator(service)
    await space.apply(acme)
    const { status } = await space.waitForReady(acme, 'False', 'PendingApproval')
    expect(status.conditions[0].message).toContain(
      'deletes 2 objects whose declaration disappeared without being deleted',
    )
    await space.apply(clients[1]!)
    await space.waitForReady(clients[1]!, 'False', 'PendingApproval')
    await space.apply(clients[0]!)
    for (const one of [acme, ...clients]) await space.waitForReady(one, 'True')
    expect(await service.read(SYSTEM, realm, listRealmSources)).toEqual(applied)
    expect(service.applyCounts.changed).toBe(ran)
  })

  test('what has vanished for good goes once somebody approves that', async () => {
    const space = await createNamespace(kubernetes)
    const realm = newName()
    const acme = (annotations = {}) => resource('Realm', 'acme', { realm }, { annotations })
    const shop = resource('RealmClient', 'shop', { realmRef: { name: 'acme' } })
    await space.apply(acme())
    await space.apply(shop)
    await space.waitForReady(shop, 'True')
    await operated.stop()
    await space.removeFinalizers(shop)
    await space.delete(shop)
    operated = startOperator(service)
    const { status } = await space.waitForReady(acme(), 'False', 'PendingApproval')
    await space.apply(acme({ 'regent.dev/approved-plan': status.plan.id }))
    await space.waitForReady(acme(), 'True')
    await expect(getLiveObject(service, SYSTEM, realm, 'client', 'shop')).rejects.toThrow()
  })
})
