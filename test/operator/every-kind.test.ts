// Every kind as a resource: its object becomes live, and when it is deleted it goes, or stays where that is stated.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { kinds } from '../../src/kinds/index.ts'
import type { Key, KindName } from '../../src/kinds/kind.ts'
import { listParentFields, listResourceNames } from '../../src/realm-file/resources/resource-kinds.ts'
import { type Service, SYSTEM } from '../../src/service/context/service.ts'
import { hasKubernetes, type Kubernetes, onKubernetes } from '../support/kubernetes.ts'
import { deleteObject, getLiveObject } from '../support/live-objects.ts'
import { createSampleObject, createSampleObjects, toDocument } from '../support/samples.ts'
import { newName } from '../support/service.ts'
import {
  createNamespace,
  resource,
  startTestOperator,
  stopTestOperator,
  type TestOperator,
} from '../support/test-operator.ts'

const all = (Object.keys(kinds) as KindName[]).filter((kind) => kind !== 'realm')

describe.skipIf(!hasKubernetes)(onKubernetes, () => {
  let service: Service
  let kubernetes: Kubernetes
  let operated: TestOperator
  beforeAll(async () => {
    ;({ service, kubernetes, operated } = await startTestOperator())
  })
  afterAll(() => stopTestOperator(kubernetes, operated))

  /** A resource of the kind, below an object of the realm where it must be below one, and the key of its object. */
  function stated(kind: KindName, label: string, deletionPolicy: string) {
    const { representation, key } = createSampleObject(kind, label)
    const { parentOptional } = kinds[kind]
    const below = parentOptional ? [] : listParentFields(kinds[kind]).slice(0, 1)
    const place = { realmRef: { name: 'acme' }, ...Object.fromEntries(below.map(([field]) => [field, 'a'])) }
    const [name] = listResourceNames(kinds[kind]) as [string]
    return { kind, key, one: resource(name, label, { ...place, ...representation, deletionPolicy }) }
  }

  test('an object of every kind goes with its resource, or stays, and its realm lets go of all', async () => {
    const space = await createNamespace(kubernetes)
    const realm = newName()
    const isThere = (kind: KindName, key: Key) =>
      getLiveObject(service, SYSTEM, realm, kind, ...key).then(
        () => true,
        () => false,
      )
    const acme = resource('Realm', 'acme', { ...toDocument(realm, createSampleObjects()), deletionPolicy: 'Orphan' })
    await space.apply(acme)
    await space.waitForReady(acme, 'True')
    const going = all.map((kind) => stated(kind, 'goes', 'Delete'))
    const staying = all.map((kind) => stated(kind, 'stays', 'Orphan'))
    await Promise.all([...going, ...staying].map(({ one }) => space.apply(one)))
    for (const { one } of [...going, ...staying]) await space.waitForReady(one, 'True')
    for (const { kind, key } of going) expect(await isThere(kind, key), `${kind} ${key}`).toBe(true)
    await Promise.all([...going, ...staying].map(({ one }) => space.delete(one)))
    for (const { one } of [...going, ...staying]) await space.waitForDeletion(one)
    for (const { kind, key } of going) expect(await isThere(kind, key), `${kind} ${key}`).toBe(false)
    for (const { kind, key } of staying) expect(await isThere(kind, key), `${kind} ${key}`).toBe(true)
    await space.delete(acme)
    await space.waitForDeletion(acme)
    expect(await isThere('client', ['a'])).toBe(true)
  })

  test('what belongs to a realm that is gone is let go of', async () => {
    const space = await createNamespace(kubernetes)
    const realm = newName()
    const acme = resource('Realm', 'acme', { realm })
    const shop = resource('RealmClient', 'shop', { realmRef: { name: 'acme' } })
    for (const one of [acme, shop]) await space.apply(one)
    await space.waitForReady(shop, 'True')
    await space.apply(resource('Realm', 'acme', { realm, mode: 'plan' }))
    await deleteObject(service, SYSTEM, realm, 'realm', realm)
    await space.delete(acme, shop)
    for (const one of [acme, shop]) await space.waitForDeletion(one)
    expect(await service.findRealms([realm])).toEqual([])
  })
})
