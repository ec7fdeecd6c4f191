// A run over the resources of namespaces in one realm. Resources with faults are left out, and the others applied.
import type { SourceContent } from '../../reconcile/read/source-content.ts'
import type { RunOutcome } from '../../reconcile/run/run.ts'
import { getObjectAddress } from '../desired/declaring-resource.ts'
import type { ClusterRealm } from '../desired/desired-realms.ts'
import { type RealmSourcesContext, toSourceContents } from '../desired/realm-sources.ts'
import { listResourceFaults, type ResourceFault } from '../desired/resource-fault.ts'

/** The outcome of applying or planning namespaces of a realm, and the faults of resources that were left out. */
export interface RealmRun {
  readonly outcome: RunOutcome
  /** Faults by the name of their resource, which is its file name in plans. */
  readonly faults: ReadonlyMap<string, ResourceFault>
}

/** The namespaces of a run. */
export interface NamespaceRunInput extends RealmSourcesContext {
  /** The realm with the resources of these namespaces. */
  readonly realm: ClusterRealm
  readonly namespaces: readonly string[]
}

/**
 * Returns the faults of deleted resources whose object a resource with a fault declares as well: its last valid version stays live, so
 * that the object must not be deleted.
 */
function findSharedRemovals(
  { resources }: ClusterRealm,
  faults: ReadonlyMap<string, ResourceFault>,
): [file: string, fault: ResourceFault][] {
  const deleted = resources.filter(({ removal, file }) => removal === 'deleted' && !faults.has(file))
  if (!deleted.length) return []
  const faulty = resources.filter(({ removal, file }) => !removal && faults.has(file))
  const faultyByObject = new Map(faulty.map((declaring) => [getObjectAddress(declaring), declaring]))
  return deleted.flatMap((declaring): [string, ResourceFault][] => {
    const other = faultyByObject.get(getObjectAddress(declaring))
    if (!other) return []
    const message = `${other.file} declares the same object, and is not applied. Correct it, or delete it as well.`
    return [[declaring.file, { reason: 'InUse', message, isTemporary: true }]]
  })
}

/** Repeats a run without the resources that made it fail, until it succeeds. Throws errors that no resource causes. */
export async function runWithoutFaulty(
  { realm, namespaces, ...context }: NamespaceRunInput,
  run: (sources: readonly SourceContent[]) => Promise<RunOutcome>,
): Promise<RealmRun> {
  const faults = new Map(context.faults)
  const removed = new Set(realm.resources.flatMap(({ file, removal }) => (removal ? file : [])))
  for (;;) {
    for (const [file, fault] of findSharedRemovals(realm, faults)) faults.set(file, fault)
    const sources = toSourceContents(realm, namespaces, { ...context, faults })
    try {
      return { outcome: await run(sources), faults }
    } catch (error) {
      const newFaults = listResourceFaults(error).filter(([file]) => !faults.has(file))
      if (!newFaults.length) throw error
      for (const [file, fault] of newFaults) faults.set(file, removed.has(file) ? { ...fault, reason: 'InUse' } : fault)
    }
  }
}
