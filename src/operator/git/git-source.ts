// What a RealmSource says: which repository is followed, and with what Secrets. Pure.
import type { DocumentPath } from '../../lib/source-position.ts'
import { SourceError } from '../../reconcile/read/file-source.ts'
import { type GitAddress, toGitAddress } from '../../reconcile/read/git-address.ts'
import type { GitKeys } from '../../reconcile/read/git-keys.ts'
import { wayBack } from '../dependencies.ts'
import { type Fault, type Member, memberOf, sourceOf } from '../desired.ts'
import { SecretMissing, type Secrets, secretText } from '../documents.ts'
import { isDisabled, RECONCILE, type Resource } from '../resource.ts'
import { type ClusterSourceSpec, clusterSourceSpec } from '../source-spec.ts'

/** A RealmSource. */
export interface GitSource extends Member {
  /** The name of the source. */
  readonly name: string
  /** Absent: it was deleted, or cannot be followed. */
  readonly follows?: Follows
}

/** What is followed: all of it counts, so that another one is followed anew. */
export interface Follows {
  readonly uid: string
  readonly generation: number | undefined
  readonly address: GitAddress
  readonly brings: GitKeys
  readonly spec: ClusterSourceSpec
}

/** The name of the source that a RealmSource is. */
export const gitSourceOf = (namespace: string, name: string): string => `${sourceOf(namespace)}/${name}`

/** What the resources say. */
export function gitSources(resources: readonly Resource[], secrets: Secrets): GitSource[] {
  const members = resources.map(memberOf)
  const byNamespace = new Map(
    [...Map.groupBy(members, ({ namespace }) => namespace)].map(([namespace, own]) => [
      namespace,
      new Map(own.map((one) => [one.resource.metadata.name, one])),
    ]),
  )
  return members.map((one) => {
    const member = { ...one, name: gitSourceOf(one.namespace, one.resource.metadata.name) }
    if (member.leaves) return member
    const cycle = wayBack(member, byNamespace.get(member.namespace)!)
    if (cycle) {
      const message = `spec.dependsOn: these sources wait for each other: ${cycle.join(' → ')}`
      return { ...member, fault: { reason: 'DependencyCycle', message } }
    }
    const found = followsOf(member.resource, secrets)
    return { ...member, ...('reason' in found ? { fault: found } : { follows: found }) }
  })
}

function followsOf(resource: Resource, secrets: Secrets): Follows | Fault {
  if (isDisabled(resource, RECONCILE))
    return { reason: 'Disabled', message: `the annotation ${RECONCILE} says that it is left alone`, meant: true }
  const { uid, generation, namespace } = resource.metadata
  const { success, data: spec, error } = clusterSourceSpec.safeParse(resource.spec)
  if (!success) {
    const told = error.issues.map(({ path, message }) => `${pathOf(['spec', ...(path as DocumentPath)])}: ${message}`)
    return { reason: 'Invalid', message: told.join('; ') }
  }
  const textOf = (secret: string, key: string) => secretText(secrets, namespace!, secret, key).trim()
  try {
    const { credentials, signers } = spec
    const address = toGitAddress(spec)
    const secret = credentials?.secretRef.name
    const isSsh = address.protocol === 'ssh'
    if (isSsh && secret === undefined)
      throw new SourceError('spec.credentials: a repository by ssh needs a Secret with identity and known_hosts')
    const ssh = isSsh && { identity: textOf(secret!, 'identity'), knownHosts: textOf(secret!, 'known_hosts') }
    const password = !isSsh &&
      secret !== undefined && { user: textOf(secret, 'username'), password: textOf(secret, 'password') }
    return {
      ...{ uid, generation, spec },
      address: { ...address, ...(password && { credentials: password }) },
      brings: { ...(ssh && { ssh }), ...(signers && { signers: textOf(signers.secretRef.name, 'allowed_signers') }) },
    }
  } catch (error) {
    if (error instanceof SecretMissing) return { reason: 'SecretNotFound', message: error.message }
    if (error instanceof SourceError) return { reason: 'Invalid', message: error.message }
    throw error
  }
}

/** As Kubernetes writes it: `spec.limits.roles[0]`. */
function pathOf(path: DocumentPath): string {
  return path.map((step, at) => (typeof step === 'number' ? `[${step}]` : at ? `.${step}` : step)).join('')
}
