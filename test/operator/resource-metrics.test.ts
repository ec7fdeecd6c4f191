// The metrics of Kubernetes resources, which alert rules read.
import { describe, expect, test } from 'vitest'
import { hasKubernetes, onKubernetes } from '../support/kubernetes.ts'
import { readMetrics } from '../support/metrics.ts'
import { newName } from '../support/service.ts'
import { createNamespace, resource, setUpOperator } from '../support/test-operator.ts'

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
})
