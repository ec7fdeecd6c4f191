// Resources that nobody deleted and that are not there any more: what they stated stays until they are back, or somebody approves.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Service, SYSTEM } from '../../src/service/context/service.ts'
import { sourcesOf } from '../../src/service/sources/sources.ts'
import { liveObject } from '../support/changes.ts'
import { hasKubernetes, type Kubernetes, onKubernetes } from '../support/kubernetes.ts'
import { beginOperated, endOperated, newSpace, type Operated, operate, resource } from '../support/operated.ts'
import { newName } from '../support/service.ts'

describe.skipIf(!hasKubernetes)(onKubernetes, () => {
  let service: Service
  let kubernetes: Kubernetes
  let operated: Operated
  beforeAll(async () => {
    ;({ service, kubernetes, operated } = await beginOperated())
  })
  afterAll(() => endOperated(kubernetes, operated))

  test('of resources that come back one by one, and in another order, nothing is deleted or written', async () => {
    const space = await newSpace(kubernetes)
    const realm = newName()
    const acme = resource('Realm', 'acme', { realm })
    const clients = ['shop', 'portal'].map((name) => resource('RealmClient', name, { realmRef: { name: 'acme' } }))
    for (const one of [acme, ...clients]) await space.apply(one)
    for (const one of [acme, ...clients]) await space.stands(one, 'True')
    const [applied, ran] = [await service.read(SYSTEM, realm, sourcesOf), service.applies.changed]
    await operated.stop()
    for (const one of [acme, ...clients]) await space.strip(one)
    await space.delete(acme, ...clients)

    operated = operate(service)
    await space.apply(acme)
    const { status } = await space.stands(acme, 'False', 'PendingApproval')
    expect(status.conditions[0].message).toContain(
      'deletes 2 objects whose declaration disappeared without being deleted',
    )
    await space.apply(clients[1]!)
    await space.stands(clients[1]!, 'False', 'PendingApproval')
    await space.apply(clients[0]!)
    for (const one of [acme, ...clients]) await space.stands(one, 'True')
    expect(await service.read(SYSTEM, realm, sourcesOf)).toEqual(applied)
    expect(service.applies.changed).toBe(ran)
  })

  test('what has vanished for good goes once somebody approves that', async () => {
    const space = await newSpace(kubernetes)
    const realm = newName()
    const acme = (annotations = {}) => resource('Realm', 'acme', { realm }, { annotations })
    const shop = resource('RealmClient', 'shop', { realmRef: { name: 'acme' } })
    await space.apply(acme())
    await space.apply(shop)
    await space.stands(shop, 'True')
    await operated.stop()
    await space.strip(shop)
    await space.delete(shop)
    operated = operate(service)
    const { status } = await space.stands(acme(), 'False', 'PendingApproval')
    await space.apply(acme({ 'regent.dev/approved-plan': status.plan.id }))
    await space.stands(acme(), 'True')
    await expect(liveObject(service, SYSTEM, realm, 'client', 'shop')).rejects.toThrow()
  })
})
