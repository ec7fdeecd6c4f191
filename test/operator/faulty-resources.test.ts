// The costs of wrong resources and of intervals: an edit of another resource is applied without them, and nothing is repeated in a loop.
import { describe, expect, test } from 'vitest'
import { SYSTEM } from '../../src/service/context/service.ts'
import { hasKubernetes, onKubernetes } from '../support/kubernetes.ts'
import { getLiveObject } from '../support/live-objects.ts'
import { newName } from '../support/service.ts'
import { createNamespace, resource, setUpOperator, waitUntil } from '../support/test-operator.ts'

const COUNT = 30

describe.skipIf(!hasKubernetes)(onKubernetes, () => {
  const setup = setUpOperator()
  const client = (name: string, spec: object = {}) =>
    resource('RealmClient', name, { realmRef: { name: 'acme' }, ...spec })

  test('an edit is applied at once although other resources are wrong, which are found together and attempted later', async () => {
    const space = await createNamespace(setup.kubernetes)
    const realm = newName()
    await space.apply(resource('Realm', 'acme', { realm }))
    await space.apply(client('shop', { name: 'One' }))
    await space.waitForReady(client('shop'), 'True')
    const { applyCounts } = setup.service
    const before = applyCounts.failed
    const invalid = Array.from({ length: COUNT }, (_, at) => client(`wrong-${at}`, { rootUrl: 'none' }))
    for (const item of invalid) await space.apply(item)
    for (const item of invalid) await space.waitForReady(item, 'False', 'Invalid')
    // Each was applied by a request of its own.
    expect(applyCounts.failed - before).toBeLessThan(COUNT + 10)
    for (const name of ['Two', 'Three', 'Four']) {
      const failed = applyCounts.failed
      await space.apply(client('shop', { name }))
      await waitUntil(
        async () => (await getLiveObject(setup.service, SYSTEM, realm, 'client', 'shop')).representation.name === name,
      )
      // A retry of all may happen at the same time.
      expect(applyCounts.failed - failed).toBeLessThan(3)
    }
    await space.apply(client('wrong-0', { rootUrl: 'https://a.example.org' }))
    await space.waitForReady(invalid[0]!, 'True')
  })

  test('a resource whose reference comes later is applied with it', async () => {
    const space = await createNamespace(setup.kubernetes)
    await space.apply(resource('Realm', 'acme', { realm: newName() }))
    await space.apply(client('shop', { defaultClientScopes: ['orders'] }))
    await space.waitForReady(client('shop'), 'False', 'ReferenceNotFound')
    const scope = resource('RealmClientScope', 'orders', { realmRef: { name: 'acme' }, protocol: 'openid-connect' })
    await space.apply(scope)
    const started = performance.now()
    await space.waitForReady(client('shop'), 'True')
    expect(performance.now() - started).toBeLessThan(5_000)
  })

  test.each(['720h', '0s'])('a realm with the interval %s is not reconciled in a loop', async (interval) => {
    const space = await createNamespace(setup.kubernetes)
    const acme = resource('Realm', 'acme', { realm: newName(), interval })
    await space.apply(acme)
    await space.waitForReady(acme, 'True')
    await new Promise((resolve) => setTimeout(resolve, 500))
    const { unchanged } = setup.service.applyCounts
    await new Promise((resolve) => setTimeout(resolve, 1000))
    expect(setup.service.applyCounts.unchanged - unchanged).toBeLessThan(3)
    expect(setup.operator.failures).toEqual([])
  })

  test('an object that two resources declare stays live when one is deleted, also after they contradicted each other', async () => {
    const space = await createNamespace(setup.kubernetes)
    const realm = newName()
    await space.apply(resource('Realm', 'acme', { realm }))
    const declare = (name: string, spec: object = {}) =>
      resource('RealmClient', name, { realmRef: { name: 'acme' }, clientId: 'shop', ...spec })
    const role = resource('RealmRole', 'seller', { realmRef: { name: 'acme' }, client: 'shop' })
    await space.apply(declare('first', { redirectUris: ['https://a.example.org/'] }))
    await space.waitForReady(declare('first'), 'True')
    const { id } = await getLiveObject(setup.service, SYSTEM, realm, 'client', 'shop')
    for (const item of [declare('second'), role]) {
      await space.apply(item)
      await space.waitForReady(item, 'True')
    }
    await space.apply(declare('second', { redirectUris: ['https://b.example.org/'] }))
    for (const name of ['first', 'second']) await space.waitForReady(declare(name), 'False', 'Invalid')
    await space.delete(declare('second'))
    await space.waitForDeletion(declare('second'))
    // The reason was removed, so that the other one is ready at once.
    await space.waitForReady(declare('first'), 'True')
    expect((await getLiveObject(setup.service, SYSTEM, realm, 'client', 'shop')).id).toBe(id)

    // The same while the other one is invalid for another reason.
    await space.apply(declare('third'))
    await space.waitForReady(declare('third'), 'True')
    await space.apply(declare('first', { redirectUris: ['https://a.example.org/#fragment'] }))
    await space.waitForReady(declare('first'), 'False', 'Invalid')
    await space.delete(declare('third'))
    await space.waitForDeletion(declare('third'))
    await space.apply(role)
    expect((await getLiveObject(setup.service, SYSTEM, realm, 'client', 'shop')).id).toBe(id)
    await space.apply(declare('first', { redirectUris: ['https://a.example.org/'] }))
    await space.waitForReady(declare('first'), 'True')
    expect((await getLiveObject(setup.service, SYSTEM, realm, 'client', 'shop')).id).toBe(id)
  })
})
