// The chart: a real API server takes what it renders, and finds nothing in its pods that a restricted namespace forbids.
import { readFileSync } from 'node:fs'
import { load, loadAll } from 'js-yaml'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { version } from '../../src/lib/version.ts'
import { hasHelm, helm, withHelm } from '../support/helm.ts'
import { hasKubernetes, type Kubernetes, onKubernetes, openKubernetes, type Resource } from '../support/kubernetes.ts'

const CHART = 'charts/regent'
const least = ['hostname=https://id.example.org', 'database.secret=db', 'key.secret=key']
const all = [
  ...least,
  'admin.secret=admin',
  'tls.secret=tls',
  'settings.logLevel=info',
  'settings.source={a,b}',
  'networkPolicy.from[0].namespaceSelector.matchLabels.web=yes',
  'networkPolicy.egress[0].ports[0].port=5432',
  'crds.install=false',
]

test('the chart has the version of the server', () => {
  expect(load(readFileSync(`${CHART}/Chart.yaml`, 'utf8'))).toMatchObject({ version, appVersion: version })
})

describe.skipIf(!hasHelm)(withHelm, () => {
  const set = (values: readonly string[]) => values.flatMap((one) => ['--set', one])
  const rendered = (values: readonly string[], namespace = 'identity') =>
    loadAll(
      helm('template', 'regent', CHART, '--namespace', namespace, '--kube-version', '1.36.0', ...set(values)),
    ).filter(Boolean) as Resource[]
  // biome-ignore lint/suspicious/noExplicitAny: of any kind
  const partOf = (resources: readonly Resource[], kind: string): any => resources.find((one) => one.kind === kind)

  test('it has no faults that are known', () => {
    expect(helm('lint', '--strict', '--kube-version', '1.36.0', CHART, ...set(least))).toContain('0 chart(s) failed')
  })

  test('what is missing, unknown or stated elsewhere is refused', () => {
    expect(() => rendered([])).toThrow(/hostname must be the URL/)
    expect(() => rendered(least.slice(0, 2))).toThrow(/key.secret must name the Secret/)
    expect(() => rendered([...least, 'replica=2'])).toThrow(/'replica' not allowed/)
    expect(() => rendered([...least, 'settings.port=1'])).toThrow(/settings\/port/)
  })

  test('the operator may do something with every kind of resources, and nothing where it is off', () => {
    const [resources, states] = partOf(rendered(least), 'ClusterRole').rules
    const names = rendered(least)
      .filter(({ kind }) => kind === 'CustomResourceDefinition')
      .map(({ spec }) => (spec as { names: { plural: string } }).names.plural)
    expect(resources.resources).toEqual(names)
    expect(states.resources).toEqual(names.map((name) => `${name}/status`))
    const without = rendered([...least, 'operator.enabled=false'])
    expect(without.filter(({ kind }) => kind.startsWith('ClusterRole'))).toEqual([])
    expect(partOf(without, 'Deployment').spec.template.spec.automountServiceAccountToken).toBe(false)
  })

  test('definitions stay when the chart goes', () => {
    const definitions = rendered(least).filter(({ kind }) => kind === 'CustomResourceDefinition')
    for (const { metadata } of definitions)
      expect(metadata).toMatchObject({ annotations: { 'helm.sh/resource-policy': 'keep' } })
  })

  test('Prometheus is told where to ask, if that is wanted', () => {
    expect(partOf(rendered(all), 'ServiceMonitor')).toBeUndefined()
    expect(partOf(rendered([...all, 'serviceMonitor.enabled=true']), 'ServiceMonitor').spec.endpoints).toEqual([
      { port: 'https', path: '/metrics', interval: '30s', scheme: 'https' },
    ])
  })

  describe.skipIf(!hasKubernetes)(onKubernetes, () => {
    let kubernetes: Kubernetes
    let namespace: string
    beforeAll(async () => {
      kubernetes = await openKubernetes()
      namespace = await kubernetes.newNamespace({ 'pod-security.kubernetes.io/enforce': 'restricted' })
    })
    afterAll(() => kubernetes.leave())

    test.each([
      ['what must be given', least],
      ['all that can be given', all],
    ])('the server takes it with %s', async (_, values) => {
      const resources = rendered(values, namespace)
      for (const one of resources)
        expect(await kubernetes.apply(one, 'dryRun=All')).toMatchObject({ status: expect.toBeOneOf([200, 201]) })
      const { spec } = partOf(resources, 'Deployment').spec.template
      const pod = { metadata: { name: 'x' }, spec: { ...spec, serviceAccountName: 'default' } }
      const created = () => kubernetes.ask('POST', `/api/v1/namespaces/${namespace}/pods?dryRun=All`, pod)
      await expect.poll(created, { timeout: 60_000 }).toMatchObject({ status: 201 })
    })
  })
})
