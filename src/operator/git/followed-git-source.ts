// The state of a RealmSource that the operator follows, and its repository.

import { type Outbound, UNRESTRICTED } from '../../lib/http/outbound.ts'
import { parseDuration } from '../../realm-file/resources/duration.ts'
import { type CommitStatusTarget, createCommitStatusTarget } from '../../reconcile/following/commit-status-hosts.ts'
import { type FollowedRepository, followRepository, type RevisionSource } from '../../reconcile/following/repository.ts'
import { getRealmName } from '../../reconcile/merge/merge-sources.ts'
import { openArtifactSource } from '../../reconcile/read/artifact-source.ts'
import { SourceError } from '../../reconcile/read/file-source.ts'
import { normalizeFolder } from '../../reconcile/read/git-address.ts'
import { openGitSource } from '../../reconcile/read/git-source.ts'
import { GithubApp } from '../../reconcile/read/github-app.ts'
import type { SourceContent } from '../../reconcile/read/source-content.ts'
import type { Service } from '../../service/context/service.ts'
import { intersectSourcePermissions, toSourcePermissions } from '../../service/context/source-permissions.ts'
import type { AppliedSource } from '../../service/context/store-types.ts'
import { getAppliedAndPending } from '../../service/sources/source-records.ts'
import { readSourceSettings } from '../desired/declaring-resource.ts'
import type { RefusedApproval } from '../status/realm-run-result.ts'
import { type GitSource, type GitSourceConfig, getGitSourceName } from './git-source.ts'
import { getGitSourcePermissions, getRealmPermissions, type PermissionInputs } from './git-source-permissions.ts'
import type { GitSourceResult } from './git-source-status.ts'

/** A RealmSource that the operator follows. */
export interface FollowedGitSource {
  /** The fingerprint of the resource when it was added. After a change, the source is stopped and added again. */
  readonly fingerprint: string
  /** The version of the resource that was reconciled last. */
  source: GitSource
  repository?: FollowedRepository
  /** Aborts the git commands of the repository. */
  readonly abortController: AbortController
  /** The realms that it declares or has applied before. */
  realms: readonly string[]
  /** The fingerprint of its permissions in these realms. Absent: the repository was not read yet. */
  permissionsFingerprint?: string
  /** The result of the last reconciliation. Absent: there was none yet. */
  result?: GitSourceResult
  /** The request for a reconciliation that the result belongs to. */
  handledRequest?: string | undefined
  /** The last request for a reconciliation. */
  lastRequest: string | undefined
  /** The plan that was approved last. */
  approvedPlan?: string
  /** A plan that the annotation of the resource does not approve. */
  refusedApproval?: RefusedApproval
  /** The realms that it has applied. Absent: not queried yet. */
  applied?: readonly AppliedSource[]
  /** The number of objects that it manages. Absent: not counted since its last change. */
  objectCount?: number
}

/** Defaults for fields that the spec of a source leaves out. */
export interface GitSourceDefaults {
  /** Seconds between two polls. */
  readonly interval: number
  /** Path of the file with the allowed signers of commits. */
  readonly signersFile: string | undefined
  /** Whether the authors of commits are read. */
  readonly readsAuthors: boolean
  /** Hosts that serve artifacts of Flux, which may be in a private network. */
  readonly artifactHosts: readonly string[]
}

/** Options of `openFollowedRepository`. */
export interface OpenRepositoryOptions {
  readonly defaults: GitSourceDefaults
  /** Finds the current version of the resource. */
  readonly findLatest: () => GitSource | undefined
  readonly getPermissionInputs: () => PermissionInputs
}

/** Returns a text that changes whenever the repository of a source has to be opened again. */
export function getSourceFingerprint({ config, fault, removal, resource }: GitSource): string {
  const { uid, generation } = resource.metadata
  return JSON.stringify([uid, generation, config, fault, removal])
}

/** Returns a text that changes whenever the permissions of a source in its realms change. */
export function getPermissionsFingerprint({ source, realms }: FollowedGitSource, inputs: PermissionInputs): string {
  const permissions = realms.map((name) => [
    name,
    inputs.findOwnerNamespace(name),
    ...[true, false].map((exists) => getRealmPermissions(source.namespace, { name, exists }, inputs)),
  ])
  return JSON.stringify(permissions)
}

