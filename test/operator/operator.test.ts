// The operator at a real API server: what is applied there becomes live, says how it stands, and goes when it is deleted.
import { globSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Service, SYSTEM } from '../../src/service/service.ts'
import { liveObject } from '../support/changes.ts'
import { hasKubernetes, type Kubernetes, onKubernetes, openKubernetes, resourcesIn } from '../support/kubernetes.ts'
import { newSpace, type Operated, operate, resource, until } from '../support/operated.ts'
import { newName, testService } from '../support/service.ts'

describe.skipIf(!hasKubernetes)(onKubernetes, () => {
  let service: Service
  let kubernetes: Kubernetes
  let operated: Operated
  beforeAll(async () => {
    ;({ service } = await testService())
    kubernetes = await openKubernetes()
    operated = operate(service)
  }, 60_000)
  afterAll(async () => {
    await operated?.stop()
    await kubernetes?.leave()
  })

  const clientOf = async (realm: string, name: string) =>
    (await liveObject(service, SYSTEM, realm, 'client', name).catch(() => undefined))?.representation

  test('the examples become live, say so, follow an edit, and are gone when they are deleted', async () => {
    const space = await newSpace(kubernetes)
    const realm = newName()
    const examples = globSync('examples/kubernetes/*.yaml')
      .flatMap(resourcesIn)
      .map((one) => (one.kind === 'Realm' ? { ...one, spec: { ...(one.spec as object), realm } } : one))
    for (const one of examples) await space.apply(one)
    const own = examples.filter(({ kind }) => kind !== 'Secret')
    for (const one of own) await space.stands(one, 'True')
    expect(await clientOf(realm, 'shop')).toMatchObject({ name: 'Web shop' })
    const shop = examples.find(({ metadata }) => metadata.name === 'shop')!
    await space.apply({ ...shop, spec: { ...(shop.spec as object), name: 'Another shop' } })
    await until(async () => (await clientOf(realm, 'shop'))?.name === 'Another shop')
    await space.delete(...examples)
    for (const one of own) await space.gone(one)
    expect(await service.find([realm])).toEqual([])
    expect(operated.failures).toEqual([])
  })

  test('an object of a resource with deletionPolicy Orphan stays, and is nobody’s', async () => {
    const space = await newSpace(kubernetes)
    const realm = newName()
    const client = resource('RealmClient', 'shop', { realmRef: { name: 'acme' }, deletionPolicy: 'Orphan' })
    await space.apply(resource('Realm', 'acme', { realm }))
    await space.apply(client)
    await space.stands(client, 'True')
    await space.delete(client)
    await space.gone(client)
    expect(await clientOf(realm, 'shop')).toBeDefined()
  })
})
