// The certificate of the admission webhook that Regent makes itself, and the CRDs that it installs.
import { X509Certificate } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readAdmissionCertificate } from '../../src/operator/admission/admission-certificate.ts'
import { type ClusterClient, connectToCluster } from '../../src/operator/cluster/cluster-client.ts'
import { listCrds } from '../../src/operator/crds/crds.ts'
import { installCrds } from '../../src/operator/crds/install-crds.ts'
import { renderChart, requiredValues } from '../support/chart.ts'
import { hasHelm, withHelm } from '../support/helm.ts'
import { hasKubernetes, type Kubernetes, onKubernetes, openKubernetes } from '../support/kubernetes.ts'
import { newName } from '../support/service.ts'

const HOOKS = '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations'
const DAY = 24 * 3600 * 1000

describe.skipIf(!hasKubernetes || !hasHelm)(hasHelm ? onKubernetes : withHelm, () => {
  let kubernetes: Kubernetes
  let cluster: ClusterClient
  let namespace: string
  const name = newName('admission')
  beforeAll(async () => {
    kubernetes = await openKubernetes()
    cluster = connectToCluster()
    namespace = await kubernetes.newNamespace()
    const values = [
      ...requiredValues,
      `fullnameOverride=${name}`,
      'admission.enabled=true',
      // The webhook must not be called by other tests.
      'admission.namespaceSelector.matchLabels.reviewed=never',
    ]
    const [, configuration] = renderChart(values, { namespace, templates: ['admission'] })
    expect(await kubernetes.apply(configuration!)).toMatchObject({ status: 201 })
  })
  afterAll(async () => {
    await kubernetes.request('DELETE', `${HOOKS}/${name}`)
    await kubernetes.removeNamespaces()
  })

  const readTrusted = async () => {
    const { webhooks } = (await kubernetes.request('GET', `${HOOKS}/${name}`)).body
    const text = Buffer.from(webhooks[0].clientConfig.caBundle, 'base64').toString()
    return text.match(/-----BEGIN[^-]+-----[^-]+-----END CERTIFICATE-----\n/g)
  }
  const read = (days = 0) => readAdmissionCertificate(cluster, name, () => new Date(Date.now() + days * DAY))

  test('replicas get the same certificate, which the API server trusts, and a new one before it expires', async () => {
    const attempts = await Promise.allSettled([read(), read()])
    const [refused] = attempts.flatMap((attempt) => (attempt.status === 'rejected' ? [attempt.reason] : []))
    // The API server refuses to write what another replica has changed meanwhile.
    if (refused) expect(refused).toMatchObject({ status: expect.toBeOneOf([409, 422]) })
    const first = await read()
    expect(await read()).toEqual(first)
    const { subjectAltName, validTo } = new X509Certificate(first.cert)
    expect(subjectAltName).toBe(`DNS:${name}-admission.${namespace}.svc`)
    expect(Math.round((Date.parse(validTo) - Date.now()) / DAY)).toBe(90)
    expect(await readTrusted()).toEqual([first.cert])

    expect(await read(59)).toEqual(first)
    const second = await read(61)
    expect(second.cert).not.toBe(first.cert)
    // Replicas that still use the first one are trusted, too.
    expect(await readTrusted()).toEqual([second.cert, first.cert])
    expect(await read(61)).toEqual(second)
  })

  test('installed CRDs are updated, also those that other software manages', async () => {
    const [crd] = listCrds()
    const labels = { 'app.kubernetes.io/managed-by': 'Helm' }
    const { status } = await kubernetes.apply(Object.assign(crd!, { metadata: { ...crd!.metadata, labels } }))
    expect(status).toBe(200)
    const outcomes = await installCrds(cluster)
    expect(outcomes.map(({ name }) => name)).toEqual(listCrds().map(({ metadata }) => metadata.name))
    expect((await installCrds(cluster)).map(({ outcome }) => outcome)).toEqual(outcomes.map(() => 'unchanged'))
  })
})
