// What namespaces and RealmSources have applied: read from the store once, and updated after each run of this process.
import { type Service, SYSTEM } from '../../service/context/service.ts'
import type { AppliedSource } from '../../service/context/store-types.ts'
import { getAppliedAndPending, listPermittedSources, listReleasedRealms } from '../../service/sources/source-records.ts'
import type { ClusterRealm } from '../desired/desired-realms.ts'
import { parseSourceName } from '../desired/source-name.ts'
import type { RealmRunResult } from '../status/realm-run-result.ts'

const NONE: ReadonlySet<string> = new Set()

/** The realms in which namespaces and RealmSources manage objects. */
export class NamespaceInventory {
  /** Namespaces whose resources manage objects of a realm, by realm. */
  readonly #namespaces: Map<string, ReadonlySet<string>>
  /** The namespace whose resource declared a realm itself, by realm. */
  readonly #owners: Map<string, string>
  /** Records of applied RealmSources, by realm and source. */
  readonly #gitSources = new Map<string, Map<string, AppliedSource>>()

  /** The namespaces whose resource released a realm itself, as `realm namespace`. */
  readonly #released: ReadonlySet<string>

  /** Creates an inventory. `namespaces`: those with managed objects, by realm. `applied`: what all sources applied. */
  constructor(
    namespaces: ReadonlyMap<string, ReadonlySet<string>>,
    applied: readonly AppliedSource[],
    released: readonly { readonly realm: string; readonly source: string }[],
  ) {
    this.#released = new Set(
      released.flatMap(({ realm, source }) => {
        const parsed = parseSourceName(source)
        return parsed ? `${realm} ${parsed.namespace}` : []
      }),
    )
    const declaring = applied.filter(({ declaredName, source }) => declaredName !== null && !isGitSource(source))
    this.#namespaces = new Map(namespaces)
    this.#owners = new Map(declaring.map(({ realm, source }) => [realm, getNamespace(source)]))
    this.#addGitSources(applied.filter(({ source }) => isGitSource(source)))
  }

  /** Returns the realms in which a namespace manages objects. */
  listRealms(): string[] {
    return [...this.#namespaces.keys()]
  }

  /** Returns the namespaces whose resources manage objects of a realm. */
  getNamespaces(realm: string): ReadonlySet<string> {
    return this.#namespaces.get(realm) ?? NONE
  }

  /** Returns the namespace whose resource or RealmSource declared a realm itself. A bound function. */
  readonly findOwnerNamespace = (realm: string): string | undefined => {
    const gitOwner = this.#listGitSources(realm).find(({ declaredName }) => declaredName !== null)
    return this.#owners.get(realm) ?? (gitOwner && getNamespace(gitOwner.source))
  }

  /** Whether a namespace has released the realm, so that it may manage it again. As of the time when the inventory was read. */
  hasReleased(realm: string, namespace: string): boolean {
    return this.#released.has(`${realm} ${namespace}`)
  }

  /**
   * Returns the RealmSources whose objects are deleted with a realm when its resource in the namespace is deleted: all of the realm,
   * or none if one in this namespace declares the realm itself, which then stays.
   */
  listDependentGitSources(realm: string, namespace: string): string[] {
    const gitSources = this.#listGitSources(realm)
    const stays = gitSources.some(
      ({ source, declaredName }) => declaredName !== null && getNamespace(source) === namespace,
    )
    return stays ? [] : gitSources.map(({ source }) => source)
  }

  /** Updates a realm after a run. */
  recordRun({ name, owner }: ClusterRealm, { namespaces, outcome, faults }: RealmRunResult): void {
    if (!namespaces.size) {
      this.#namespaces.delete(name)
      this.#owners.delete(name)
      return
    }
    this.#namespaces.set(name, namespaces)
    if (owner && !owner.isObserver && outcome === 'applied' && !faults.has(owner.file))
      this.#owners.set(name, owner.namespace)
  }

  /** Replaces what a RealmSource has applied. */
  recordGitSource(source: string, applied: readonly AppliedSource[]): void {
    for (const bySource of this.#gitSources.values()) bySource.delete(source)
    this.#addGitSources(applied)
  }

  #addGitSources(applied: readonly AppliedSource[]): void {
    for (const record of applied) {
      const bySource = this.#gitSources.get(record.realm) ?? new Map<string, AppliedSource>()
      this.#gitSources.set(record.realm, bySource.set(record.source, record))
    }
  }

  #listGitSources(realm: string): AppliedSource[] {
    return [...(this.#gitSources.get(realm)?.values() ?? [])]
  }
}

/** Reads the inventory of the watched namespaces from the store. */
export async function readNamespaceInventory(
  service: Service,
  isWatchedNamespace: (namespace: string) => boolean,
): Promise<NamespaceInventory> {
  const sources = (await listPermittedSources(service, SYSTEM)).flatMap(({ source, realm }) => {
    const parsed = parseSourceName(source)
    return parsed && isWatchedNamespace(parsed.namespace) ? [{ source, realm, ...parsed }] : []
  })
  const byRealm = Map.groupBy(
    sources.filter(({ isGit }) => !isGit),
    ({ realm }) => realm,
  )
  const namespaces = new Map(
    [...byRealm].map(([realm, ofRealm]) => [realm, new Set(ofRealm.map(({ namespace }) => namespace))]),
  )
  const { applied } = await getAppliedAndPending(service, [...new Set(sources.map(({ source }) => source))])
  return new NamespaceInventory(namespaces, applied, await listReleasedRealms(service))
}

const isGitSource = (source: string): boolean => parseSourceName(source)?.isGit === true

/** Returns the namespace of a source in Kubernetes. */
function getNamespace(source: string): string {
  return parseSourceName(source)!.namespace
}
