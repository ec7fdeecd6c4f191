// The operator with a store that is slow or unreachable.
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { type Service, SYSTEM } from '../../src/service/context/service.ts'
import { openService } from '../../src/service/operations/open-service.ts'
import { hasKubernetes, type Kubernetes, onKubernetes, openKubernetes } from '../support/kubernetes.ts'
import { getLiveObject } from '../support/live-objects.ts'
import { newDatabase, newName } from '../support/service.ts'
import { type Relay, startRelay } from '../support/tcp-relay.ts'
import {
  createNamespace,
  findCondition,
  resource,
  startOperator,
  stopTestOperator,
  type TestOperator,
  waitUntil,
} from '../support/test-operator.ts'

describe.skipIf(!hasKubernetes || !inject('databaseUrl'))(onKubernetes, () => {
  let kubernetes: Kubernetes
  let relay: Relay
  let direct: pg.Client
  let service: Service
  let operator: TestOperator
  beforeAll(async () => {
    kubernetes = await openKubernetes()
    const url = new URL((await newDatabase()).url!)
    relay = await startRelay(url)
    direct = new pg.Client(url.href)
    await direct.connect()
    const relayed = Object.assign(new URL(url), { host: `127.0.0.1:${relay.port}` })
    service = await openService({ location: { url: relayed.href }, key: new Uint8Array(32) })
    await service.createRealm(SYSTEM, { representation: { realm: 'master' } }, async () => {})
    operator = startOperator(service)
  })
  afterAll(async () => {
    await stopTestOperator(kubernetes, operator)
    await service?.close()
    await direct?.end()
    await relay?.close()
  })

  const exists = (realm: string, client: string) =>
    getLiveObject(service, SYSTEM, realm, 'client', client).then(
      () => true,
      () => false,
    )

  test('a run beyond spec.timeout is rolled back, reported and retried', async () => {
    const space = await createNamespace(kubernetes)
    const realm = newName()
    const acme = (spec: object = {}) =>
      resource('Realm', 'acme', { realm, timeout: '1s', retryInterval: '1s', ...spec })
    await space.apply(acme())
    await space.waitForReady(acme(), 'True')
    await direct.query('begin')
    await direct.query('select pg_advisory_xact_lock(1, number) from realm where name = $1', [realm])
    await space.apply(acme({ displayName: 'Acme', clients: [{ clientId: 'shop' }] }))
    const { status } = await space.waitForReady(acme(), 'False', 'Failed')
    expect(findCondition({ status }, 'Ready').message).toBe(
      `The run exceeded spec.timeout of Realm ${space.namespace}/acme, 1s, and was rolled back.`,
    )
    expect(findCondition({ status }, 'Reconciling').status).toBe('True')
    expect(status.history[0].outcome).toBe('Failed')
    expect(await exists(realm, 'shop')).toBe(false)
    await direct.query('rollback')
    await space.waitForReady(acme(), 'True')
    expect(await exists(realm, 'shop')).toBe(true)
  })

  test('while the store is unreachable, one resource of a realm reports it, by one event', async () => {
    const space = await createNamespace(kubernetes)
    const realm = newName()
    const acme = resource('Realm', 'acme', { realm, retryInterval: '1s' })
    const client = (name: string, more: object = {}) =>
      resource('RealmClient', name, { realmRef: { name: 'acme' }, ...more })
    const names = ['one', 'two', 'three', 'four']
    for (const item of [acme, ...names.map((name) => client(name))]) await space.apply(item)
    for (const item of [acme, ...names.map((name) => client(name))]) await space.waitForReady(item, 'True')
    relay.cut()
    await space.apply(client('one', { name: 'One' }))
    const { status } = await space.waitForReady(acme, 'False', 'StoreUnreachable')
    expect(findCondition({ status }, 'Ready').message).toMatch(/^The database of the Regent server cannot be reached/)
    expect(findCondition({ status }, 'Reconciling').status).toBe('True')
    // Three retries.
    await new Promise((resolve) => setTimeout(resolve, 4000))
    for (const name of names) expect(findCondition(await space.get(client(name)), 'Ready').status).toBe('True')
    const path = `/apis/events.k8s.io/v1/namespaces/${space.namespace}/events`
    const { items } = (await kubernetes.request('GET', path)).body
    const warnings = items.filter(({ type }: { type: string }) => type === 'Warning')
    expect(warnings.filter(({ reason }: { reason: string }) => reason === 'StoreUnreachable')).toHaveLength(1)
    relay.restore()
    await space.waitForReady(client('one'), 'True')
    await space.waitForReady(acme, 'True')
  })

  test('deletions fail with a reason while the store is unreachable, and complete when it is back', async () => {
    const space = await createNamespace(kubernetes)
    const realm = newName()
    const acme = resource('Realm', 'acme', { realm, retryInterval: '1s' })
    const [shop, orphaned] = [{}, { deletionPolicy: 'Orphan' }].map((spec, at) =>
      resource('RealmClient', ['shop', 'orphaned'][at]!, { realmRef: { name: 'acme' }, ...spec }),
    )
    for (const item of [acme, shop!, orphaned!]) await space.apply(item)
    for (const item of [acme, shop!, orphaned!]) await space.waitForReady(item, 'True')
    relay.cut()
    await space.delete(shop!, orphaned!)
    for (const item of [shop!, orphaned!])
      await waitUntil(async () => {
        const ready = findCondition(await space.get(item), 'Ready')
        return ready.reason === 'StoreUnreachable' && ready.message.startsWith('The object is not deleted yet: ')
      })
    expect(findCondition(await space.get(acme), 'Reconciling').status).toBe('True')
    relay.restore()
    for (const item of [shop!, orphaned!]) await space.waitForDeletion(item)
    await space.waitForReady(acme, 'True')
    expect(await exists(realm, 'shop')).toBe(false)
    expect(await exists(realm, 'orphaned')).toBe(true)
  })
})