/** Opens the repository or artifact of a source that has a config. Throws SourceError where that is not possible. */
export async function openFollowedRepository(
  service: Service,
  followed: FollowedGitSource,
  { defaults, findLatest, getPermissionInputs }: OpenRepositoryOptions,
): Promise<FollowedRepository> {
  const { name, namespace, config } = followed.source
  const { spec, place } = config!
  const { retryInterval, dependsOn, suspend } = spec
  const interval = spec.interval ? parseDuration(spec.interval) : defaults.interval
  const access = createHostAccess(service, config!)
  const commitStatus = createCommitStatus(followed.source, access)
  const { signal } = followed.abortController
  const source = await openRevisionSource(followed.source, { access, defaults, signal })
  const repository = followRepository(source, {
    ...{ name, suspend, commitStatus },
    configure: async (content) => {
      const sourcePermissions = await updatePermissions(service, followed, { content, getPermissionInputs })
      const permissions = intersectSourcePermissions(
        sourcePermissions,
        spec.permissions && toSourcePermissions(spec.permissions),
      )
      return { ...content, settings: readSourceSettings(followed.source.resource), sourcePermissions: permissions }
    },
    dependsOn: dependsOn?.map((dependency) => getGitSourceName(namespace, dependency)),
    retryInterval: retryInterval ? parseDuration(retryInterval) : interval,
    // A change of the artifact is a change of the config.
    interval: 'artifact' in place ? 0 : interval,
  })
  const { read } = repository
  return Object.assign(repository, {
    read() {
      followed.source = findLatest() ?? followed.source
      return read()
    },
  })
}

/** The access of a source to its host. */
interface HostAccess {
  readonly outbound: Outbound
  readonly authorities: string | undefined
  /** The GitHub App of the repository. */
  readonly githubApp: GithubApp | undefined
}

/** Returns the access of a source to its host. Throws SourceError if the GitHub App is invalid. */
function createHostAccess(service: Service, { place, authorities }: GitSourceConfig): HostAccess {
  const { outbound } = service
  const githubApp =
    'address' in place && place.githubApp
      ? new GithubApp(place.githubApp, { repository: place.address.url, outbound, authorities })
      : undefined
  return { outbound, authorities, githubApp }
}

/** Returns the target of the status of commits, if the source has one. Throws SourceError if it is invalid. */
function createCommitStatus(
  { config, resource }: GitSource,
  { outbound, authorities, githubApp }: HostAccess,
): CommitStatusTarget | undefined {
  const { spec, place, commitStatus } = config!
  if (!spec.commitStatus || !commitStatus) return undefined
  const { namespace, name } = resource.metadata
  const repository = 'address' in place ? place.address.url : place.repository
  const host = { repository, outbound, authorities }
  const ownApp = commitStatus.githubApp && new GithubApp(commitStatus.githubApp, host)
  return createCommitStatusTarget(`${namespace}/${name}`, spec.commitStatus, {
    ...host,
    token: commitStatus.token,
    githubApp: ownApp ?? githubApp,
  })
}

/** Opens the git repository or the artifact of a source. */
async function openRevisionSource(
  { name, resource, config }: GitSource,
  {
    access: { outbound, authorities, githubApp },
    defaults,
    signal,
  }: { readonly access: HostAccess; readonly defaults: GitSourceDefaults; readonly signal: AbortSignal },
): Promise<RevisionSource> {
  const { spec, place, ageKeys } = config!
  const timeout = spec.timeout ? parseDuration(spec.timeout) : undefined
  const { unknownFields, folder, sourceRef, environment } = spec
  const reading = {
    name,
    environment,
    unknownFields,
    timeout,
    signal,
    env: {},
    isAllowed: () => false,
    findAgeKeys: async () => ageKeys,
  }
  if ('address' in place)
    return openGitSource(place.address, {
      ...{ ...reading, isComplete: true, keys: place.keys, authorities, githubApp, outbound },
      signersFile: defaults.signersFile,
      readsAuthors: defaults.readsAuthors,
    })
  if (defaults.signersFile !== undefined)
    throw new SourceError(
      'spec.sourceRef: this server applies only commits with an accepted signature (--source-signers), and artifacts of Flux have none. Use url.',
    )
  // Flux writes the host as an absolute name, with a dot at its end.
  const host = URL.parse(place.artifact.url)?.hostname.replace(/\.$/, '') ?? ''
  return openArtifactSource(place.artifact, {
    ...reading,
    displayName: `${sourceRef!.kind} ${resource.metadata.namespace}/${sourceRef!.name}`,
    ...{ repository: place.repository, folder: normalizeFolder(folder), authorities },
    outbound: defaults.artifactHosts.includes(host) ? UNRESTRICTED : outbound,
  })
}

/**
 * Updates the realms of a source and the fingerprint of its permissions after it was read, and returns its permissions. Throws
 * DocumentError where it declares a realm that its namespace may not declare.
 */
async function updatePermissions(
  service: Service,
  followed: FollowedGitSource,
  { content, getPermissionInputs }: { content: SourceContent; getPermissionInputs: () => PermissionInputs },
) {
  const { name: source, namespace } = followed.source
  followed.applied ??= (await getAppliedAndPending(service, [source])).applied
  const appliedRealms = followed.applied.map(({ realm, declaredName }) => declaredName ?? realm)
  followed.realms = [...new Set([...content.documents.map(getRealmName), ...appliedRealms])]
  const existing = new Set((await service.findRealms(followed.realms)).map((realm) => realm.name))
  const inputs = getPermissionInputs()
  followed.permissionsFingerprint = getPermissionsFingerprint(followed, inputs)
  return getGitSourcePermissions(content.documents, appliedRealms, (name) =>
    getRealmPermissions(namespace, { name, exists: existing.has(name) }, inputs),
  )
}
