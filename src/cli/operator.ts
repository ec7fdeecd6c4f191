// Starts the Kubernetes operator of the server, and its admission webhook.
import type { ServerSettings } from '../config.ts'
import { serveAdmission } from '../operator/admission/admission-server.ts'
import { reviewer } from '../operator/admission/review.ts'
import { openCluster } from '../operator/cluster.ts'
import { type Webhooks, webhooks } from '../operator/git/webhooks.ts'
import { OPERATE, type OperatorOptions, operator } from '../operator/operator.ts'
import type { Service } from '../service/context/service.ts'
import { startLeaseElection } from '../service/operations/leases.ts'

/** A running operator. */
export interface RunningOperator {
  /** Notified of pushes to git sources, also in replicas that do not hold the lease. */
  readonly webhooks: Webhooks
  close(): Promise<void>
}

/** Starts the operator. One replica applies resources; every replica with a certificate serves admission. */
export async function startOperator(
  service: Service,
  settings: ServerSettings,
  failed: (error: unknown) => void,
): Promise<RunningOperator> {
  const { sourcePermissions = [], operatorNamespaces: namespaces, sourceLease, host, admissionPort: port } = settings
  const permissionsBySource = new Map(sourcePermissions.map(({ source, ...permissions }) => [source, permissions]))
  const options: OperatorOptions = {
    cluster: openCluster(),
    limitOf: (source) => permissionsBySource.get(source) ?? permissionsBySource.get('*'),
    git: { interval: settings.sourceInterval, signers: settings.sourceSigners },
    counts: (namespace) => !namespaces || namespaces.includes(namespace),
    say: (line) => console.log(`${line}\n`),
    failed,
  }
  const { admissionCertificateFile, admissionCertificateKeyFile, admissionClientCaFile: clientCaFile } = settings
  const ending = new AbortController()
  const admission =
    admissionCertificateFile && admissionCertificateKeyFile
      ? await serveAdmission(
          reviewer(service, options, ending.signal),
          { host, port, certificateFile: admissionCertificateFile, keyFile: admissionCertificateKeyFile, clientCaFile },
          failed,
        ).catch((error: unknown) => {
          ending.abort()
          throw error
        })
      : undefined
  const seeker = startLeaseElection(service, operator(service, options), { name: OPERATE, seconds: sourceLease })
  return {
    webhooks: webhooks(options.cluster, options.counts, failed, ending.signal),
    async close() {
      await admission?.close()
      ending.abort()
      await seeker.close()
    },
  }
}
