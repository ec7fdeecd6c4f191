// The state of a RealmSource that the operator follows, and its repository.
import { parseDuration } from '../../realm-file/resources/duration.ts'
import { type FollowedRepository, openRepository } from '../../reconcile/following/repository.ts'
import { getRealmName } from '../../reconcile/merge/merge-sources.ts'
import type { SourceContent } from '../../reconcile/read/source-content.ts'
import type { Service } from '../../service/context/service.ts'
import { intersectSourcePermissions, toSourcePermissions } from '../../service/context/source-permissions.ts'
import type { AppliedSource } from '../../service/context/store-types.ts'
import { getAppliedAndPending } from '../../service/sources/source-records.ts'
import { readSourceSettings } from '../desired/declaring-resource.ts'
import type { RefusedApproval } from '../status/realm-run-result.ts'
import { type GitSource, getGitSourceName } from './git-source.ts'
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

/** Opens the repository of a source that has a config. Throws SourceError where git is not installed. */
export async function openFollowedRepository(
  service: Service,
  followed: FollowedGitSource,
  { defaults, findLatest, getPermissionInputs }: OpenRepositoryOptions,
): Promise<FollowedRepository> {
  const { name, namespace, config } = followed.source
  const { spec, address, keys } = config!
  const { retryInterval, timeout, dependsOn, suspend, unknownFields } = spec
  const interval = spec.interval ? parseDuration(spec.interval) : defaults.interval
  const repository = await openRepository(address, {
    ...{
      name,
      identity: { name, isComplete: true },
      unknownFields,
      suspend,
      keys,
      interval,
      signersFile: defaults.signersFile,
      readsAuthors: defaults.readsAuthors,
    },
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
    timeout: timeout ? parseDuration(timeout) : undefined,
    signal: followed.abortController.signal,
    env: {},
    isAllowed: () => false,
    outbound: service.outbound,
  })
  const { read } = repository
  return Object.assign(repository, {
    read() {
      followed.source = findLatest() ?? followed.source
      return read()
    },
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
