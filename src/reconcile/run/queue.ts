// The queue of a run: the realms whose declarations or live objects have changed since the last apply.
import { adminClientObjects, MASTER } from '../../kinds/built-in/index.ts'
import { memoizeByObject } from '../../lib/timing/memoize.ts'
import { containsText } from '../../realm-file/substitute-variables.ts'
import { GENERATED_SECRET_PREFIX } from '../../realm-file/variables.ts'
import type { Document } from '../../realm-file/yaml/document.ts'
import { DocumentError, sortByPosition } from '../../realm-file/yaml/problem.ts'
import type { AppliedSource, PendingPlan, RollbackSuspension } from '../../service/context/store-types.ts'
import { loadGeneratedSecrets } from '../../service/sources/generated-secrets.ts'
import { getAppliedAndPending } from '../../service/sources/source-records.ts'
import {
  type DigestedSource,
  digestByRealm,
  findRenamedRealms,
  getRealmName,
  listDocuments,
  type MergedRealm,
  mergeSources,
  type RunInput,
  requirePermittedRealms,
} from '../merge/merge-sources.ts'
import type { Note } from '../model/action.ts'
import type { LiveState } from '../model/plan-input.ts'
import { observe } from '../observe/observe.ts'
import type { Obstacle } from '../plan/obstacles.ts'
import { planRealm } from '../plan/plan-realm.ts'
import type { SourceContent } from '../read/source-content.ts'
import { removeIncomparable } from './incomparable-values.ts'
import { removeUnknownReferences } from './unknown-references.ts'

/** A realm to reconcile. */
export interface QueuedRealm extends MergedRealm {
  /** The realm's name in the store, which may differ from the declared one. */
  readonly currentName: string
  /** The rollback that suspends the sources of the realm. */
  readonly suspended: RollbackSuspension | undefined
}

/** The realms of a run. */
export interface Queue {
  /** The realms to reconcile, in order. */
  readonly realms: readonly QueuedRealm[]
  /** The names of the realms in which nothing has changed. */
  readonly unchanged: ReadonlySet<string>
  /** The objects that new realms create in master. */
  readonly created: readonly LiveState[]
  readonly notes: readonly Note[]
  /** The earlier applies of each source, by its name. */
  readonly applied: ReadonlyMap<string, readonly AppliedSource[]>
  /** Plans of earlier runs of the same sources that are pending approval. */
  readonly pending: readonly PendingPlan[]
}

/** The current declarations of a run's sources, and their earlier applies. */
interface RunState {
  readonly digested: readonly DigestedSource[]
  /** The names of the declared realms. */
  readonly declared: ReadonlySet<string>
  /** The sources that were applied before, by the declared name of the realm. */
  readonly before: ReadonlyMap<string, readonly AppliedSource[]>
  /** The names in the store of realms that were applied before, by their declared names. */
  readonly currentNames: ReadonlyMap<string, string>
  readonly pending: readonly PendingPlan[]
}

/** Finds the realms to reconcile. One statement if nothing has changed. Throws DocumentError, Forbidden. */
export async function readQueue(run: RunInput): Promise<Queue> {
  const state = await readRunState(run)
  await requirePermission(run, state)
  const unchanged = run.strict ? new Set<string>() : findUnchangedRealms(state)
  const { retained, removed } = findUndeclaredRealms(run, state)
  const { digested, before, currentNames } = state
  const sourcesWithSecrets = listSourcesWithGeneratedSecrets(run.sources, unchanged)
  const getSecret = await loadGeneratedSecrets(run.service, sourcesWithSecrets, currentNames)
  const merged = await removeUnknownReferences(
    run,
    mergeSources(run.service, { sources: digested, before, unchanged, removed, getSecret }).map((realm) =>
      removeIncomparable(run, realm),
    ),
  )
  const renamed = await findRenamedRealms(run, merged)
  const realms = merged.map((realm) => {
    const { name } = realm.desired
    const suspended = before.get(name)?.find((applied) => applied.suspended)?.suspended ?? undefined
    return { ...realm, currentName: currentNames.get(name) ?? renamed.get(name) ?? name, suspended }
  })
  const created = realms.length > 1 ? await planAhead(run, realms) : []
  const notes = retained.map((realm) => ({
    message: `realm ${currentNames.get(realm)!} is no longer declared; it is retained`,
  }))
  const applied = Map.groupBy([...before.values()].flat(), ({ source }) => source)
  return { realms, unchanged, created, notes, applied, pending: state.pending }
}

