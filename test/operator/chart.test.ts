// The Helm chart: a real API server accepts its resources, and its pods in a restricted namespace.
import { readFileSync } from 'node:fs'
import { load } from 'js-yaml'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { version } from '../../src/lib/version.ts'
import { connectToCluster } from '../../src/operator/cluster/cluster-client.ts'
import { listCrds } from '../../src/operator/crds/crds.ts'
import { installCrds } from '../../src/operator/crds/install-crds.ts'
import { CHART, renderChart, requiredValues, toSetFlags } from '../support/chart.ts'
import { hasHelm, helm, withHelm } from '../support/helm.ts'
import { hasKubernetes, type Kubernetes, onKubernetes, openKubernetes, type Resource } from '../support/kubernetes.ts'
import { readMetrics } from '../support/metrics.ts'
import { newName, testService } from '../support/service.ts'

/** Values by path: each is rendered alone, with the values that it needs. */
const samples: Readonly<Record<string, readonly string[]>> = {
  nameOverride: ['nameOverride=identity'],
  fullnameOverride: ['fullnameOverride=identity'],
  commonLabels: ['commonLabels.team=identity'],
  'image.repository': ['image.repository=ghcr.example.org/regent'],
  'image.tag': ['image.tag=1.2.3'],
  'image.digest': [`image.digest=sha256:${'0'.repeat(64)}`],
  'image.pullPolicy': ['image.pullPolicy=Always'],
  'image.pullSecrets': ['image.pullSecrets[0].name=registry'],
  replicas: ['replicas=3'],
  strategy: ['strategy.type=Recreate'],
  terminationGracePeriodSeconds: ['terminationGracePeriodSeconds=30'],
  managementPort: ['managementPort=9100'],
  hostname: ['hostname=https://login.example.org'],
  host: ['host=::'],
  'database.secret': ['database.secret=postgres'],
  'database.key': ['database.key=uri'],
  'key.secret': ['key.secret=keys'],
  'key.key': ['key.key=current'],
  'admin.secret': ['admin.secret=admin'],
  'admin.userKey': ['admin.secret=admin', 'admin.userKey=name'],
  'admin.passwordKey': ['admin.secret=admin', 'admin.passwordKey=pass'],
  settings: ['settings.logLevel=info', 'settings.source={a,b}', 'settings.requireSecondApprover=true'],
  env: ['env[0].name=REALM', 'env[0].value=acme'],
  envFrom: ['envFrom[0].configMapRef.name=realms'],
  extraVolumes: ['extraVolumes[0].name=more', 'extraVolumes[0].emptyDir.medium=Memory'],
  extraVolumeMounts: [
    ...['extraVolumes[0].name=more', 'extraVolumes[0].emptyDir.medium=Memory'],
    ...['extraVolumeMounts[0].name=more', 'extraVolumeMounts[0].mountPath=/more'],
  ],
  'trustedCa.secret': ['trustedCa.secret=ca'],
  'trustedCa.configMap': ['trustedCa.configMap=ca'],
  'trustedCa.key': ['trustedCa.secret=ca', 'trustedCa.key=root.pem'],
  podSecurityContext: ['podSecurityContext.runAsNonRoot=true', 'podSecurityContext.runAsUser=2000'],
  'temporaryFiles.sizeLimit': ['temporaryFiles.sizeLimit=500Mi'],
  'tls.secret': ['tls.secret=tls'],
  'vault.secret': ['vault.secret=vault'],
  'operator.enabled': ['operator.enabled=false'],
  'operator.namespaces': ['operator.namespaces={shop,web}'],
  'operator.className': ['operator.className=staging'],
  'operator.secrets.names': ['operator.secrets.names={smtp}'],
  'operator.secrets.writtenIn': ['operator.secrets.writtenIn={shop}'],
  'operator.releaseOnUninstall': ['operator.releaseOnUninstall=true'],
  'aggregatedRoles.enabled': ['aggregatedRoles.enabled=false'],
  'admission.enabled': ['admission.enabled=true'],
  'admission.secret': ['admission.enabled=true', 'admission.secret=tls', 'admission.caBundle=Cg=='],
  'admission.caBundle': ['admission.enabled=true', 'admission.secret=tls', 'admission.caBundle=Cgo='],
  'admission.issuer': ['admission.enabled=true', 'admission.issuer.name=company'],
  'admission.clientCa.secret': ['admission.enabled=true', 'admission.clientCa.secret=api-server'],
  'admission.clientCa.key': [
    ...['admission.enabled=true', 'admission.clientCa.secret=api-server', 'admission.clientCa.key=root.crt'],
  ],
  'admission.failurePolicy': ['admission.enabled=true', 'admission.failurePolicy=Fail'],
  'admission.timeoutSeconds': ['admission.enabled=true', 'admission.timeoutSeconds=5'],
  'admission.namespaceSelector': ['admission.enabled=true', 'admission.namespaceSelector.matchLabels.realms=yes'],
  'admission.objectSelector': ['admission.enabled=true', 'admission.objectSelector.matchLabels.review=yes'],
  'admission.from': ['admission.enabled=true', 'admission.from[0].ipBlock.cidr=10.0.0.1/32'],
  'crds.install': ['crds.install=false'],
  'serviceAccount.name': ['serviceAccount.name=identity'],
  'serviceAccount.annotations': ['serviceAccount.annotations.role=identity'],
  'service.type': ['service.type=LoadBalancer'],
  'service.port': ['service.port=8080'],
  'service.annotations': ['service.annotations.internal=yes'],
  'ingress.enabled': ['ingress.enabled=true'],
  'ingress.className': ['ingress.enabled=true', 'ingress.className=nginx'],
  'ingress.annotations': ['ingress.enabled=true', 'ingress.annotations.owner=identity'],
  'ingress.tlsSecret': ['ingress.enabled=true', 'ingress.tlsSecret=public-tls'],
  'httpRoute.enabled': ['httpRoute.enabled=true', 'httpRoute.parentRefs[0].name=public'],
  'httpRoute.parentRefs': ['httpRoute.enabled=true', 'httpRoute.parentRefs[0].name=internal'],
  'httpRoute.annotations': [
    ...['httpRoute.enabled=true', 'httpRoute.parentRefs[0].name=public', 'httpRoute.annotations.owner=identity'],
  ],
  'networkPolicy.enabled': ['networkPolicy.enabled=false'],
  'networkPolicy.from': ['networkPolicy.from[0].namespaceSelector.matchLabels.web=yes'],
  'networkPolicy.metricsFrom': ['networkPolicy.metricsFrom[0].namespaceSelector.matchLabels.monitoring=yes'],
  'networkPolicy.egress': ['networkPolicy.egress[0].ports[0].port=5432'],
  'podDisruptionBudget.enabled': ['podDisruptionBudget.enabled=false'],
  'podDisruptionBudget.minAvailable': ['podDisruptionBudget.minAvailable=2'],
  'serviceMonitor.enabled': ['serviceMonitor.enabled=true'],
  'serviceMonitor.interval': ['serviceMonitor.enabled=true', 'serviceMonitor.interval=10s'],
  'serviceMonitor.labels': ['serviceMonitor.enabled=true', 'serviceMonitor.labels.release=prometheus'],
  'prometheusRule.enabled': ['prometheusRule.enabled=true'],
  'prometheusRule.labels': ['prometheusRule.enabled=true', 'prometheusRule.labels.release=prometheus'],
  'dashboard.enabled': ['dashboard.enabled=true'],
  'dashboard.labels': ['dashboard.enabled=true', 'dashboard.labels.folder=identity'],
  resources: ['resources.limits.cpu=2'],
  podAnnotations: ['podAnnotations.owner=identity'],
  podLabels: ['podLabels.owner=identity'],
  nodeSelector: ['nodeSelector.disk=ssd'],
  tolerations: ['tolerations[0].operator=Exists'],
  affinity: ['affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].weight=1'],
  priorityClassName: ['priorityClassName=high'],
}

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
  'operator.releaseOnUninstall=true',
  'ingress.enabled=true',
  'dashboard.enabled=true',
  'trustedCa.secret=ca',
]

