// The metrics of Kubernetes resources and of the operator, which alert rules read.
import { describe, expect, inject, onTestFinished, test } from 'vitest'
import { createServer } from '../../src/http/server.ts'
import { connectToCluster } from '../../src/operator/cluster/cluster-client.ts'
import { SYSTEM } from '../../src/service/context/service.ts'
import { findSourceStates } from '../../src/service/sources/source-status.ts'
import { hasKubernetes, onKubernetes } from '../support/kubernetes.ts'
import { readMetrics } from '../support/metrics.ts'
import { newName } from '../support/service.ts'
import { createNamespace, resource, setUpOperator, startOperator, waitUntil } from '../support/test-operator.ts'

describe.skipIf(!hasKubernetes)(onKubernetes, () => {
  const setup = setUpOperator()
  test('metrics count resources by kind, namespace and reason, on the management port only', async () => {
    const space = await createNamespace(setup.kubernetes)
    const acme = resource('Realm', 'acme', { realm: newName() })
    const clients = ['shop', 'web'].map((name) => resource('RealmClient', name, { realmRef: { name: 'acme' } }))
    const invalid = resource('RealmClient', 'lost', { realmRef: { name: 'acme' }, defaultClientScopes: ['none'] })
    for (const item of [acme, ...clients, invalid]) await space.apply(item)
    for (const item of [acme, ...clients]) await space.waitForReady(item, 'True')
    await space.waitForReady(invalid, 'False', 'ReferenceNotFound')
    const lines = (await readMetrics(setup.service, { isPublic: false }))
      .split('\n')
      .filter((line) => line.includes(space.namespace))
    const labels = (kind: string, reason: string) =>
      `{kind="${kind}",namespace="${space.namespace}",reason="${reason}"}`
    expect(lines.toSorted()).toEqual([
      `regent_resource_ready${labels('Realm', 'Applied')} 1`,
      `regent_resource_ready${labels('RealmClient', 'Applied')} 1`,
      `regent_resource_ready${labels('RealmClient', 'ReferenceNotFound')} 0`,
      `regent_resources${labels('Realm', 'Applied')} 1`,
      `regent_resources${labels('RealmClient', 'Applied')} 2`,
      `regent_resources${labels('RealmClient', 'ReferenceNotFound')} 1`,
    ])
    expect(await readMetrics(setup.service, { isPublic: true })).not.toContain('regent_resource')
  })

  test('metrics measure the queues of the operator, its requests to the API server, and its lease', async () => {
    await setup.operator.stop()
    const { service } = setup
    const server = await createServer(service, { metrics: true, caller: SYSTEM })
    onTestFinished(() => server.close())
    const cluster = connectToCluster(inject('operatorConfig'), undefined, service.measurements)
    setup.operator = startOperator(service, { cluster })
    const space = await createNamespace(setup.kubernetes)
    const acme = resource('Realm', 'acme', { realm: newName() })
    await space.apply(acme)
    await space.waitForReady(acme, 'True')
    const read = async () => (await server.inject('/metrics')).body
    const find = async (name: string) =>
      Number(
        (await read())
          .split('\n')
          .find((line) => line.startsWith(`${name} `))
          ?.split(' ')
          .at(-1),
      )
    await expect
      .poll(() => find('regent_reconcile_duration_seconds_count{controller="realms",result="success"}'))
      .toBeGreaterThan(0)
    expect(await find('regent_work_queue_adds_total{queue="realms"}')).toBeGreaterThan(0)
    // The change of the resource's own status queues the realm once more.
    await expect.poll(() => find('regent_work_queue_depth{queue="realms"}')).toBe(0)
    expect(await find('regent_work_queue_wait_seconds_count{queue="realm-statuses"}')).toBeGreaterThan(0)
    expect(await find('regent_kubernetes_requests_total{verb="list",resource="realms",status="200"}')).toBeGreaterThan(
      0,
    )
    expect(await find('regent_kubernetes_requests_total{verb="watch",resource="realms",status="200"}')).toBeGreaterThan(
      0,
    )
    expect(
      await find('regent_kubernetes_requests_total{verb="patch",resource="realms/status",status="200"}'),
    ).toBeGreaterThan(0)
    await expect(cluster.request('GET', '/api/v1/namespaces/none/secrets/none')).rejects.toThrow()
    expect(await read()).toMatch(/regent_kubernetes_requests_total\{verb="get",resource="secrets",status="40[34]"\} 1/)
    expect(await find('regent_lease_held{lease="operate"}')).toBe(1)
    expect(await find('regent_lease_transitions_total{lease="operate"}')).toBe(1)
    await setup.operator.stop()
    expect(await find('regent_lease_held{lease="operate"}')).toBe(0)
    setup.operator = startOperator(service)
  })

  test('a namespace is a source that is not ready while one of its resources is not', async () => {
    const space = await createNamespace(setup.kubernetes)
    const findReady = async () =>
      (await findSourceStates(setup.service, [`kubernetes:${space.namespace}`]))[0]?.status.ready
    const countNotReady = async () =>
      Number(/^regent_sources_not_ready (\d+)$/m.exec(await readMetrics(setup.service, { isPublic: true }))?.[1])
    const acme = resource('Realm', 'acme', { realm: newName() })
    await space.apply(acme)
    await waitUntil(async () => (await findReady())?.status === 'True')
    const before = await countNotReady()
    const invalid = resource('RealmClient', 'lost', { realmRef: { name: 'acme' }, defaultClientScopes: ['none'] })
    await space.apply(invalid)
    await waitUntil(async () => (await findReady())?.status === 'False')
    expect(await findReady()).toMatchObject({
      reason: 'ResourcesNotReady',
      message: `Not ready: RealmClient ${space.namespace}/lost (ReferenceNotFound).`,
    })
    expect(await countNotReady()).toBe(before + 1)
    await space.delete(invalid)
    await waitUntil(async () => (await findReady())?.status === 'True')
    expect(await countNotReady()).toBe(before)
    await space.delete(acme)
    await space.waitForDeletion(acme)
    await waitUntil(async () => (await findReady()) === undefined)
  })
})
