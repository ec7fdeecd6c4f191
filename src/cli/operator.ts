// Starts the Kubernetes operator of the server, and its admission webhook.
import type { ServerSettings } from '../config.ts'
import { type CertificateOptions, readFiles } from '../http/server/secure-server.ts'
import { getBackOff } from '../lib/timing/back-off.ts'
import { retry } from '../lib/timing/retry.ts'
import { readAdmissionCertificate } from '../operator/admission/admission-certificate.ts'
import { createAdmissionReviewer } from '../operator/admission/admission-reviewer.ts'
import { type AdmissionServer, serveAdmission } from '../operator/admission/admission-server.ts'
import { ClusterError, ClusterUnreachable, connectToCluster } from '../operator/cluster/cluster-client.ts'
import { type WebhookSources, watchWebhookSources } from '../operator/git/git-source-webhooks.ts'
import { createOperator, OPERATOR_LEASE, type OperatorOptions } from '../operator/operator.ts'
import type { Service } from '../service/context/service.ts'
import { startLeaseElection } from '../service/operations/leases.ts'
import { readPermissions } from './configured-sources.ts'

/** Milliseconds between the first attempts to make a certificate, and at most. */
const CERTIFICATE_DELAYS = [250, 30_000] as const

/** A running operator. */
export interface RunningOperator {
  /** Notified of pushes to git sources, also in replicas that do not hold the lease. */
  readonly webhooks: WebhookSources
  close(): Promise<void>
}

/** Starts the operator. One replica applies resources; every replica with a certificate serves admission. */
export async function startOperator(
  service: Service,
  settings: ServerSettings,
  failed: (error: unknown) => void,
): Promise<RunningOperator> {
  const options = toOperatorOptions(service, settings, failed)
  const { onError } = options
  const ending = new AbortController()
  const admission = await startAdmission(service, { settings, options, signal: ending.signal }).catch(
    (error: unknown) => {
      ending.abort()
      throw error
    },
  )
  const seeker = startLeaseElection(service, createOperator(service, options), {
    name: OPERATOR_LEASE,
    seconds: settings.sourceLease,
  })
  return {
    webhooks: watchWebhookSources(options.cluster, {
      scope: options.scope,
      isWatchedNamespace: options.isWatchedNamespace,
      onError,
      signal: ending.signal,
    }),
    async close() {
      ending.abort()
      await admission?.close()
      await seeker.close()
    },
  }
}

/** The settings of the server, and the options of its operator. */
interface AdmissionOptions {
  readonly settings: ServerSettings
  readonly options: OperatorOptions
  /** Ends the watches of the reviewer. */
  readonly signal: AbortSignal
}

/** Serves the admission webhook if there is a certificate for it. One that Regent makes is awaited in the background. */
async function startAdmission(
  service: Service,
  { settings, options, signal }: AdmissionOptions,
): Promise<Pick<AdmissionServer, 'close'> | undefined> {
  const { host, admissionPort: port, admissionClientCaFile: clientCaFile, admissionWebhook: webhook } = settings
  const { admissionCertificateFile: certificateFile, admissionCertificateKeyFile: keyFile } = settings
  const { cluster, onError } = options
  const serve = (readCertificate: CertificateOptions['readCertificate']) =>
    serveAdmission(
      createAdmissionReviewer(service, options, signal),
      { host, port, clientCaFile, readCertificate },
      onError,
    )
  if (certificateFile && keyFile) return serve(readFiles({ certificateFile, keyFile }))
  if (webhook === undefined) return undefined
  const readCertificate = () => readAdmissionCertificate(cluster, webhook, service.clock)
  const delayAfter = (error: unknown, failures: number) => {
    if (failures === 1) onError(error)
    return getBackOff(failures, ...CERTIFICATE_DELAYS)
  }
  const starting = retry(readCertificate, { delayAfter, signal }).then(() => serve(readCertificate))
  return { close: () => starting.then((server) => server.close()).catch(() => {}) }
}

function toOperatorOptions(
  service: Service,
  settings: ServerSettings,
  failed: (error: unknown) => void,
): OperatorOptions {
  const { operatorNamespaces: namespaces, operatorSecrets: secretNames, operatorClass: className } = settings
  const { adoptableRealms = [], operatorLease } = settings
  const log = (line: string) => console.log(`${line}\n`)
  const permissionsBySource = readPermissions(settings)
  const cluster = connectToCluster(undefined, log, service.measurements)
  return {
    cluster,
    scope: { namespaces, secretNames, className },
    clusterLease: {
      namespace: cluster.namespace,
      name: operatorLease ?? (className === undefined ? 'regent' : `regent-${className}`),
    },
    findSourcePermissions: (source) => permissionsBySource.get(source) ?? permissionsBySource.get('*'),
    isAdoptable: (namespace, realm) =>
      adoptableRealms.some((entry) => entry.namespace === namespace && entry.realms.includes(realm)),
    gitDefaults: {
      interval: settings.sourceInterval,
      signersFile: settings.sourceSigners,
      readsAuthors: settings.requireSecondApprover,
      artifactHosts: settings.fluxArtifactHosts,
    },
    publicUrl: settings.hostname,
    isWatchedNamespace: (namespace) => !namespaces || namespaces.includes(namespace),
    log,
    onError: createErrorHandler(failed, log),
  }
}

/** Returns a function that logs the errors of the operator. Those of the API server have no stack, which would not help. */
function createErrorHandler(failed: (error: unknown) => void, log: (line: string) => void) {
  return (error: unknown): void => {
    // The client prints outages.
    if (error instanceof ClusterUnreachable) return
    if (!(error instanceof ClusterError)) failed(error)
    // A server that starts or is overloaded refuses requests, which are repeated.
    else if (error.status >= 500 || error.status === 429) log(`The API server is not ready: ${error.message}`)
    else failed(error.message)
  }
}