async function readRunState({ service, sources, only }: RunInput): Promise<RunState> {
  const isIncluded = (realm: string) => !only || only.has(realm)
  const stored = await getAppliedAndPending(
    service,
    sources.map(({ name }) => name),
  )
  const applied = stored.applied
    .map((source) => ({ source, realm: source.declaredName ?? source.realm }))
    .filter(({ realm }) => isIncluded(realm))
  requirePermittedRealms(sources)
  const digested = sources.map((source) => ({
    source,
    digests: new Map([...digestByRealm(service, source)].filter(([realm]) => isIncluded(realm))),
  }))
  return {
    digested,
    declared: new Set(digested.flatMap(({ digests }) => [...digests.keys()])),
    before: Map.groupBy(
      applied.map(({ source }) => source),
      (source) => source.declaredName ?? source.realm,
    ),
    // The inventory refers to the realm itself, so a renamed realm is found too.
    currentNames: new Map(applied.map(({ source, realm }) => [realm, source.realm])),
    pending: stored.pending.filter(({ realm }) => isIncluded(realm)),
  }
}

/** Throws Forbidden unless the caller has the permission in all realms that the run declares, applied before, or has pending plans for. */
async function requirePermission(
  { service, caller, permission = 'administer-realm' }: RunInput,
  { declared, before, pending }: RunState,
): Promise<void> {
  const applied = [...before.values()].flat().map(({ realm }) => realm)
  const pendingOnly = pending.map(({ realm }) => realm).filter((realm) => !before.has(realm))
  await service.requirePermission(caller, permission, [...declared, ...applied, ...pendingOnly])
}

/** Returns the declared realms in which nothing has changed since the last apply. Their documents are not parsed. */
function findUnchangedRealms({ declared, digested, before }: RunState): ReadonlySet<string> {
  const isUnchanged = (realm: string) => {
    const applied = new Map(before.get(realm)?.map((source) => [source.source, source]))
    return digested.every(({ source, digests }) => {
      const last = applied.get(source.name)
      return last ? !last.marked && last.digest === digests.get(realm) : !digests.has(realm)
    })
  }
  return new Set([...declared].filter(isUnchanged))
}

/** Returns the realms that are no longer declared, by whether they are retained or removed. */
function findUndeclaredRealms(
  { sources }: RunInput,
  { declared, before }: RunState,
): { retained: string[]; removed: string[] } {
  const undeclared = [...before.keys()].filter((realm) => !declared.has(realm))
  const retained = undeclared.filter((realm) => isRetained(before.get(realm)!, realm, sources))
  return { retained, removed: undeclared.filter((realm) => !retained.includes(realm)) }
}

/** Whether a realm that is no longer declared is retained: one of its sources prunes nothing, or may not administer it. */
function isRetained(
  before: readonly Pick<AppliedSource, 'source'>[],
  realm: string,
  sources: readonly SourceContent[],
): boolean {
  const managing = new Set(before.map(({ source }) => source))
  return sources.some(
    ({ name, settings, sourcePermissions }) =>
      managing.has(name) && (settings?.prune === 'none' || sourcePermissions?.realms?.includes(realm) === false),
  )
}

/** Whether a document uses generated secrets. Most documents of a git source are the same from run to run. */
const usesGeneratedSecrets = memoizeByObject(({ value }: Document) => containsText(value, GENERATED_SECRET_PREFIX))

/** Returns the names of the sources whose changed documents use generated secrets. */
function listSourcesWithGeneratedSecrets(sources: readonly SourceContent[], unchanged: ReadonlySet<string>): string[] {
  return sources
    .filter(({ documents }) =>
      documents.some((document) => !unchanged.has(getRealmName(document)) && usesGeneratedSecrets(document)),
    )
    .map(({ name }) => name)
}

/**
 * Plans all realms before the first one is applied, so that a problem in a later realm prevents the whole run. Returns the
 * objects that new realms create in master. Throws DocumentError.
 */
async function planAhead({ service, caller, sources }: RunInput, realms: readonly QueuedRealm[]): Promise<LiveState[]> {
  const problems: Obstacle[] = []
  const created: LiveState[] = []
  for (const { desired, parts, currentName } of realms) {
    const observed = await service.readSnapshot(caller, currentName, (context) => observe(context, parts, desired))
    const input = desired.name === MASTER ? { ...observed, live: [...observed.live, ...created] } : observed
    problems.push(...planRealm(input).obstacles)
    if (!input.exists && desired.objects.size)
      created.push(...adminClientObjects(desired.name).map(({ kind, key }) => ({ kind, key, fields: {} })))
  }
  if (problems.length) throw new DocumentError(sortByPosition(problems, listDocuments(sources)))
  return created
}
