// Resources that disappear without the operator, such as after a restore of the cluster.
import { describe, expect, test } from 'vitest'
import { SYSTEM } from '../../src/service/context/service.ts'
import { listRealmSources } from '../../src/service/sources/source-records.ts'
import { hasKubernetes, onKubernetes } from '../support/kubernetes.ts'
import { getLiveObject } from '../support/live-objects.ts'
import { newName } from '../support/service.ts'
import { createNamespace, resource, setUpOperator, startOperator } from '../support/test-operator.ts'

describe.skipIf(!hasKubernetes)(onKubernetes, () => {
  const setup = setUpOperator()

  test('nothing is deleted or written when lost resources are restored one by one, in another order', async () => {
    const space = await createNamespace(setup.kubernetes)
    const realm = newName()
    const acme = resource('Realm', 'acme', { realm })
    const clients = ['shop', 'portal'].map((name) => resource('RealmClient', name, { realmRef: { name: 'acme' } }))
    for (const item of [acme, ...clients]) await space.apply(item)
    for (const item of [acme, ...clients]) await space.waitForReady(item, 'True')
    const [applied, changesBefore] = [
      await setup.service.read(SYSTEM, realm, listRealmSources),
      setup.service.applyCounts.changed,
    ]
    await setup.operator.stop()
    for (const item of [acme, ...clients]) await space.removeFinalizers(item)
    await space.delete(acme, ...clients)

    setup.operator = startOperator(setup.service)
    await space.apply(acme)
    const { status } = await space.waitForReady(acme, 'False', 'PendingApproval')
    expect(status.conditions[0].message).toContain(
      'deletes 2 objects whose declaration disappeared without being deleted',
    )
    await space.apply(clients[1]!)
    await space.waitForReady(clients[1]!, 'False', 'PendingApproval')
    await space.apply(clients[0]!)
    for (const item of [acme, ...clients]) await space.waitForReady(item, 'True')
    expect(await setup.service.read(SYSTEM, realm, listRealmSources)).toEqual(applied)
    expect(setup.service.applyCounts.changed).toBe(changesBefore)
  })

  test('objects of lost resources are deleted once an administrator approves the plan', async () => {
    const space = await createNamespace(setup.kubernetes)
    const realm = newName()
    const acme = (annotations = {}) => resource('Realm', 'acme', { realm }, { annotations })
    const shop = resource('RealmClient', 'shop', { realmRef: { name: 'acme' } })
    await space.apply(acme())
    await space.apply(shop)
    await space.waitForReady(shop, 'True')
    await setup.operator.stop()
    await space.removeFinalizers(shop)
    await space.delete(shop)
    setup.operator = startOperator(setup.service)
    const { status } = await space.waitForReady(acme(), 'False', 'PendingApproval')
    await space.apply(acme({ 'regent.dev/approved-plan': status.plan.id }))
    await space.waitForReady(acme(), 'True')
    await expect(getLiveObject(setup.service, SYSTEM, realm, 'client', 'shop')).rejects.toThrow()
  })
})
