// Secrets of clients that are written into Secrets of Kubernetes: followed, given to nobody else, and never over somebody's own.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Resource } from '../../src/operator/resource.ts'
import { secretKeeper } from '../../src/operator/secrets/secret-keeper.ts'
import { regenerateSecret } from '../../src/service/admin-api/clients/client-secrets.ts'
import { type Service, SYSTEM } from '../../src/service/context/service.ts'
import { hasKubernetes, type Kubernetes, onKubernetes } from '../support/kubernetes.ts'
import { getLiveObject } from '../support/live-objects.ts'
import { newName } from '../support/service.ts'
import { ANN } from '../support/sources.ts'
import {
  createNamespace,
  findCondition,
  getOperatorCluster,
  resource,
  startTestOperator,
  stopTestOperator,
  type TestNamespace,
  type TestOperator,
  waitUntil,
} from '../support/test-operator.ts'

describe.skipIf(!hasKubernetes)(onKubernetes, () => {
  let service: Service
  let kubernetes: Kubernetes
  let operated: TestOperator
  beforeAll(async () => {
    ;({ service, kubernetes, operated } = await startTestOperator())
  })
  afterAll(() => stopTestOperator(kubernetes, operated))

  const secretOf = async (realm: string, client: string) => {
    const { representation } = await getLiveObject(service, SYSTEM, realm, 'client', client)
    return service.vault.open(representation.secret as string)
  }
  const rotate = async (realm: string, client: string) => {
    const { id } = await getLiveObject(service, SYSTEM, realm, 'client', client)
    await service.write(ANN, realm, (context) => regenerateSecret(context, id))
  }
  const secret = (name: string, data: object = {}, labels: object = {}) => ({
    ...{ apiVersion: 'v1', kind: 'Secret', metadata: { name, labels }, data },
  })
  const pathOf = async ({ namespace }: TestNamespace, name: string) => `/api/v1/namespaces/${namespace}/secrets/${name}`
  const textsIn = async (space: TestNamespace, name: string): Promise<Record<string, string>> => {
    const { data = {} } = await space.get(secret(name))
    return Object.fromEntries(Object.entries(data).map(([key, text]) => [key, atob(text as string)]))
  }
  const shop = (spec: object) => resource('RealmClient', 'shop', { realmRef: { name: 'acme' }, ...spec })

  test('a client’s secret is written where its resource asks for it, follows the client, and is put back', async () => {
    const space = await createNamespace(kubernetes)
    const realm = newName()
    await space.apply(resource('Realm', 'acme', { realm }))
    await space.apply(shop({ writeSecretTo: { name: 'for-shop' } }))
    const { metadata } = await space.waitForReady(shop({}), 'True')
    const written = await space.get(secret('for-shop'))
    expect(written).toMatchObject({
      metadata: {
        labels: { 'regent.dev/secret': 'true' },
        ownerReferences: [{ kind: 'RealmClient', name: 'shop', uid: metadata.uid }],
      },
      type: 'Opaque',
    })
    const first = await secretOf(realm, 'shop')
    expect(await textsIn(space, 'for-shop')).toEqual({ 'client-secret': first })

    await rotate(realm, 'shop')
    const second = await secretOf(realm, 'shop')
    expect(second).not.toBe(first)
    await waitUntil(async () => (await textsIn(space, 'for-shop'))['client-secret'] === second)

    const merge = { 'content-type': 'application/merge-patch+json' }
    await kubernetes.request(
      'PATCH',
      await pathOf(space, 'for-shop'),
      { data: { 'client-secret': btoa('mine') } },
      merge,
    )
    await waitUntil(async () => (await textsIn(space, 'for-shop'))['client-secret'] === second)
    await kubernetes.request('DELETE', await pathOf(space, 'for-shop'))
    await waitUntil(async () => (await textsIn(space, 'for-shop'))['client-secret'] === second)

    await space.apply(shop({ writeSecretTo: { name: 'for-shop', key: 'password' } }))
    await waitUntil(
      async () => JSON.stringify(await textsIn(space, 'for-shop')) === JSON.stringify({ password: second }),
    )
    const { status } = await space.waitForReady(shop({}), 'True')
    expect(JSON.stringify(status)).not.toContain(second)
    await space.delete(shop({}))
    await space.waitForDeletion(secret('for-shop'))
    expect(operated.failures).toEqual([])
  })

  test('a Secret that is somebody else’s is not touched, labelled or not: the resource says so, and goes on when it is gone', async () => {
    const space = await createNamespace(kubernetes)
    const realm = newName()
    const own = { 'client-secret': btoa('mine') }
    await space.apply(secret('plain', own))
    await space.apply(secret('labelled', own, { 'regent.dev/secret': 'true' }))
    await space.apply(resource('Realm', 'acme', { realm, retryInterval: '1s' }))
    for (const name of ['plain', 'labelled']) {
      const { metadata } = await space.get(secret(name))
      await space.apply(shop({ writeSecretTo: { name } }))
      const { status } = await space.waitForReady(shop({}), 'False', 'SecretNotWritten')
      expect(findCondition({ status }, 'Ready').message).toBe(
        `spec.writeSecretTo: there is a Secret ${name} that does not belong to this resource: name another one, or delete it`,
      )
      expect(findCondition({ status }, 'Stalled').status).toBe('True')
      expect((await space.get(secret(name))).metadata.resourceVersion).toBe(metadata.resourceVersion)
    }
    await space.delete(secret('labelled'))
    await space.waitForReady(shop({}), 'True')
    expect(await textsIn(space, 'labelled')).toEqual({ 'client-secret': await secretOf(realm, 'shop') })
    await space.apply(shop({ writeSecretTo: { name: 'other' }, publicClient: true }))
    const { status } = await space.waitForReady(shop({}), 'False', 'Invalid')
    expect(findCondition({ status }, 'Ready').message).toContain('the client shop has no secret')
  })

  test('a Secret that changed, went or came since it was seen is looked at again, and written', async () => {
    const space = await createNamespace(kubernetes)
    // The API server collects what belongs to nobody.
    await space.apply({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'owner' } })
    const owner: Resource = (await kubernetes.request('GET', `/api/v1/namespaces/${space.namespace}/configmaps/owner`))
      .body
    const { uid } = owner.metadata
    const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid }]
    const owned = (text: string) => ({
      ...secret('overtaken', { 'client-secret': btoa(text) }),
      metadata: { name: 'overtaken', labels: { 'regent.dev/secret': 'true' }, ownerReferences },
    })
    const wanted = { owner, namespace: space.namespace, name: 'overtaken', key: 'client-secret' }
    const keepAs = (seen: Resource | undefined, text: string) =>
      secretKeeper(getOperatorCluster(), { secret: () => seen, put: () => {} }).keep({ ...wanted, text })

    await space.apply(owned('first'))
    const first = await space.get(secret('overtaken'))
    await space.apply(owned('second'))
    expect(await keepAs(first, 'third')).toBeUndefined()
    expect(await textsIn(space, 'overtaken')).toEqual({ 'client-secret': 'third' })
    await space.delete(secret('overtaken'))
    expect(await keepAs(first, 'fourth')).toBeUndefined()
    expect(await textsIn(space, 'overtaken')).toEqual({ 'client-secret': 'fourth' })
    expect(await keepAs(undefined, 'fifth')).toBeUndefined()
    expect(await textsIn(space, 'overtaken')).toEqual({ 'client-secret': 'fifth' })
  })

  test('a guest of a realm gets no secret of a client that others state too, or that is stronger than what it may give', async () => {
    const [owner, guest] = [await createNamespace(kubernetes), await createNamespace(kubernetes)]
    const realm = newName()
    const acme = resource('Realm', 'acme', {
      realm,
      allowedNamespaces: [{ name: guest.namespace }],
      clients: [{ clientId: 'ours' }],
    })
    const asking = (clientId: string, namespace?: string) =>
      resource('RealmClient', clientId, {
        realmRef: { name: 'acme', ...(namespace && { namespace }) },
        writeSecretTo: { name: `of-${clientId}` },
      })
    // A client with much power, which nobody states any more.
    const deletionPolicy = 'Orphan'
    const realmName = { realmRef: { name: 'acme' }, deletionPolicy }
    const strong = [
      resource('RealmClient', 'strong', { ...realmName, serviceAccountsEnabled: true }),
      resource('RealmUser', 'strong', {
        ...realmName,
        username: 'service-account-strong',
        clientRoles: { 'realm-management': ['realm-admin'] },
      }),
    ]
    await owner.apply(acme)
    await owner.waitForReady(acme, 'True')
    for (const one of strong) {
      await owner.apply(one)
      await owner.waitForReady(one, 'True')
    }
    await owner.delete(...strong)
    for (const one of strong) await owner.waitForDeletion(one)
    const realmRef = owner.namespace
    for (const one of ['own', 'ours', 'strong']) await guest.apply(asking(one, realmRef))
    await guest.waitForReady(asking('own'), 'True')
    expect(await textsIn(guest, 'of-own')).toEqual({ 'client-secret': await secretOf(realm, 'own') })
    for (const one of ['ours', 'strong']) {
      const { status } = await guest.waitForReady(asking(one), 'False', 'NotAdmitted')
      expect(findCondition({ status }, 'Ready').message).toContain(`the client ${one}`)
      expect((await guest.get(secret(`of-${one}`))).code).toBe(404)
    }
    await owner.apply(asking('strong'))
    await owner.waitForReady(asking('strong'), 'True')
    expect(await textsIn(owner, 'of-strong')).toEqual({ 'client-secret': await secretOf(realm, 'strong') })
  })
})
