// A resource of every kind: its object is created, and deleted with the resource or retained, by deletionPolicy.
import { describe, expect, test } from 'vitest'
import { kinds } from '../../src/kinds/index.ts'
import type { Key, KindName } from '../../src/kinds/kind.ts'
import { listParentFields, listResourceNames } from '../../src/kinds/resource-kinds.ts'
import { SYSTEM } from '../../src/service/context/service.ts'
import { hasKubernetes, onKubernetes } from '../support/kubernetes.ts'
import { deleteObject, getLiveObject } from '../support/live-objects.ts'
import { createSampleObject, createSampleObjects, toDocument } from '../support/samples.ts'
import { newName } from '../support/service.ts'
import { createNamespace, resource, setUpOperator } from '../support/test-operator.ts'

const childKinds = (Object.keys(kinds) as KindName[]).filter((kind) => kind !== 'realm')

describe.skipIf(!hasKubernetes)(onKubernetes, () => {
  const setup = setUpOperator()

  /** Returns a resource of the kind, with a parent where it needs one, and the key of its object. */
  function createSampleResource(kind: KindName, label: string, deletionPolicy: string) {
    const { representation, key } = createSampleObject(kind, label)
    const { parentOptional } = kinds[kind]
    const parentFields = parentOptional ? [] : listParentFields(kinds[kind]).slice(0, 1)
    const references = {
      realmRef: { name: 'acme' },
      ...Object.fromEntries(parentFields.map(([field]) => [field, 'a'])),
    }
    const [name] = listResourceNames(kinds[kind]) as [string]
    return { kind, key, sample: resource(name, label, { ...references, ...representation, deletionPolicy }) }
  }

  test('deletionPolicy Delete deletes the object of every kind with its resource, and Orphan retains it', async () => {
    const space = await createNamespace(setup.kubernetes)
    const realm = newName()
    const exists = (kind: KindName, key: Key) =>
      getLiveObject(setup.service, SYSTEM, realm, kind, ...key).then(
        () => true,
        () => false,
      )
    const acme = resource('Realm', 'acme', { ...toDocument(realm, createSampleObjects()), deletionPolicy: 'Orphan' })
    await space.apply(acme)
    await space.waitForReady(acme, 'True')
    const deleted = childKinds.map((kind) => createSampleResource(kind, 'deleted', 'Delete'))
    const orphaned = childKinds.map((kind) => createSampleResource(kind, 'orphaned', 'Orphan'))
    await Promise.all([...deleted, ...orphaned].map(({ sample }) => space.apply(sample)))
    for (const { sample } of [...deleted, ...orphaned]) await space.waitForReady(sample, 'True')
    for (const { kind, key } of deleted) expect(await exists(kind, key), `${kind} ${key}`).toBe(true)
    await Promise.all([...deleted, ...orphaned].map(({ sample }) => space.delete(sample)))
    for (const { sample } of [...deleted, ...orphaned]) await space.waitForDeletion(sample)
    for (const { kind, key } of deleted) expect(await exists(kind, key), `${kind} ${key}`).toBe(false)
    for (const { kind, key } of orphaned) expect(await exists(kind, key), `${kind} ${key}`).toBe(true)
    await space.delete(acme)
    await space.waitForDeletion(acme)
    expect(await exists('client', ['a'])).toBe(true)
  })

  test('resources of a realm that was deleted can be deleted', async () => {
    const space = await createNamespace(setup.kubernetes)
    const realm = newName()
    const acme = resource('Realm', 'acme', { realm })
    const shop = resource('RealmClient', 'shop', { realmRef: { name: 'acme' } })
    for (const item of [acme, shop]) await space.apply(item)
    await space.waitForReady(shop, 'True')
    await space.apply(resource('Realm', 'acme', { realm, mode: 'plan' }))
    await deleteObject(setup.service, SYSTEM, realm, 'realm', realm)
    await space.delete(acme, shop)
    for (const item of [acme, shop]) await space.waitForDeletion(item)
    expect(await setup.service.findRealms([realm])).toEqual([])
  })
})
