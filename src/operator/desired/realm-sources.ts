// Converts the resources of a realm into sources: each namespace is one. Pure.
import { createHash } from 'node:crypto'
import type { UnknownFieldPolicy } from '../../realm-file/parse-realm.ts'
import type { Removals } from '../../reconcile/read/removals.ts'
import type { SerializedSource, SourceContent } from '../../reconcile/read/source-content.ts'
import type { DeclaringResource } from './declaring-resource.ts'
import type { ClusterRealm } from './desired-realms.ts'
import type { ResourceFault } from './resource-fault.ts'
import { toSourceName } from './source-name.ts'

/** The state that the sources of a realm depend on, besides the resources of the realm. */
export interface RealmSourcesContext {
  /** Namespaces that have applied to the realm before. */
  readonly appliedNamespaces: ReadonlySet<string>
  /** The faults of resources that are excluded, by file. */
  readonly faults: ReadonlyMap<string, ResourceFault>
  /** By namespace: files of resources that belong to no realm now. What they declared before is retained. */
  readonly unresolved: ReadonlyMap<string, readonly string[]>
  /** Git sources whose objects are deleted together with the realm. */
  readonly dependentGitSources: readonly string[]
}

/** Returns the contents of the sources of a realm that namespaces are. */
export function toSourceContents(
  realm: ClusterRealm,
  namespaces: readonly string[],
  context: RealmSourcesContext,
): SourceContent[] {
  const byNamespace = Map.groupBy(realm.resources, ({ namespace }) => namespace)
  const contents = namespaces.flatMap(
    (namespace) => toNamespaceContent(realm, { namespace, resources: byNamespace.get(namespace) ?? [] }, context) ?? [],
  )
  if (realm.owner?.removal !== 'deleted') return contents
  return [...contents, ...context.dependentGitSources.map(createDeletedContent)]
}

function createDeletedContent(name: string): SourceContent {
  return { name, revision: '', documents: [], files: [], removals: { rest: 'deleted' } }
}

/** The resources of one namespace in a realm. */
interface NamespaceResources {
  readonly namespace: string
  readonly resources: readonly DeclaringResource[]
}

/** Returns the content of a namespace; undefined where it neither declares nor removes anything. */
function toNamespaceContent(
  realm: ClusterRealm,
  { namespace, resources }: NamespaceResources,
  context: RealmSourcesContext,
): SourceContent | undefined {
  const isDeleted = !realm.owner || realm.owner.removal !== undefined
  const included = isDeleted
    ? []
    : resources.filter(({ declaration, file }) => declaration && !context.faults.has(file))
  const removals = isDeleted ? toRealmRemovals(realm) : toRemovals({ namespace, resources }, included, context)
  const { retained, released, deleted } = removals
  const onlyRetains = retained.length > 0 && !released.length && !deleted.length
  if (!included.length && (onlyRetains || !context.appliedNamespaces.has(namespace))) return undefined
  return {
    name: toSourceName(namespace),
    revision: getRevision(included),
    documents: included.map(({ declaration }) => declaration!.document),
    settings: realm.settings,
    unknownFields: realm.owner?.namespace === namespace ? getUnknownFieldPolicy(realm.owner) : undefined,
    files: included.map(toSerializedFile),
    sourcePermissions: realm.sourcePermissions.get(namespace),
    removals,
  }
}

/** Returns what a Realm requests for fields that Regent does not know; undefined for the default. */
export function getUnknownFieldPolicy({ resource }: DeclaringResource): UnknownFieldPolicy | undefined {
  return resource.spec?.unknownFields === 'warn' ? 'warn' : undefined
}

/** Removals with all lists. A file in none of them is missing, which finalizers normally prevent. */
type CompleteRemovals = Removals & Required<Pick<Removals, 'retained' | 'released' | 'deleted'>>

/**
 * Returns the removals of all objects of a realm. If its resource was deleted, that is approved; if it is missing, a guard may block
 * the deletions.
 */
function toRealmRemovals({ owner }: ClusterRealm): CompleteRemovals {
  if (owner) return { retained: [], released: [], deleted: [owner.file] }
  return { retained: [], released: [], deleted: [], existing: [] }
}

function toRemovals(
  { namespace, resources }: NamespaceResources,
  included: readonly DeclaringResource[],
  { faults, unresolved }: RealmSourcesContext,
): CompleteRemovals {
  const includedResources = new Set(included)
  const listFiles = (isListed: (declaring: DeclaringResource) => boolean) =>
    resources.filter(isListed).map(({ file }) => file)
  // A resource that never got its finalizer was never applied, so that it has nothing to retain.
  const isNew = ({ file, resource }: DeclaringResource) =>
    faults.get(file)?.lacksFinalizer && resource.status?.lastAppliedRevision === undefined
  const isRetained = (declaring: DeclaringResource) =>
    declaring.removal ? faults.has(declaring.file) : !includedResources.has(declaring) && !isNew(declaring)
  return {
    retained: [...listFiles(isRetained), ...(unresolved.get(namespace) ?? [])].sort(),
    released: listFiles(({ removal, file }) => removal === 'released' && !faults.has(file)),
    deleted: listFiles(({ removal, file }) => removal === 'deleted' && !faults.has(file)),
    existing: included.map(({ file }) => file),
  }
}

/** Returns a digest of what the resources declare. */
export function getRevision(resources: readonly DeclaringResource[]): string {
  const hash = createHash('sha256')
  for (const { file, declaration } of resources) hash.update(`${file}\0${declaration?.document.digest}\0`)
  return `sha256:${hash.digest('hex').slice(0, 12)}`
}

/** Serializes a resource for a saved plan. The text is created on demand, since few plans are saved. */
function toSerializedFile({ file, declaration }: DeclaringResource): SerializedSource['files'][number] {
  return {
    file,
    get text() {
      return JSON.stringify(declaration!.value)
    },
    values: [],
  }
}
