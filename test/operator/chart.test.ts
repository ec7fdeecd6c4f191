// The Helm chart: a real API server accepts its resources, and its pods in a restricted namespace.
import { readFileSync } from 'node:fs'
import { load } from 'js-yaml'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { version } from '../../src/lib/version.ts'
import { CHART, renderChart, requiredValues, toSetFlags } from '../support/chart.ts'
import { hasHelm, helm, withHelm } from '../support/helm.ts'
import { hasKubernetes, type Kubernetes, onKubernetes, openKubernetes, type Resource } from '../support/kubernetes.ts'

const allValues = [
  ...requiredValues,
  'admin.secret=admin',
  'tls.secret=tls',
  'vault.secret=vault',
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
  const findResource = (resources: readonly Resource[], kind: string): any =>
    resources.find((resource) => resource.kind === kind)

  test('helm lint --strict finds no problems', () => {
    expect(helm('lint', '--strict', '--kube-version', '1.36.0', CHART, ...toSetFlags(requiredValues))).toContain(
      '0 chart(s) failed',
    )
  })

  test('missing and unknown values are refused, and so are settings that the chart sets itself', () => {
    expect(() => renderChart([])).toThrow(/hostname must be the URL/)
    expect(() => renderChart(requiredValues.slice(0, 2))).toThrow(/key.secret must name the Secret/)
    expect(() => renderChart([...requiredValues, 'replica=2'])).toThrow(/'replica' not allowed/)
    expect(() => renderChart([...requiredValues, 'settings.port=1'])).toThrow(/settings\/port/)
  })

  test('the ClusterRole has permissions for every kind, and is omitted without the operator', () => {
    const [resources, statusRule] = findResource(renderChart(requiredValues), 'ClusterRole').rules
    const names = renderChart(requiredValues)
      .filter(({ kind }) => kind === 'CustomResourceDefinition')
      .map(({ spec }) => (spec as { names: { plural: string } }).names.plural)
    expect(resources.resources).toEqual(names)
    expect(statusRule.resources).toEqual(names.map((name) => `${name}/status`))
    const withoutOperator = renderChart([...requiredValues, 'operator.enabled=false'])
    expect(withoutOperator.filter(({ kind }) => kind.startsWith('ClusterRole'))).toEqual([])
    expect(findResource(withoutOperator, 'Deployment').spec.template.spec.automountServiceAccountToken).toBe(false)
  })

  test('admission.enabled adds a webhook for every kind but RealmSource, with a generated or a given certificate', () => {
    const admission = ['admission.enabled=true']
    const rendered = renderChart([...requiredValues, ...admission])
    expect(renderChart(requiredValues).some(({ kind }) => kind === 'ValidatingWebhookConfiguration')).toBe(false)
    const [webhook] = findResource(rendered, 'ValidatingWebhookConfiguration').webhooks
    const isRealmKind = ({ spec }: Resource) => (spec as { names: { kind: string } }).names.kind !== 'RealmSource'
    const plurals = rendered.filter(({ kind }) => kind === 'CustomResourceDefinition').filter(isRealmKind)
    expect(webhook.rules[0].resources).toEqual(
      plurals.map(({ spec }) => (spec as { names: { plural: string } }).names.plural),
    )
    const { name, namespace } = webhook.clientConfig.service
    const service = rendered.find(({ kind, metadata }) => kind === 'Service' && metadata.name === name)
    expect(service).toMatchObject({ metadata: { namespace }, spec: { ports: [{ targetPort: 'admission' }] } })
    const certificate = findResource(rendered, 'Certificate')
    expect(certificate.spec.dnsNames).toEqual([`${name}.${namespace}.svc`])
    const { volumes } = findResource(rendered, 'Deployment').spec.template.spec
    const secrets = volumes.map(({ secret }: { secret?: { secretName: string } }) => secret?.secretName)
    expect(secrets).toContain(certificate.spec.secretName)
    const withCertificate = renderChart([
      ...requiredValues,
      ...admission,
      'admission.secret=tls',
      'admission.caBundle=Cg==',
    ])
    expect(findResource(withCertificate, 'Certificate')).toBeUndefined()
    expect(findResource(withCertificate, 'ValidatingWebhookConfiguration').webhooks[0].clientConfig.caBundle).toBe(
      'Cg==',
    )
    expect(() => renderChart([...requiredValues, ...admission, 'admission.secret=tls'])).toThrow(
      /admission.caBundle must contain the CA certificates/,
    )
    expect(() => renderChart([...requiredValues, ...admission, 'operator.enabled=false'])).toThrow(
      /admission.enabled requires operator.enabled/,
    )
  })

  test('CRDs are kept when the chart is uninstalled', () => {
    const definitions = renderChart(requiredValues).filter(({ kind }) => kind === 'CustomResourceDefinition')
    for (const { metadata } of definitions)
      expect(metadata).toMatchObject({ annotations: { 'helm.sh/resource-policy': 'keep' } })
  })

  test('serviceMonitor.enabled adds a ServiceMonitor for the metrics endpoint', () => {
    const https = [...requiredValues, 'tls.secret=tls']
    expect(findResource(renderChart(https), 'ServiceMonitor')).toBeUndefined()
    expect(
      findResource(renderChart([...https, 'serviceMonitor.enabled=true']), 'ServiceMonitor').spec.endpoints,
    ).toEqual([{ port: 'https', path: '/metrics', interval: '30s', scheme: 'https' }])
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
      ['required values', requiredValues],
      ['all values', allValues],
    ])('the API server accepts the chart with %s', async (_, values) => {
      const { caData } = kubernetes.config.getCurrentCluster()!
      const resources = renderChart([...values, ...(values === allValues ? [`admission.caBundle=${caData}`] : [])], {
        namespace,
      })
      for (const resource of resources)
        expect(await kubernetes.apply(resource, 'dryRun=All')).toMatchObject({ status: expect.toBeOneOf([200, 201]) })
      const { spec } = findResource(resources, 'Deployment').spec.template
      const pod = { metadata: { name: 'x' }, spec: { ...spec, serviceAccountName: 'default' } }
      const createPod = () => kubernetes.request('POST', `/api/v1/namespaces/${namespace}/pods?dryRun=All`, pod)
      await expect.poll(createPod, { timeout: 60_000 }).toMatchObject({ status: 201 })
    })
  })
})
