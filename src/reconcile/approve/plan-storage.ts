// Stores plans, to be applied or approved later by their ids.
import type { Caller, Service } from '../../service/context/service.ts'
import type { PlanAuthor, SavedRealmPlan } from '../../service/context/store-types.ts'
import { type SavedPlanWithContent, savePlan } from '../../service/sources/saved-plans.ts'
import type { RealmOutcome } from '../execute/realm-outcome.ts'
import type { Note, PendingApproval } from '../model/action.ts'
import { getActorName } from '../model/attribution.ts'
import { digestPlan, digestRealmPlan } from '../plan/plan-digest.ts'
import type { SerializedSource, SourceContent } from '../read/source-content.ts'
import { deserializeSource } from '../read/source-text.ts'
import { notifyPendingApproval } from '../report/notifications.ts'

/** The id of a saved plan, with its digest. */
export interface SavedPlanReference {
  readonly id: string
  /** A digest of its actions. */
  readonly digest: string
  /** Until when it can be approved and applied, as an ISO 8601 date and time. */
  readonly expires: string
}

/** The part of an outcome that is saved. */
export interface SavedOutcome {
  readonly sources: readonly { readonly name: string; readonly revision: string }[]
  readonly realms: readonly RealmOutcome[]
  readonly notes: readonly Note[]
}

/** A plan to store. */
interface PlanToStore {
  readonly sources: readonly SourceContent[]
  readonly outcome: SavedOutcome
  readonly authors: readonly PlanAuthor[] | null
  /** Whether an apply of the sources left the plan pending: it is applied as soon as it is approved. */
  readonly isFromRun?: boolean
}

/** Stores a plan, to be applied by its id. */
export async function storePlan(
  service: Service,
  caller: Caller,
  { sources, outcome, authors, isFromRun = false }: PlanToStore,
): Promise<SavedPlanReference> {
  const realms = outcome.realms.map(removeTransientParts)
  const blocked = realms.filter(({ guards }) => guards?.length)
  const saved = await savePlan(service, caller, {
    digest: digestPlan(realms),
    sources: outcome.sources.map(({ name, revision }) => ({ name, revision })),
    outcome: JSON.stringify({ ...outcome, realms }),
    sealedSources: service.vault.seal(JSON.stringify(sources.map(packSource))),
    isFromRun,
    authors,
    realms: realms.map((realm): SavedRealmPlan => {
      const { plan, guards = [] } = realm
      const hasChanges = plan.creates || plan.actions.length > 0 || guards.length > 0
      return { name: plan.realm, digest: digestRealmPlan(realm), hasChanges, guards }
    }),
    ...(blocked.length && {
      notify: (plan) => notifyPendingApproval(plan, { realms: blocked, sources, author: getActorName(caller.actor) }),
    }),
  })
  return { ...saved, expires: saved.expires.toISOString() }
}

/** Removes the parts of an outcome that are determined again when the plan is applied: its preconditions and suspension. */
function removeTransientParts({ suspended: _, guards = [], plan, ...outcome }: RealmOutcome): RealmOutcome {
  return { ...outcome, plan: { ...plan, preconditions: [] }, ...(guards.length && { guards }) }
}

/** Stores the plan of a realm that a run does not apply, since it is pending approval. */
export async function storePendingPlan(
  service: Service,
  caller: Caller,
  { realm, ...plan }: Pick<PlanToStore, 'sources' | 'authors'> & { readonly realm: RealmOutcome },
): Promise<PendingApproval> {
  const outcome = {
    sources: plan.sources.map(({ name, revision }) => ({ name, revision })),
    realms: [realm],
    notes: [],
  }
  const { id, expires } = await storePlan(service, caller, { ...plan, outcome, isFromRun: true })
  return { plan: id, guards: realm.guards ?? [], expires }
}

/** Returns the outcome that was saved with a plan. */
export function getSavedOutcome({ outcome }: Pick<SavedPlanWithContent, 'outcome'>): SavedOutcome {
  return outcome as SavedOutcome
}

/** Returns the sources of a saved plan as they were when it was saved. */
export function unpackSources({ vault }: Service, sealed: string): SourceContent[] {
  const packed: ReturnType<typeof packSource>[] = JSON.parse(vault.open(sealed))
  return packed.map(({ sourcePermissions, removals, ...text }) => ({
    ...deserializeSource(text),
    sourcePermissions,
    removals,
  }))
}

function packSource({
  name,
  revision,
  unknownFields,
  settings,
  origin,
  files,
  sourcePermissions,
  removals,
}: SourceContent) {
  const text: SerializedSource = { name, revision, unknownFields, settings, origin, files }
  return { ...text, sourcePermissions, removals }
}

/** Returns the declared names of the realms of a saved plan. */
export function listRealmNames({ realms }: Pick<SavedPlanWithContent, 'realms'>): ReadonlySet<string> {
  return new Set(realms.map(({ name }) => name))
}
