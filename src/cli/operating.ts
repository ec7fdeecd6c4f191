// The operator of the server: it applies resources of Kubernetes, and reviews those that are about to be taken.
import type { Settings } from '../config.ts'
import { serveAdmission } from '../operator/admission/admission-server.ts'
import { reviewer } from '../operator/admission/review.ts'
import { openCluster } from '../operator/cluster.ts'
import { type Webhooks, webhooks } from '../operator/git/webhooks.ts'
import { OPERATE, type OperatorOptions, operator } from '../operator/operator.ts'
import type { Service } from '../service/context/service.ts'
import { seekLease } from '../service/operations/leases.ts'

/** A running operator. */
export interface Operating {
  /** Sources in git, for whoever hears of pushes: in servers that do not apply resources, too. */
  readonly webhooks: Webhooks
  close(): Promise<void>
}

/** Starts it. Of several servers one applies resources; all of them review, where there is a certificate for that. */
export async function startOperator(
  service: Service,
  settings: Settings,
  failed: (error: unknown) => void,
): Promise<Operating> {
  const { sourceLimits = [], operatorNamespaces: namespaces, sourceLease, host, admissionPort: port } = settings
  const limits = new Map(sourceLimits.map(({ source, ...ceiling }) => [source, ceiling]))
  const options: OperatorOptions = {
    cluster: openCluster(),
    limitOf: (source) => limits.get(source) ?? limits.get('*'),
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
  const seeker = seekLease(service, OPERATE, sourceLease, operator(service, options))
  return {
    webhooks: webhooks(options.cluster, options.counts, failed, ending.signal),
    async close() {
      await admission?.close()
      ending.abort()
      await seeker.close()
    },
  }
}
