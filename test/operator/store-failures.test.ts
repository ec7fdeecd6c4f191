// The operator when its store is slow, or cannot be reached: what cannot be done says so, and is done when it can be.
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
  let operated: TestOperator
  beforeAll(async () => {
    kubernetes = await openKubernetes()
    const url = new URL((await newDatabase()).url!)
    relay = await startRelay(url)
    direct = new pg.Client(url.href)
    await direct.connect()
    const relayed = Object.assign(new URL(url), { host: `127.0.0.1:${relay.port}` })
    service = await openService({ location: { url: relayed.href }, key: new Uint8Array(32) })
    await service.createRealm(SYSTEM, { representation: { realm: 'master' } }, async () => {})
    operated = startOperator(service)
  })
  afterAll(async () => {
    await stopTestOperator(kubernetes, operated)
    await service?.close()
    await direct?.end()
    await relay?.close()
  })

  const isThere = (realm: string, client: string) =>
    getLiveObject(service, SYSTEM, realm, 'client', client).then(
      () => true,
      () => false,
    )

  test('a run that takes longer than it may is broken off, says so, keeps nothing, and is tried again', async () => {
    const space = await createNamespace(kubernetes)
    const realm = newName()
    const acme = (spec: object = {}) =>
      resource('Realm', 'acme', { realm, timeout: '1s', retryInterval: '1s', ...spec })
    await space.apply(acme())
    await space.waitForReady(acme(), 'True')
    await direct.query('begin')
    await direct.query('select from realm where name = $1 for update', [realm])
    await space.apply(acme({ displayName: 'Acme', clients: [{ clientId: 'shop' }] }))
    const { status } = await space.waitForReady(acme(), 'False', 'Failed')
    expect(findCondition({ status }, 'Ready').message).toBe(
      `the run has taken longer than spec.timeout of Realm ${space.namespace}/acme, 1s, and was broken off: nothing of it is kept`,
    )
    expect(findCondition({ status }, 'Reconciling').status).toBe('True')
    expect(status.history[0].outcome).toBe('Failed')
    expect(await isThere(realm, 'shop')).toBe(false)
    await direct.query('rollback')
    await space.waitForReady(acme(), 'True')
    expect(await isThere(realm, 'shop')).toBe(true)
  })

  test('with the store down deletions wait and say so, and go on when it is back', async () => {
    const space = await createNamespace(kubernetes)
    const realm = newName()
    const acme = resource('Realm', 'acme', { realm, retryInterval: '1s' })
    const [shop, kept] = [{}, { deletionPolicy: 'Orphan' }].map((spec, at) =>
      resource('RealmClient', ['shop', 'kept'][at]!, { realmRef: { name: 'acme' }, ...spec }),
    )
    for (const one of [acme, shop!, kept!]) await space.apply(one)
    for (const one of [acme, shop!, kept!]) await space.waitForReady(one, 'True')
    relay.cut()
    await space.delete(shop!, kept!)
    for (const one of [shop!, kept!])
      await waitUntil(async () => {
        const ready = findCondition(await space.get(one), 'Ready')
        return ready.reason === 'Failed' && ready.message.startsWith('its object goes when this is over: ')
      })
    expect(findCondition(await space.get(acme), 'Reconciling').status).toBe('True')
    relay.restore()
    for (const one of [shop!, kept!]) await space.waitForDeletion(one)
    await space.waitForReady(acme, 'True')
    expect(await isThere(realm, 'shop')).toBe(false)
    expect(await isThere(realm, 'kept')).toBe(true)
  })
})
