// The release of finalizers, before the operator is removed or applies fewer namespaces.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { releaseFinalizers } from '../../src/operator/cluster/release-finalizers.ts'
import { FINALIZER } from '../../src/operator/cluster/resource.ts'
import { hasKubernetes, type Kubernetes, onKubernetes, openKubernetes } from '../support/kubernetes.ts'
import { createNamespace, getOperatorCluster, resource } from '../support/test-operator.ts'

const OTHER = 'example.org/other'

describe.skipIf(!hasKubernetes)(onKubernetes, () => {
  let kubernetes: Kubernetes
  beforeAll(async () => {
    kubernetes = await openKubernetes()
  })
  afterAll(() => kubernetes.removeNamespaces())

  /** Creates a namespace that no operator applies, with a Realm, a RealmClient and a RealmSource, which have finalizers. */
  const createReleasableNamespace = async () => {
    const space = await createNamespace(kubernetes)
    const more = { finalizers: [FINALIZER, OTHER] }
    const realm = resource('Realm', 'acme', { realm: space.namespace }, more)
    const client = resource('RealmClient', 'shop', { realmRef: { name: 'acme' } }, more)
    const source = resource('RealmSource', 'realms', { url: 'https://git.example.org/realms.git' }, more)
    for (const item of [realm, client, source]) await space.apply(item)
    return { space, items: [realm, client, source] }
  }

  test('finalizers of Regent are removed in the given namespaces, and deleted resources disappear', async () => {
    const [{ space, items }, other] = [await createReleasableNamespace(), await createReleasableNamespace()]
    await space.delete(items[1]!)
    expect(await releaseFinalizers(getOperatorCluster(), { namespaces: [space.namespace] })).toEqual([
      { kind: 'Realm', count: 1 },
      { kind: 'RealmClient', count: 1 },
      { kind: 'RealmSource', count: 1 },
    ])
    for (const item of items) expect((await space.get(item)).metadata.finalizers).toEqual([OTHER])
    for (const item of other.items)
      expect((await other.space.get(item)).metadata.finalizers).toEqual([FINALIZER, OTHER])
    expect(await releaseFinalizers(getOperatorCluster(), { namespaces: [space.namespace] })).toEqual([])
    for (const item of [...items, ...other.items]) {
      await space.removeFinalizers(item)
      await other.space.removeFinalizers(item)
    }
  })
})
