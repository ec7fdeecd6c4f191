// The realms that a run reconciles: those whose declarations or live objects have changed since the last apply.
import { adminClientObjects, MASTER } from '../../kinds/built-in/index.ts'
import { holdsText } from '../../realm-file/substitute.ts'
import { GENERATED } from '../../realm-file/variables.ts'
import { byPlace, DocumentError } from '../../realm-file/yaml/problem.ts'
import type { Caller, Service } from '../../service/context/service.ts'
import type { AppliedSource, RollbackSuspension, WaitingPlan } from '../../service/context/store-types.ts'
import { generatedSecrets } from '../../service/sources/generated-secrets.ts'
import { appliedBy } from '../../service/sources/sources.ts'
import {
  type DigestedSource,
  demandAllowedRealms,
  digestsOf,
  documentsIn,
  type MergedRealm,
  mergeSources,
  realmOf,
  renamedRealms,
} from '../merge/merge-sources.ts'
import type { Note } from '../model/action.ts'
import type { LiveState } from '../model/plan-input.ts'
import { observe } from '../observe/observe.ts'
import type { Obstacle } from '../plan/obstacles.ts'
import { planRealm } from '../plan/plan-realm.ts'
import type { SourceState } from '../read/source-state.ts'

/** A realm to reconcile. */
export interface QueuedRealm extends MergedRealm {
  /** The realm's name in the store, which may differ from the declared one. */
  readonly currentName: string
  /** The realm was rolled back, so its sources are suspended. */
  readonly suspended: RollbackSuspension | undefined
}

/** The realms of a run. */
export interface Queue {
  /** The realms to reconcile, in order. */
  readonly realms: readonly QueuedRealm[]
  /** Names of the realms in which nothing has changed. */
  readonly settled: ReadonlySet<string>
  /** The objects that new realms create in master. */
  readonly created: readonly LiveState[]
  readonly notes: readonly Note[]
  /** Plans of earlier runs of the same sources that are pending approval. */
  readonly pending: readonly WaitingPlan[]
}

/** What a run is about. */
export interface RunInput {
  readonly service: Service
  readonly caller: Caller
  readonly sources: readonly SourceState[]
  /** Only these realms, by their declared names; absent: all. */
  readonly only?: ReadonlySet<string> | undefined
}

/** Finds the realms to reconcile. One statement if nothing has changed. Throws DocumentError, forbidden. */
export async function readQueue({ service, caller, sources, only }: RunInput): Promise<Queue> {
  const names = sources.map(({ name }) => name)
  const isIncluded = (realm: string) => !only || only.has(realm)
  const stored = await appliedBy(service, names)
  const applied = stored.applied.filter((one) => isIncluded(one.stated ?? one.realm))
  const pending = stored.waiting.filter(({ realm }) => isIncluded(realm))
  demandAllowedRealms(sources)
  const digested = sources.map((source) => ({ source, digests: included(digestsOf(service, source), isIncluded) }))
  const declared = new Set(digested.flatMap(({ digests }) => [...digests.keys()]))
  const before = Map.groupBy(applied, (one) => one.stated ?? one.realm)
  const pendingOnly = pending.flatMap(({ realm }) => (before.has(realm) ? [] : realm))
  const administered = [...declared, ...applied.map(({ realm }) => realm), ...pendingOnly]
  await service.demand(caller, 'administer-realm', administered)
  const settled = settledRealms(declared, digested, before)
  // The inventory binds to the realm itself, so a realm that was renamed is found too.
  const currentNames = new Map(applied.map((one) => [one.stated ?? one.realm, one.realm]))
  const secret = await generatedSecrets(service, namesWithGeneratedSecrets(sources, settled), currentNames)
  const undeclared = [...before.keys()].filter((realm) => !declared.has(realm))
  const retained = undeclared.filter((realm) => isRetained(before.get(realm)!, realm, sources))
  const removed = undeclared.filter((realm) => !retained.includes(realm))
  const merged = mergeSources(service, { sources: digested, before, settled, removed, secret })
  const renamed = await renamedRealms(service, caller, sources, merged)
  const realms = merged.map((realm) => {
    const { name } = realm.desired
    const suspended = before.get(name)?.find((one) => one.suspended)?.suspended ?? undefined
    return { ...realm, currentName: currentNames.get(name) ?? renamed.get(name) ?? name, suspended }
  })
  const created = realms.length > 1 ? await planAhead({ service, caller, sources }, realms) : []
  const notes = retained.map((realm) => ({
    message: `realm ${currentNames.get(realm)!} is no longer declared; it is retained`,
  }))
  return { realms, settled, created, notes, pending }
}

function included(
  digests: ReadonlyMap<string, string>,
  isIncluded: (realm: string) => boolean,
): ReadonlyMap<string, string> {
  return new Map([...digests].filter(([realm]) => isIncluded(realm)))
}

/** Returns the declared realms in which nothing has changed since the last apply: their documents are not parsed again. */
function settledRealms(
  declared: ReadonlySet<string>,
  sources: readonly DigestedSource[],
  before: ReadonlyMap<string, readonly AppliedSource[]>,
): ReadonlySet<string> {
  const isSettled = (realm: string) => {
    const applied = new Map(before.get(realm)?.map((one) => [one.source, one]))
    return sources.every(({ source, digests }) => {
      const last = applied.get(source.name)
      return last ? !last.marked && last.digest === digests.get(realm) : !digests.has(realm)
    })
  }
  return new Set([...declared].filter(isSettled))
}

/** Returns the names of the sources whose changed documents use generated secrets. */
function namesWithGeneratedSecrets(sources: readonly SourceState[], settled: ReadonlySet<string>): string[] {
  return sources
    .filter(({ documents }) => documents.some((one) => !settled.has(realmOf(one)) && holdsText(one.value, GENERATED)))
    .map(({ name }) => name)
}

/** Returns whether a realm that is not declared any more stays: one of its sources prunes nothing, or may not administer it. */
function isRetained(
  before: readonly { readonly source: string }[],
  realm: string,
  sources: readonly SourceState[],
): boolean {
  const managing = new Set(before.map(({ source }) => source))
  return sources.some(
    ({ name, settings, ceiling }) =>
      managing.has(name) && (settings?.prune === 'none' || ceiling?.realms?.includes(realm) === false),
  )
}

/**
 * Plans all realms before the first one is applied, so that a problem in a later realm prevents the whole run. Returns the
 * objects that new realms create in master. Throws DocumentError.
 */
async function planAhead({ service, caller, sources }: RunInput, realms: readonly QueuedRealm[]): Promise<LiveState[]> {
  const problems: Obstacle[] = []
  const created: LiveState[] = []
  for (const { desired, parts, currentName } of realms) {
    const observed = await service.snapshot(caller, currentName, (context) => observe(context, parts, desired))
    const input = desired.name === MASTER ? { ...observed, live: [...observed.live, ...created] } : observed
    problems.push(...planRealm(input).obstacles)
    if (!input.exists && desired.objects.size)
      created.push(...adminClientObjects(desired.name).map(({ kind, key }) => ({ kind, key, fields: {} })))
  }
  if (problems.length) throw new DocumentError(byPlace(problems, documentsIn(sources)))
  return created
}
