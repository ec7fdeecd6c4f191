// Parses RealmSource resources: the repository that each one names, and its credentials. Pure.
import type { DocumentPath } from '../../lib/source-position.ts'
import { SourceError } from '../../reconcile/read/file-source.ts'
import { type GitAddress, toGitAddress } from '../../reconcile/read/git-address.ts'
import type { GitKeys } from '../../reconcile/read/git-keys.ts'
import type { FindSecretText } from '../cluster/cluster-cache.ts'
import { isDisabled, RECONCILE_ANNOTATION, type Resource } from '../cluster/resource.ts'
import { type DeclaringResource, DISABLED_FAULT, toDeclaringResource } from '../desired/declaring-resource.ts'
import { findDependencyCycle } from '../desired/dependencies.ts'
import { getSecretText, SecretNotFound } from '../desired/resource-declaration.ts'
import type { ResourceFault } from '../desired/resource-fault.ts'
import { toSourceName } from '../desired/source-name.ts'
import { type ClusterSourceSpec, clusterSourceSpec } from './cluster-source-spec.ts'

/** A RealmSource resource. */
export interface GitSource extends DeclaringResource {
  /** The name of the source: `kubernetes:<namespace>/<name>`. */
  readonly name: string
  /** Absent: the resource was deleted, or is invalid. */
  readonly config?: GitSourceConfig
}

/** The repository of a source, and its settings. After any change, the repository is opened again. */
export interface GitSourceConfig {
  readonly uid: string
  readonly generation: number | undefined
  readonly address: GitAddress
  readonly keys: GitKeys
  readonly spec: ClusterSourceSpec
}

/** Returns the name of the source that a RealmSource declares. */
export const getGitSourceName = (namespace: string, name: string): string => `${toSourceName(namespace)}/${name}`

/** Parses RealmSource resources. An invalid one has a fault instead of a config. */
export function parseGitSources(resources: readonly Resource[], secrets: FindSecretText): GitSource[] {
  const declaring = resources.map(toDeclaringResource)
  const byNamespace = new Map(
    [...Map.groupBy(declaring, ({ namespace }) => namespace)].map(([namespace, siblings]) => [
      namespace,
      new Map(siblings.map((sibling) => [sibling.resource.metadata.name, sibling])),
    ]),
  )
  return declaring.map((unnamed) => {
    const source = { ...unnamed, name: getGitSourceName(unnamed.namespace, unnamed.resource.metadata.name) }
    if (source.removal) return source
    const cycle = findDependencyCycle(source, byNamespace.get(source.namespace)!)
    if (cycle) {
      const message = `spec.dependsOn: these sources depend on each other: ${cycle.join(' → ')}`
      return { ...source, fault: { reason: 'DependencyCycle', message } }
    }
    const config = parseConfig(source.resource, secrets)
    return { ...source, ...('reason' in config ? { fault: config } : { config }) }
  })
}

function parseConfig(resource: Resource, secrets: FindSecretText): GitSourceConfig | ResourceFault {
  if (isDisabled(resource, RECONCILE_ANNOTATION)) return DISABLED_FAULT
  const { uid, generation, namespace } = resource.metadata
  const { success, data: spec, error } = clusterSourceSpec.safeParse(resource.spec)
  if (!success) return { reason: 'Invalid', message: error.issues.map(renderIssue).join('; ') }
  const readSecret = (name: string, key: string) => getSecretText(secrets, { namespace: namespace!, name, key }).trim()
  try {
    const { address, keys } = readCredentials(spec, readSecret)
    return { uid, generation, spec, address, keys }
  } catch (error) {
    if (error instanceof SecretNotFound) return { reason: 'SecretNotFound', message: error.message, isTemporary: true }
    if (error instanceof SourceError) return { reason: 'Invalid', message: error.message }
    throw error
  }
}

/** Reads the Secrets that a spec names. Throws SecretNotFound; SourceError where the URL or the credentials are invalid. */
function readCredentials(
  spec: ClusterSourceSpec,
  readSecret: (secret: string, key: string) => string,
): Pick<GitSourceConfig, 'address' | 'keys'> {
  const { credentials, signers, certSecretRef } = spec
  const address = toGitAddress(spec)
  const secret = credentials?.secretRef.name
  const isSsh = address.protocol === 'ssh'
  if (isSsh && secret === undefined)
    throw new SourceError(
      'spec.credentials: an ssh repository requires a Secret with the keys identity and known_hosts',
    )
  const ssh = isSsh && { identity: readSecret(secret!, 'identity'), knownHosts: readSecret(secret!, 'known_hosts') }
  const password = !isSsh &&
    secret !== undefined && { user: readSecret(secret, 'username'), password: readSecret(secret, 'password') }
  return {
    address: { ...address, ...(password && { credentials: password }) },
    keys: {
      ...(ssh && { ssh }),
      ...(signers && { signers: readSecret(signers.secretRef.name, 'allowed_signers') }),
      ...(certSecretRef && { authorities: readSecret(certSecretRef.name, 'ca.crt') }),
    },
  }
}

function renderIssue({ path, message }: { readonly path: readonly PropertyKey[]; readonly message: string }): string {
  const steps: DocumentPath = path.map((step) => (typeof step === 'symbol' ? String(step) : step))
  return `${formatFieldPath(['spec', ...steps])}: ${message}`
}

/** Formats a path as Kubernetes does: `spec.permissions.roles[0]`. */
function formatFieldPath(path: DocumentPath): string {
  return path.map((step, index) => (typeof step === 'number' ? `[${step}]` : index ? `.${step}` : step)).join('')
}
