// A run over the resources of namespaces in one realm. Resources with faults are left out, and the others applied.
import type { SourceContent } from '../../reconcile/read/source-content.ts'
import type { RunOutcome } from '../../reconcile/run/run.ts'
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

/** Repeats a run without the resources that made it fail, until it succeeds. Throws errors that no resource causes. */
export async function runWithoutFaulty(
  { realm, namespaces, ...context }: NamespaceRunInput,
  run: (sources: readonly SourceContent[]) => Promise<RunOutcome>,
): Promise<RealmRun> {
  const faults = new Map(context.faults)
  const removed = new Set(realm.resources.flatMap(({ file, removal }) => (removal ? file : [])))
  for (;;) {
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
