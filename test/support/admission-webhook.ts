// The admission webhook of the chart, which the API server calls in the process of a test.
import { spawnSync } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readFiles } from '../../src/http/server/secure-server.ts'
import { isLoopback } from '../../src/lib/http/loopback.ts'
import { createAdmissionReviewer } from '../../src/operator/admission/admission-reviewer.ts'
import { type AdmissionServer, serveAdmission } from '../../src/operator/admission/admission-server.ts'
import type { Service } from '../../src/service/context/service.ts'
import { renderChart, requiredValues } from './chart.ts'
import { hasHelm, withHelm } from './helm.ts'
import { connect, hasKubernetes, type Kubernetes, onKubernetes } from './kubernetes.ts'
import { createNamespace, resource, type TestNamespace, waitUntil } from './test-operator.ts'

/** Whether the API server can reach the test. */
const isReachable = hasKubernetes && isLoopback(new URL(connect().config.getCurrentCluster()!.server).hostname)
const HOOKS = '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations'

/** Whether the webhook can be tested. */
export const hasAdmission = isReachable && hasHelm

/** Part of the titles of tests with the webhook. It gives the reason if they are skipped. */
export const onAdmission =
  [hasKubernetes && !isReachable && 'skipped: Kubernetes runs on another machine', !hasHelm && withHelm].find(
    Boolean,
  ) || onKubernetes

/** Options of the reviewer of admissions. */
export type ReviewerOptions = Parameters<typeof createAdmissionReviewer>[1]

/** A running webhook, for namespaces with a label of its own. */
export interface TestAdmission {
  readonly server: AdmissionServer
  /** PEM files of the server. */
  readonly files: { readonly certificateFile: string; readonly keyFile: string }
  /** The certificate of the server. */
  readonly certificate: Buffer
  createReviewedNamespace(): Promise<TestNamespace>
  stop(): Promise<void>
}

/** Starts the webhook, and waits until the API server calls it. `label`: of the namespaces, and the name of the webhook. */
export async function startAdmission(
  { service, kubernetes }: { readonly service: Service; readonly kubernetes: Kubernetes },
  label: string,
  options: ReviewerOptions,
): Promise<TestAdmission> {
  const ending = new AbortController()
  const folder = await mkdtemp(join(tmpdir(), 'regent-admission-'))
  const [certificateFile, keyFile] = [join(folder, 'tls.crt'), join(folder, 'tls.key')]
  const subject = ['-subj', '/CN=regent', '-addext', 'subjectAltName=IP:127.0.0.1', '-days', '1']
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes']
  spawnSync('openssl', ['req', '-x509', ...key, '-keyout', keyFile, '-out', certificateFile, ...subject])
  const certificate = await readFile(certificateFile)
  const server = await serveAdmission(
    createAdmissionReviewer(service, options, ending.signal),
    { host: '127.0.0.1', port: 0, readCertificate: readFiles({ certificateFile, keyFile }) },
    options.onError,
  )
  const values = [...requiredValues, 'admission.enabled=true', `admission.namespaceSelector.matchLabels.${label}=yes`]
  const configuration = renderChart(values, { release: label, templates: ['admission'] })[1]!
  const [hook] = configuration.webhooks as object[]
  const clientConfig = { url: `https://127.0.0.1:${server.port}/admission`, caBundle: certificate.toString('base64') }
  await kubernetes.request('POST', HOOKS, { ...configuration, webhooks: [{ ...hook, clientConfig }] })
  const createReviewedNamespace = () => createNamespace(kubernetes, { [label]: 'yes' })
  // An API server uses a new webhook after a while.
  const { namespace } = await createReviewedNamespace()
  const typo = resource('Realm', 'probe', {
    groups: [{ name: 'a', subGroups: [{ name: 'b', subGroups: [{ nam: 'c' }] }] }],
  })
  const probe = { ...typo, metadata: { ...typo.metadata, namespace } }
  await waitUntil(async () => (await kubernetes.apply(probe, 'dryRun=All')).status === 422)
  return {
    server,
    files: { certificateFile, keyFile },
    certificate,
    createReviewedNamespace,
    async stop() {
      await kubernetes.request('DELETE', `${HOOKS}/${label}`)
      await server.close()
      ending.abort()
      await rm(folder, { recursive: true })
    },
  }
}
