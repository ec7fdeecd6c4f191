// The chart: a real API server takes what it renders, and finds nothing in its pods that a restricted namespace forbids.
import { readFileSync } from 'node:fs'
import { load } from 'js-yaml'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { version } from '../../src/lib/version.ts'
import { CHART, renderChart, requiredValues, toSetFlags } from '../support/chart.ts'
import { hasHelm, helm, withHelm } from '../support/helm.ts'
import { hasKubernetes, type Kubernetes, onKubernetes, openKubernetes, type Resource } from '../support/kubernetes.ts'

const all = [
  ...requiredValues,
  'admin.secret=admin',
  'tls.secret=tls',
  'settings.logLevel=info',
  'settings.source={a,b}',
  'networkPolicy.from[0].namespaceSelector.matchLabels.web=yes',
  'networkPolicy.egress[0].ports[0].port=5432',
  'crds.install=false',
  'admission.enabled=true',
  'admission.secret=admission',
  'admission.clientCa.secret=api-server',
  'admission.namespaceSelector.matchLabels.realms=yes',
  'admission.objectSelector.matchLabels.review=yes',
  'admission.from[0].ipBlock.cidr=10.0.0.1/32',
]

test('the chart has the version of the server', () => {
  expect(load(readFileSync(`${CHART}/Chart.yaml`, 'utf8'))).toMatchObject({ version, appVersion: version })
})

describe.skipIf(!hasHelm)(withHelm, () => {
  // biome-ignore lint/suspicious/noExplicitAny: of any kind
  const partOf = (resources: readonly Resource[], kind: string): any => resources.find((one) => one.kind === kind)

  test('it has no faults that are known', () => {
    expect(helm('lint', '--strict', '--kube-version', '1.36.0', CHART, ...toSetFlags(requiredValues))).toContain(
      '0 chart(s) failed',
    )
  })

  test('what is missing, unknown or stated elsewhere is refused', () => {
    expect(() => renderChart([])).toThrow(/hostname must be the URL/)
    expect(() => renderChart(requiredValues.slice(0, 2))).toThrow(/key.secret must name the Secret/)
    expect(() => renderChart([...requiredValues, 'replica=2'])).toThrow(/'replica' not allowed/)
    expect(() => renderChart([...requiredValues, 'settings.port=1'])).toThrow(/settings\/port/)
  })

  test('the operator may do something with every kind of resources, and nothing where it is off', () => {
    const [resources, states] = partOf(renderChart(requiredValues), 'ClusterRole').rules
    const names = renderChart(requiredValues)
      .filter(({ kind }) => kind === 'CustomResourceDefinition')
      .map(({ spec }) => (spec as { names: { plural: string } }).names.plural)
    expect(resources.resources).toEqual(names)
    expect(states.resources).toEqual(names.map((name) => `${name}/status`))
    const without = renderChart([...requiredValues, 'operator.enabled=false'])
    expect(without.filter(({ kind }) => kind.startsWith('ClusterRole'))).toEqual([])
    expect(partOf(without, 'Deployment').spec.template.spec.automountServiceAccountToken).toBe(false)
  })

  test('an API server asks about every kind that states something, if that is wanted, with a certificate that is made or given', () => {
    const admission = ['admission.enabled=true']
    const made = renderChart([...requiredValues, ...admission])
    expect(renderChart(requiredValues).some(({ kind }) => kind === 'ValidatingWebhookConfiguration')).toBe(false)
    const [asks] = partOf(made, 'ValidatingWebhookConfiguration').webhooks
    const states = ({ spec }: Resource) => (spec as { names: { kind: string } }).names.kind !== 'RealmSource'
    const plurals = made.filter(({ kind }) => kind === 'CustomResourceDefinition').filter(states)
    expect(asks.rules[0].resources).toEqual(
      plurals.map(({ spec }) => (spec as { names: { plural: string } }).names.plural),
    )
    const { name, namespace } = asks.clientConfig.service
    const service = made.find(({ kind, metadata }) => kind === 'Service' && metadata.name === name)
    expect(service).toMatchObject({ metadata: { namespace }, spec: { ports: [{ targetPort: 'admission' }] } })
    const certificate = partOf(made, 'Certificate')
    expect(certificate.spec.dnsNames).toEqual([`${name}.${namespace}.svc`])
    const { volumes } = partOf(made, 'Deployment').spec.template.spec
    const secrets = volumes.map(({ secret }: { secret?: { secretName: string } }) => secret?.secretName)
    expect(secrets).toContain(certificate.spec.secretName)
    const given = renderChart([...requiredValues, ...admission, 'admission.secret=own', 'admission.caBundle=Cg=='])
    expect(partOf(given, 'Certificate')).toBeUndefined()
    expect(partOf(given, 'ValidatingWebhookConfiguration').webhooks[0].clientConfig.caBundle).toBe('Cg==')
    expect(() => renderChart([...requiredValues, ...admission, 'admission.secret=own'])).toThrow(
      /admission.caBundle must be/,
    )
    expect(() => renderChart([...requiredValues, ...admission, 'operator.enabled=false'])).toThrow(
      /goes with operator.enabled/,
    )
  })

  test('definitions stay when the chart goes', () => {
    const definitions = renderChart(requiredValues).filter(({ kind }) => kind === 'CustomResourceDefinition')
    for (const { metadata } of definitions)
      expect(metadata).toMatchObject({ annotations: { 'helm.sh/resource-policy': 'keep' } })
  })

  test('Prometheus is told where to ask, if that is wanted', () => {
    const https = [...requiredValues, 'tls.secret=tls']
    expect(partOf(renderChart(https), 'ServiceMonitor')).toBeUndefined()
    expect(partOf(renderChart([...https, 'serviceMonitor.enabled=true']), 'ServiceMonitor').spec.endpoints).toEqual([
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
    afterAll(() => kubernetes.removeNamespaces())

    test.each([
      ['what must be given', requiredValues],
      ['all that can be given', all],
    ])('the server takes it with %s', async (_, values) => {
      const { caData } = kubernetes.config.getCurrentCluster()!
      const resources = renderChart([...values, ...(values === all ? [`admission.caBundle=${caData}`] : [])], {
        namespace,
      })
      for (const one of resources)
        expect(await kubernetes.apply(one, 'dryRun=All')).toMatchObject({ status: expect.toBeOneOf([200, 201]) })
      const { spec } = partOf(resources, 'Deployment').spec.template
      const pod = { metadata: { name: 'x' }, spec: { ...spec, serviceAccountName: 'default' } }
      const created = () => kubernetes.request('POST', `/api/v1/namespaces/${namespace}/pods?dryRun=All`, pod)
      await expect.poll(created, { timeout: 60_000 }).toMatchObject({ status: 201 })
    })
  })
})
