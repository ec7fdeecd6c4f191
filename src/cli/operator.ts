// Starts the Kubernetes operator of the server, and its admission webhook.
import type { ServerSettings } from '../config.ts'
import { createAdmissionReviewer } from '../operator/admission/admission-reviewer.ts'
import { serveAdmission } from '../operator/admission/admission-server.ts'
import { ClusterError, ClusterUnreachable, connectToCluster } from '../operator/cluster/cluster-client.ts'
import { type WebhookSources, watchWebhookSources } from '../operator/git/git-source-webhooks.ts'
import { createOperator, OPERATOR_LEASE, type OperatorOptions } from '../operator/operator.ts'
import type { Service } from '../service/context/service.ts'
import { startLeaseElection } from '../service/operations/leases.ts'
import { readPermissions } from './configured-sources.ts'

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
  const { adoptableRealms = [] } = settings
  const { operatorNamespaces: namespaces, sourceLease, host, admissionPort: port } = settings
  const log = (line: string) => console.log(`${line}\n`)
  const onError = createErrorHandler(failed, log)
  const permissionsBySource = readPermissions(settings)
  const options: OperatorOptions = {
    cluster: connectToCluster(undefined, log, service.measurements),
    findSourcePermissions: (source) => permissionsBySource.get(source) ?? permissionsBySource.get('*'),
    isAdoptable: (namespace, realm) =>
      adoptableRealms.some((entry) => entry.namespace === namespace && entry.realms.includes(realm)),
    gitDefaults: {
      interval: settings.sourceInterval,
      signersFile: settings.sourceSigners,
      readsAuthors: settings.requireSecondApprover,
    },
    isWatchedNamespace: (namespace) => !namespaces || namespaces.includes(namespace),
    log,
    onError,
  }
  const { admissionCertificateFile, admissionCertificateKeyFile, admissionClientCaFile: clientCaFile } = settings
  const ending = new AbortController()
  const admission =
    admissionCertificateFile && admissionCertificateKeyFile
      ? await serveAdmission(
          createAdmissionReviewer(service, options, ending.signal),
          { host, port, certificateFile: admissionCertificateFile, keyFile: admissionCertificateKeyFile, clientCaFile },
          onError,
        ).catch((error: unknown) => {
          ending.abort()
          throw error
        })
      : undefined
  const seeker = startLeaseElection(service, createOperator(service, options), {
    name: OPERATOR_LEASE,
    seconds: sourceLease,
  })
  return {
    webhooks: watchWebhookSources(options.cluster, {
      isWatchedNamespace: options.isWatchedNamespace,
      onError,
      signal: ending.signal,
    }),
    async close() {
      await admission?.close()
      ending.abort()
      await seeker.close()
    },
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