test('the chart has the version of the server', () => {
  expect(load(readFileSync(`${CHART}/Chart.yaml`, 'utf8'))).toMatchObject({ version, appVersion: version })
})

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>
}

describe.skipIf(!hasHelm)(withHelm, () => {
  // biome-ignore lint/suspicious/noExplicitAny: of any kind
  const findResource = (resources: readonly Resource[], kind: string): any =>
    resources.find((resource) => resource.kind === kind)

  const listPlurals = () =>
    listCrds()
      .map(({ spec }) => spec.names.plural)
      .toSorted()
  const readSchema = () => JSON.parse(readFileSync(`${CHART}/values.schema.json`, 'utf8'))
  /** Returns the paths of the values in a schema. */
  const listValues = ({ properties }: Schema, prefix = ''): string[] =>
    Object.entries(properties ?? {})
      .flatMap(([name, value]) =>
        value.properties && name !== 'settings' ? listValues(value, `${prefix}${name}.`) : [`${prefix}${name}`],
      )
      .filter((path) => path !== 'global')

  test('helm lint --strict finds no problems', () => {
    expect(helm('lint', '--strict', '--kube-version', '1.36.0', CHART, ...toSetFlags(requiredValues))).toContain(
      '0 chart(s) failed',
    )
  })

  test('missing and unknown values are refused, and so are settings that the chart sets itself', () => {
    expect(() => renderChart(requiredValues.slice(0, 1))).toThrow(/hostname must be the URL/)
    expect(() => renderChart(requiredValues.slice(1))).toThrow(/image.repository must be the repository/)
    expect(() => renderChart(requiredValues.slice(0, 3))).toThrow(/key.secret must name the Secret/)
    expect(() => renderChart([...requiredValues, 'settings.logLevl=info'])).toThrow(
      /settings.*logLevl.*not allowed|'logLevl' not allowed/,
    )
    expect(() => renderChart([...requiredValues, 'trustedCa.secret=a', 'trustedCa.configMap=b'])).toThrow(
      /trustedCa.secret and trustedCa.configMap exclude each other/,
    )
    const withPath = requiredValues.map((value) => value.replace('id.example.org', 'example.org/id'))
    expect(() => renderChart([...withPath, 'ingress.enabled=true'])).toThrow(/requires a hostname without a path/)
    expect(() => renderChart([...requiredValues, 'httpRoute.enabled=true'])).toThrow(/httpRoute.parentRefs must name/)
    expect(() => renderChart([...requiredValues, 'replica=2'])).toThrow(/'replica' not allowed/)
    expect(() => renderChart([...requiredValues, 'settings.port=1'])).toThrow(/settings\/port/)
  })

  test('the ClusterRole has permissions for every kind, and is omitted without the operator', () => {
    const clusterRole = findResource(renderChart(requiredValues, { templates: ['roles'] }), 'ClusterRole')
    const [resources, statusRule] = clusterRole.rules
    const names = listPlurals()
    expect(resources.resources).toEqual(names)
    expect(statusRule.resources).toEqual(names.map((name) => `${name}/status`))
    const withoutOperator = renderChart([...requiredValues, 'operator.enabled=false', 'crds.install=false'])
    expect(withoutOperator.filter(({ kind }) => kind.startsWith('ClusterRole'))).toEqual([])
    const namespaceRoles = renderChart(requiredValues, { templates: ['aggregated-roles'] })
    const ofRealms = ['realms', 'realmsources']
    const inRealms = names.filter((name) => !ofRealms.includes(name))
    expect(namespaceRoles.map((role) => (role as { rules?: { resources: string[] }[] }).rules)).toMatchObject([
      [{ resources: names }],
      [{ resources: inRealms }],
      [{ resources: ofRealms }],
    ])
    const listAggregations = (role: Resource) =>
      Object.keys((role.metadata as { labels?: object }).labels ?? {})
        .filter((label) => label.includes('aggregate-to'))
        .toSorted()
    expect(namespaceRoles.map(listAggregations)).toEqual([
      [
        'rbac.authorization.k8s.io/aggregate-to-admin',
        'rbac.authorization.k8s.io/aggregate-to-edit',
        'rbac.authorization.k8s.io/aggregate-to-view',
      ],
      ['rbac.authorization.k8s.io/aggregate-to-admin', 'rbac.authorization.k8s.io/aggregate-to-edit'],
      [],
    ])
    expect(findResource(withoutOperator, 'Deployment').spec.template.spec.automountServiceAccountToken).toBe(false)
  })

  test('operator.namespaces replaces each ClusterRole by Roles in these namespaces', () => {
    const values = ['operator.namespaces={shop,web}', 'operator.secrets.writtenIn={shop}', 'crds.install=false']
    const rendered = renderChart([...requiredValues, ...values, 'operator.releaseOnUninstall=true'])
    expect(rendered.filter(({ kind }) => kind.startsWith('ClusterRole'))).toEqual([])
    const listRoles = (role: string) =>
      rendered
        .filter(({ kind }) => kind === role)
        .map(({ metadata }) => `${metadata.namespace}/${metadata.name}`)
        .toSorted()
    const expected = [
      'identity/regent-lease',
      'shop/regent-identity',
      'shop/regent-identity-secrets',
      'shop/regent-release',
      'web/regent-identity',
      'web/regent-release',
    ]
    expect(listRoles('Role')).toEqual(expected)
    expect(listRoles('RoleBinding')).toEqual(expected)
  })

  test('Secrets are read by name if operator.secrets.names is set, and written only in operator.secrets.writtenIn', () => {
    // biome-ignore lint/suspicious/noExplicitAny: rules of roles
    const listSecretRules = (...values: string[]): any[] =>
      renderChart([...requiredValues, ...values], { templates: ['roles'] })
        .flatMap((role) => (role as { rules?: { resources: string[] }[] }).rules ?? [])
        .filter(({ resources }) => resources.includes('secrets'))
        .map(({ apiGroups: _, resources: __, ...rule }: { apiGroups?: string[]; resources: string[] }) => rule)
    expect(listSecretRules()).toEqual([{ verbs: ['list', 'watch'] }])
    expect(listSecretRules('operator.secrets.names={smtp,shop}', 'operator.secrets.writtenIn={*}')).toEqual([
      { resourceNames: ['smtp', 'shop'], verbs: ['list', 'watch'] },
      { verbs: ['create'] },
      { resourceNames: ['smtp', 'shop'], verbs: ['patch', 'delete'] },
    ])
  })

  test('admission.enabled adds a webhook for every kind but RealmSource, with a generated or a given certificate', () => {
    const admission = ['admission.enabled=true']
    const rendered = renderChart([...requiredValues, ...admission], {
      flags: ['--api-versions', 'cert-manager.io/v1'],
    })
    expect(renderChart(requiredValues).some(({ kind }) => kind === 'ValidatingWebhookConfiguration')).toBe(false)
    const [webhook] = findResource(rendered, 'ValidatingWebhookConfiguration').webhooks
    expect(webhook.rules[0].resources).toEqual(listPlurals().filter((plural) => plural !== 'realmsources'))
    const { name, namespace } = webhook.clientConfig.service
    const service = rendered.find(({ kind, metadata }) => kind === 'Service' && metadata.name === name)
    expect(service).toMatchObject({ metadata: { namespace }, spec: { ports: [{ targetPort: 'admission' }] } })
    const certificate = findResource(rendered, 'Certificate')
    expect(certificate.spec.dnsNames).toEqual([`${name}.${namespace}.svc`])
    const { volumes } = findResource(rendered, 'Deployment').spec.template.spec
    const secrets = volumes.map(({ secret }: { secret?: { secretName: string } }) => secret?.secretName)
    expect(secrets).toContain(certificate.spec.secretName)
    const withoutCertManager = renderChart([...requiredValues, ...admission])
    expect(findResource(withoutCertManager, 'Certificate')).toBeUndefined()
    const { env } = findResource(withoutCertManager, 'Deployment').spec.template.spec.containers[0]
    expect(env).toContainEqual({ name: 'REGENT_ADMISSION_WEBHOOK', value: 'regent' })
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

  test('each value of the schema is rendered, and changes what is rendered', () => {
    expect(Object.keys(samples).toSorted()).toEqual(listValues(readSchema()).toSorted())
    const rendered = new Map<string, string>()
    for (const [path, values] of Object.entries(samples)) {
      const render = (added: readonly string[]) => {
        const all = [...requiredValues, ...added]
        const text = rendered.get(all.join()) ?? JSON.stringify(renderChart(all))
        rendered.set(all.join(), text)
        return text
      }
      const without = values.filter((value) => !value.startsWith(path))
      // A certificate needs both values.
      const isNeeded = /^(admission\.(secret|caBundle)|httpRoute\.parentRefs)$/.test(path)
      const before = isNeeded ? samples[`${path.split('.')[0]}.enabled`]! : without
      expect(render(values) === render(before), path).toBe(false)
    }
  })

  test('on OpenShift, the pod has no user and groups of its own', () => {
    const security = (flags: string[]) =>
      findResource(renderChart(requiredValues, { flags, templates: ['deployment'] }), 'Deployment').spec.template.spec
        .securityContext
    const common = { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } }
    expect(security([])).toEqual({ ...common, runAsUser: 1000, runAsGroup: 1000, fsGroup: 1000 })
    expect(security(['--api-versions', 'security.openshift.io/v1'])).toEqual(common)
  })

  test('a hook applies the CRDs, which no release owns, and its pod gets no requests of clients', () => {
    const rendered = renderChart(requiredValues)
    expect(findResource(rendered, 'CustomResourceDefinition')).toBeUndefined()
    const job = findResource(rendered, 'Job')
    expect(job.metadata.annotations['helm.sh/hook']).toBe('pre-install,pre-upgrade')
    expect(job.spec.template.spec.containers[0].command).toEqual(['node', 'bin/regent.js', 'operator', 'install'])
    const { selector } = findResource(rendered, 'Service').spec
    expect(job.spec.template.metadata.labels).not.toMatchObject(selector)
  })

  test('serviceMonitor.enabled adds a ServiceMonitor for the metrics endpoint', () => {
    const https = [...requiredValues, 'tls.secret=tls']
    expect(findResource(renderChart(https), 'ServiceMonitor')).toBeUndefined()
    const monitored = renderChart([...https, 'serviceMonitor.enabled=true'], { templates: ['service-monitor'] })
    const { spec } = findResource(monitored, 'ServiceMonitor')
    expect(spec.endpoints).toEqual([{ port: 'management', path: '/metrics', interval: '30s' }])
    expect(findResource(monitored, 'Service').metadata.labels).toMatchObject(spec.selector.matchLabels)
  })

  test('alert rules and the dashboard query only metrics that the server exports', async () => {
    const rendered = renderChart([...requiredValues, 'prometheusRule.enabled=true', 'dashboard.enabled=true'])
    const { groups } = findResource(rendered, 'PrometheusRule').spec
    const dashboard = JSON.parse(findResource(rendered, 'ConfigMap').data['regent.json'])
    const queries: string[] = [
      ...groups.flatMap(({ rules }: { rules: { expr: string }[] }) => rules.map(({ expr }) => expr)),
      ...dashboard.panels.flatMap(({ targets }: { targets: { expr: string }[] }) => targets.map(({ expr }) => expr)),
    ]
    const names = new Set(queries.flatMap((query) => query.match(/\b(?:regent|process|nodejs)_\w+/g) ?? []))
    expect(names.size).toBeGreaterThan(8)
    const { service } = await testService()
    const exported = await readMetrics(service, { isPublic: false })
    const isExported = (name: string) => exported.includes(`# TYPE ${name.replace(/_(?:count|bucket|sum)$/, '')} `)
    expect([...names].filter((name) => !isExported(name))).toEqual([])
  })

  describe.skipIf(!hasKubernetes)(onKubernetes, () => {
    let kubernetes: Kubernetes
    let namespace: string
    beforeAll(async () => {
      kubernetes = await openKubernetes()
      namespace = await kubernetes.newNamespace({ 'pod-security.kubernetes.io/enforce': 'restricted' })
    })
    afterAll(() => kubernetes.removeNamespaces())

    test('Helm installs, upgrades and uninstalls a release, and installs another one beside existing definitions', async () => {
      const space = await kubernetes.newNamespace()
      const [first, second] = [newName('first'), newName('second')]
      // Pods do not run here, so that jobs of hooks would never end. `regent operator install` does what that before installation does.
      const run = (verb: string, release: string, values: readonly string[] = []) =>
        helm(verb, release, CHART, '--namespace', space, '--no-hooks', ...toSetFlags([...requiredValues, ...values]))
      const listNames = async (path: string) =>
        ((await kubernetes.request('GET', path)).body.items as Resource[]).map(({ metadata: { name } }) => name)
      const listDeployments = () => listNames(`/apis/apps/v1/namespaces/${space}/deployments`)
      await installCrds(connectToCluster())
      expect(run('install', first)).toContain('STATUS: deployed')
      expect(await listDeployments()).toEqual([`${first}-regent`])
      const values = ['admission.enabled=true', 'operator.secrets.writtenIn={*}', 'replicas=3']
      expect(run('upgrade', first, values)).toContain('REVISION: 2')
      const hooks = '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations'
      expect(await listNames(hooks)).toContain(`${first}-regent`)
      helm('uninstall', first, '--namespace', space, '--no-hooks')
      expect(await listDeployments()).toEqual([])
      const definitions = await listNames('/apis/apiextensions.k8s.io/v1/customresourcedefinitions')
      expect(definitions).toEqual(expect.arrayContaining(listCrds().map(({ metadata }) => metadata.name)))
      expect(run('install', second, values)).toContain('STATUS: deployed')
      helm('uninstall', second, '--namespace', space, '--no-hooks')
      const roles = await listNames('/apis/rbac.authorization.k8s.io/v1/clusterroles')
      expect(roles.filter((name) => name.startsWith(first) || name.startsWith(second))).toEqual([])
      expect((await listNames(hooks)).filter((name) => name.startsWith(first) || name.startsWith(second))).toEqual([])
    })

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
