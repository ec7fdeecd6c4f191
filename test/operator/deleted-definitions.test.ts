// Definitions of resources that are deleted with realms in them: the cluster does not wait, and no user is lost.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connectToCluster } from '../../src/operator/cluster/cluster-client.ts'
import { type Service, SYSTEM } from '../../src/service/context/service.ts'
import { listSavedPlans } from '../../src/service/sources/saved-plans.ts'
import { type Kubernetes, openKubernetes } from '../support/kubernetes.ts'
import { createObject, getLiveObject } from '../support/live-objects.ts'
import { hasOwnCluster, type OwnCluster, onOwnCluster, startOwnCluster } from '../support/own-cluster.ts'
import { newName, testService } from '../support/service.ts'
import { createNamespace, resource, startOperator, type TestOperator, waitUntil } from '../support/test-operator.ts'

const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'

describe.skipIf(!hasOwnCluster)(onOwnCluster, () => {
  let ownCluster: OwnCluster
  let service: Service
  let kubernetes: Kubernetes
  let operator: TestOperator
  beforeAll(async () => {
    ;({ service } = await testService())
    ownCluster = await startOwnCluster()
    kubernetes = await openKubernetes(ownCluster.config)
    operator = startOperator(service, { cluster: connectToCluster(ownCluster.config) })
  })
  afterAll(async () => {
    await operator?.stop()
    await ownCluster?.remove()
  })

  const deleteDefinition = async (name: string) => {
    await kubernetes.request('DELETE', `${DEFINITIONS}/${name}`)
    await waitUntil(async () => (await kubernetes.request('GET', `${DEFINITIONS}/${name}`)).status === 404)
  }
  const hasUser = async (realm: string) =>
    (await getLiveObject(service, SYSTEM, realm, 'user', 'eve').catch(() => undefined)) !== undefined
  const findGuards = async (realm: string) =>
    (await listSavedPlans(service, SYSTEM)).flatMap(({ realms }) =>
      realms.flatMap(({ name, guards }) => (name === realm ? guards.map(({ guard }) => guard) : [])),
    )

  test('definitions are deleted at once, also of suspended and planned realms; realms with users stay live', async () => {
    const [space, tenant] = [await createNamespace(kubernetes), await createNamespace(kubernetes)]
    const controls = { plain: {}, suspended: { suspend: true }, planned: { mode: 'plan' } }
    const realms = Object.entries(controls).map(([name, control]) => ({ name, realm: newName(), control }))
    const toRealm = ({ name, realm }: { name: string; realm: string }, more: object = {}) =>
      resource('Realm', name, { realm, allowedNamespaces: [{ name: tenant.namespace }], ...more })
    const toClient = (name: string) =>
      resource('RealmClient', name, { realmRef: { name, namespace: space.namespace }, clientId: 'app' })
    for (const declared of realms) {
      await space.apply(toRealm(declared))
      await tenant.apply(toClient(declared.name))
      await tenant.waitForReady(toClient(declared.name), 'True')
      await createObject(service, SYSTEM, declared.realm, 'user', { username: 'eve' })
      await space.apply(toRealm(declared, declared.control))
      await space.waitForReady(toRealm(declared), 'True')
    }
    const hasClient = async (realm: string) =>
      (await getLiveObject(service, SYSTEM, realm, 'client', 'app').catch(() => undefined)) !== undefined
    await deleteDefinition('realmclients.regent.dev')
    expect(await Promise.all(realms.map(({ realm }) => hasClient(realm)))).toEqual([false, true, true])
    await deleteDefinition('realms.regent.dev')
    for (const { realm } of realms) expect(await hasUser(realm)).toBe(true)
    const [plain, suspended, planned] = realms as [(typeof realms)[0], (typeof realms)[0], (typeof realms)[0]]
    for (const { realm } of [plain, planned])
      await waitUntil(async () => (await findGuards(realm)).includes('deletesRealm'))
    expect(await findGuards(suspended.realm)).toEqual([])

    // The same resources manage their realms again.
    kubernetes = await openKubernetes(ownCluster.config)
    for (const declared of realms) {
      await space.apply(toRealm(declared))
      await space.waitForReady(toRealm(declared), 'True')
      await tenant.apply(toClient(declared.name))
      await tenant.waitForReady(toClient(declared.name), 'True')
      expect(await hasUser(declared.realm)).toBe(true)
    }
  })
})
