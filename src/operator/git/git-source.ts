// Parses RealmSource resources: the repository or artifact that each one names, and its credentials. Pure.
import type { DocumentPath } from '../../lib/source-position.ts'
import { AgeKeyError, parseAgeKeys } from '../../realm-file/age-keys.ts'
import { SourceError } from '../../reconcile/read/file-source.ts'
import { type GitAddress, toGitAddress } from '../../reconcile/read/git-address.ts'
import type { GitKeys } from '../../reconcile/read/git-keys.ts'
import type { GithubAppSettings } from '../../reconcile/read/github-app.ts'
import type { FindSecretText } from '../cluster/cluster-cache.ts'
import { isDisabled, RECONCILE_ANNOTATION, type Resource } from '../cluster/resource.ts'
import { type DeclaringResource, DISABLED_FAULT, toDeclaringResource } from '../desired/declaring-resource.ts'
import { findDependencyCycle } from '../desired/dependencies.ts'
import { getSecretText, SecretNotFound } from '../desired/resource-declaration.ts'
import type { ResourceFault } from '../desired/resource-fault.ts'
import { toSourceName } from '../desired/source-name.ts'
import { type ClusterSourceSpec, clusterSourceSpec, listSourceContradictions } from './cluster-source-spec.ts'
import type { FindFluxSource, FluxSource } from './flux-sources.ts'

/** A RealmSource resource. */
export interface GitSource extends DeclaringResource {
  /** The name of the source: `kubernetes:<namespace>/<name>`. */
  readonly name: string
  /** Absent: the resource was deleted, or is invalid. */
  readonly config?: GitSourceConfig
}

/** The repository or artifact of a source, and its settings. After any change, it is opened again. */
export interface GitSourceConfig {
  readonly uid: string
  readonly generation: number | undefined
  readonly spec: ClusterSourceSpec
  /** A git repository with its keys, or an object of Flux with its current artifact. */
  readonly place: GitRepositoryAccess | FluxSource
  /** CA certificates in PEM. */
  readonly authorities: string | undefined
  readonly commitStatus: CommitStatusCredentials | undefined
  /** The keys of its encrypted documents. */
  readonly ageKeys: readonly string[]
}

/** A git repository, and the texts of the Secrets that give access to it. */
export interface GitRepositoryAccess {
  readonly address: GitAddress
  readonly keys: GitKeys
  readonly githubApp: GithubAppSettings | undefined
}

/** The token for the status of commits, or the GitHub App that creates tokens. Neither: the GitHub App of the repository. */
export interface CommitStatusCredentials {
  readonly token?: string
  readonly githubApp?: GithubAppSettings | undefined
}

/** Returns the name of the source that a RealmSource declares. */
export const getGitSourceName = (namespace: string, name: string): string => `${toSourceName(namespace)}/${name}`

/** Parses RealmSource resources. An invalid one has a fault instead of a config. */
export function parseGitSources(
  resources: readonly Resource[],
  secrets: FindSecretText,
  findFluxSource: FindFluxSource,
): GitSource[] {
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
    const config = parseConfig(source.resource, secrets, findFluxSource)
    return { ...source, ...('reason' in config ? { fault: config } : { config }) }
  })
}

function parseConfig(
  resource: Resource,
  secrets: FindSecretText,
  findFluxSource: FindFluxSource,
): GitSourceConfig | ResourceFault {
  if (isDisabled(resource, RECONCILE_ANNOTATION)) return DISABLED_FAULT
  const { uid, generation, namespace } = resource.metadata
  const { success, data: spec, error } = clusterSourceSpec.safeParse(resource.spec)
  if (!success) return { reason: 'Invalid', message: error.issues.map(renderIssue).join('; ') }
  const contradictions = listSourceContradictions(spec)
  if (contradictions.length) return { reason: 'Invalid', message: `spec: ${contradictions.join('; ')}` }
  const reader = new SecretReader(secrets, namespace!)
  try {
    const fluxSource = spec.sourceRef && findFluxSource(namespace!, spec.sourceRef)
    if (fluxSource && 'reason' in fluxSource) return fluxSource
    const place = fluxSource ?? readCredentials({ ...spec, url: spec.url! }, reader)
    const { certSecretRef, commitStatus, decryption } = spec
    return {
      ...{ uid, generation, spec, place },
      authorities: certSecretRef && reader.get(certSecretRef.name, 'ca.crt'),
      ageKeys: decryption ? readAgeKeys(decryption.secretRef.name, reader) : [],
      commitStatus: commitStatus && readCommitStatusCredentials(commitStatus.secretRef?.name, reader),
    }
  } catch (error) {
    if (error instanceof SecretNotFound) return { reason: 'SecretNotFound', message: error.message, isTemporary: true }
    if (error instanceof SourceError || error instanceof AgeKeyError)
      return { reason: 'Invalid', message: error.message }
    throw error
  }
}

