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
  const { host, admissionPort: port } = settings
  const onError = (error: unknown) => {
    // The client prints outages of the API server, and the stack of its errors does not help.
    if (!(error instanceof ClusterUnreachable)) failed(error instanceof ClusterError ? error.message : error)
  }
  const options = toOperatorOptions(settings, onError)
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
      await admission?.close()
      ending.abort()
      await seeker.close()
    },
  }
}

function toOperatorOptions(settings: ServerSettings, onError: (error: unknown) => void): OperatorOptions {
  const { operatorNamespaces: namespaces, operatorSecrets: secretNames, operatorClass: className } = settings
  const { adoptableRealms = [], operatorLease } = settings
  const log = (line: string) => console.log(`${line}\n`)
  const permissionsBySource = readPermissions(settings)
  const cluster = connectToCluster(undefined, log)
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
    },
    publicUrl: settings.hostname,
    isWatchedNamespace: (namespace) => !namespaces || namespaces.includes(namespace),
    log,
    onError,
  }
}
