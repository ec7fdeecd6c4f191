// Two replicas over one store and one cluster: one applies resources, and the other takes over when it loses either.
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as after } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, inject, test, vi } from 'vitest'
import { connectToCluster } from '../../src/operator/cluster/cluster-client.ts'
import { type Service, SYSTEM } from '../../src/service/context/service.ts'
import { hasKubernetes, type Kubernetes, onKubernetes, openKubernetes } from '../support/kubernetes.ts'
import { getLiveObject } from '../support/live-objects.ts'
import { LEASE_ROLE } from '../support/operator-account.ts'
import { newDatabase, newName } from '../support/service.ts'
import { openReplica } from '../support/service-replicas.ts'
import { type Relay, startRelay } from '../support/tcp-relay.ts'
import {
  createNamespace,
  getOperatorCluster,
  resource,
  startOperator,
  stopTestOperator,
  type TestOperator,
} from '../support/test-operator.ts'

/** Seconds of the lease in the store. A campaign takes the default of the server, and the faults of a minute. */
const LEASE = Number(process.env.REGENT_LEASE_SECONDS ?? 3)
const FAULT_SECONDS = Number(process.env.REGENT_LEASE_FAULT_SECONDS ?? 3 * LEASE)
/** Milliseconds until an edit must be live. */
const LIMIT = 20_000

/** A replica, with relays to the API server and to the store. */
interface Replica {
  readonly service: Service
  readonly operator: TestOperator
  readonly api: Relay
  readonly store: Relay
  readonly messages: string[]
}

describe.skipIf(!hasKubernetes || !inject('databaseUrl'))(onKubernetes, () => {
  let kubernetes: Kubernetes
  let folder: string
  let database: string
  let direct: Service
  const replicas: Replica[] = []
  const lease = { namespace: '', name: '' }

  /** Writes a kubeconfig for a relay to the API server. `token`: of another account than that of the operator. */
  const writeConfig = async ({ port }: { port: number }, token?: string) => {
    const config = JSON.parse(await readFile(inject('operatorConfig')!, 'utf8'))
    config.clusters[0].cluster.server = `https://127.0.0.1:${port}`
    if (token !== undefined) config.users[0].user.token = token
    const file = join(folder, `${port}.json`)
    await writeFile(file, JSON.stringify(config))
    return file
  }
  const startReplica = async (database: string, token?: string): Promise<Replica> => {
    const api = await startRelay(new URL(kubernetes.config.getCurrentCluster()!.server))
    const file = await writeConfig(api, token)
    const store = await startRelay(new URL(database))
    const url = Object.assign(new URL(database), { hostname: '127.0.0.1', port: String(store.port) }).href
    const service = await openReplica({ url })
    const messages: string[] = []
    const operator = startOperator(
      service,
      { cluster: connectToCluster(file), clusterLease: lease, log: (line) => messages.push(line) },
      LEASE,
    )
    return { service, operator, api, store, messages }
  }
  const findHolder = () => replicas.find(({ service }) => service.listResourceReadiness)

  beforeAll(async () => {
    kubernetes = await openKubernetes()
    folder = await mkdtemp(join(tmpdir(), 'regent-leadership-'))
    Object.assign(lease, { namespace: getOperatorCluster().namespace, name: newName('lease') })
    database = (await newDatabase()).url!
    direct = await openReplica({ url: database })
    await direct.createRealm(SYSTEM, { representation: { realm: 'master' } }, async () => {})
    for (const _ of [1, 2]) replicas.push(await startReplica(database))
  })
  afterAll(async () => {
    await stopTestOperator(kubernetes)
    for (const { operator, service, api, store } of replicas) {
      await operator.stop()
      await service.close()
      await api.close()
      await store.close()
    }
    await direct?.close()
    await rm(folder, { recursive: true })
  })

  test.each([
    ['the API', ['api']],
    ['the store', ['store']],
    ['both', ['api', 'store']],
  ] as const)(
    'a holder that loses %s is replaced: edits are live in time, and none is lost',
    {
      timeout: (FAULT_SECONDS + 120) * 1000,
    },
    async (_, connections) => {
      const space = await createNamespace(kubernetes)
      const realm = newName()
      const acme = resource('Realm', 'acme', { realm })
      const shop = (name: string) => resource('RealmClient', 'shop', { realmRef: { name: 'acme' }, name })
      await space.apply(acme)
      await space.apply(shop('before'))
      await space.waitForReady(shop(''), 'True')
      const holder = findHolder()!
      const standby = replicas.find((replica) => replica !== holder)!
      expect(standby.service.listResourceReadiness).toBeUndefined()
      const getName = async () =>
        (await getLiveObject(direct, SYSTEM, realm, 'client', 'shop')).representation.name as string

      for (const connection of connections) holder[connection].cut()
      const cutAt = performance.now()
      await space.apply(shop('during'))
      await vi.waitUntil(async () => (await getName()) === 'during', { timeout: LIMIT, interval: 100 })
      const takenAfter = performance.now() - cutAt
      expect(findHolder()).toBeDefined()
      await space.delete(shop(''))
      await space.waitForDeletion(shop(''))
      await after(Math.max(0, FAULT_SECONDS * 1000 - (performance.now() - cutAt)))
      for (const connection of connections) holder[connection].restore()
      await space.apply(shop('after'))
      await space.waitForReady(shop(''), 'True')
      expect(await getName()).toBe('after')
      await vi.waitUntil(() => !holder.service.listResourceReadiness, { timeout: LIMIT })
      expect(standby.service.listResourceReadiness).toBeDefined()
      if (process.env.REGENT_LEASE_SECONDS)
        console.log(`live ${Math.round(takenAfter)} ms after the loss of ${connections.join(' and ')}`)
      for (const item of [shop(''), acme]) {
        await space.delete(item)
        await space.waitForDeletion(item)
      }
    },
  )

  test('a replica that may not list resources neither takes the Lease nor delays the other one', async () => {
    const space = await createNamespace(kubernetes)
    const { namespace } = space
    await kubernetes.apply({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'restricted', namespace } })
    await kubernetes.apply({
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'RoleBinding',
      metadata: { name: 'restricted', namespace: lease.namespace },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: LEASE_ROLE },
      subjects: [{ kind: 'ServiceAccount', name: 'restricted', namespace }],
    })
    const path = `/api/v1/namespaces/${namespace}/serviceaccounts/restricted/token`
    const { token } = (await kubernetes.request('POST', path, { spec: { expirationSeconds: 3600 } })).body.status
    const restricted = await startReplica(database, token)
    replicas.push(restricted)
    for (const { operator } of replicas.slice(0, 2)) await operator.stop()
    // Before that, the API server may refuse the Lease until it has seen the RoleBinding, or answer late.
    await vi.waitUntil(() => restricted.messages.some((line) => line.includes('cannot list resource')), {
      timeout: LIMIT,
    })
    for (const [at, line] of restricted.messages.entries()) {
      expect(line).toMatch(/^This server applies no resources, since it cannot read the cluster: ./)
      expect(line).not.toBe(restricted.messages[at + 1])
    }
    expect(restricted.service.listResourceReadiness).toBeUndefined()
    const permitted = await startReplica(database)
    replicas.push(permitted)
    const acme = resource('Realm', 'acme', { realm: newName() })
    await space.apply(acme)
    await space.waitForReady(acme, 'True')
    expect(restricted.service.listResourceReadiness).toBeUndefined()
    await space.delete(acme)
    await space.waitForDeletion(acme)
  })
})