/** Reads the texts of Secrets of a namespace, without surrounding spaces. */
class SecretReader {
  readonly #findText: FindSecretText
  readonly #namespace: string

  constructor(findText: FindSecretText, namespace: string) {
    this.#findText = findText
    this.#namespace = namespace
  }

  find(name: string, key: string): string | undefined {
    return this.#findText({ namespace: this.#namespace, name, key })?.trim()
  }

  /** @throws SecretNotFound */
  get(name: string, key: string): string {
    return getSecretText(this.#findText, { namespace: this.#namespace, name, key }).trim()
  }
}

/** Reads the Secrets that a spec names. Throws SecretNotFound; SourceError where the URL or the credentials are invalid. */
function readCredentials(
  spec: ClusterSourceSpec & { readonly url: string },
  secrets: SecretReader,
): GitRepositoryAccess {
  const { credentials, signers } = spec
  const address = toGitAddress(spec)
  const secret = credentials?.secretRef.name
  const isSsh = address.protocol === 'ssh'
  if (isSsh && secret === undefined)
    throw new SourceError(
      'spec.credentials: an ssh repository requires a Secret with the keys identity and known_hosts',
    )
  const ssh = isSsh && { identity: secrets.get(secret!, 'identity'), knownHosts: secrets.get(secret!, 'known_hosts') }
  const githubApp = isSsh || secret === undefined ? undefined : findGithubApp(secret, secrets)
  const password = !isSsh &&
    secret !== undefined &&
    !githubApp && { user: secrets.get(secret, 'username'), password: secrets.get(secret, 'password') }
  return {
    address: { ...address, ...(password && { credentials: password }) },
    keys: { ...(ssh && { ssh }), ...(signers && { signers: secrets.get(signers.secretRef.name, 'allowed_signers') }) },
    githubApp,
  }
}

/** Returns the GitHub App in a Secret with the keys of Flux; undefined if there is none. Throws SecretNotFound if a key is missing. */
function findGithubApp(secret: string, secrets: SecretReader): GithubAppSettings | undefined {
  const appId = secrets.find(secret, 'githubAppID')
  if (appId === undefined) return undefined
  return {
    appId,
    installationId: secrets.get(secret, 'githubAppInstallationID'),
    privateKey: secrets.get(secret, 'githubAppPrivateKey'),
    baseUrl: secrets.find(secret, 'githubAppBaseURL'),
  }
}

/** Reads the Secret of the status of commits. Throws SecretNotFound. */
function readCommitStatusCredentials(secret: string | undefined, secrets: SecretReader): CommitStatusCredentials {
  if (secret === undefined) return {}
  const githubApp = findGithubApp(secret, secrets)
  return githubApp ? { githubApp } : { token: secrets.get(secret, 'token') }
}

/** Reads the keys of encrypted documents. Throws SecretNotFound, and AgeKeyError for a key that is not valid. */
function readAgeKeys(secret: string, secrets: SecretReader): string[] {
  return parseAgeKeys(`spec.decryption: the Secret ${secret}`, secrets.get(secret, '*.agekey'))
}

function renderIssue({ path, message }: { readonly path: readonly PropertyKey[]; readonly message: string }): string {
  const steps: DocumentPath = path.map((step) => (typeof step === 'symbol' ? String(step) : step))
  return `${formatFieldPath(['spec', ...steps])}: ${message}`
}

/** Formats a path as Kubernetes does: `spec.permissions.roles[0]`. */
function formatFieldPath(path: DocumentPath): string {
  return path.map((step, index) => (typeof step === 'number' ? `[${step}]` : index ? `.${step}` : step)).join('')
}
