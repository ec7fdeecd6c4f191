// Saved plans, and the approvals that they wait for.
import { describe } from '../../kinds/tree.ts'
import type { Caller, Service } from '../../service/context/service.ts'
import type { PlanOfRealm } from '../../service/context/store-types.ts'
import { approvalOf, keepPlan, takeBack, type WholePlan } from '../../service/sources/plans.ts'
import { dryRun, type PlannedRealm, type RealmOutcome } from '../execute/execute.ts'
import type { Approval, Note, PendingApproval } from '../model/action.ts'
import { digestOfPlan, digestOfRealm } from '../plan/plan-digest.ts'
import { findStaleDeletions } from '../plan/stale.ts'
import type { SourceState, SourceText } from '../read/source-state.ts'
import { unpackSource } from '../read/text.ts'

/** A saved plan. */
export interface SavedPlan {
  readonly id: string
  /** Of what it does. */
  readonly digest: string
  /** Until when it can be approved and applied. */
  readonly expires: string
}

/** The part of an outcome that is saved. */
interface SavedOutcome {
  readonly sources: readonly { readonly name: string; readonly revision: string }[]
  readonly realms: readonly RealmOutcome[]
  readonly notes: readonly Note[]
}

/** Stores a plan, to be applied by its id. `runs`: a run of its sources applies it once it is approved. */
export async function storePlan(
  service: Service,
  caller: Caller,
  sources: readonly SourceState[],
  shown: SavedOutcome,
  runs = false,
): Promise<SavedPlan> {
  const { vault } = service
  const realms = shown.realms.map(({ plan, guards = [], consequences, suspended: _, ...rest }) => ({
    // Who applies it looks at what is live then: what the plan knew is known anew.
    ...{ plan: { ...plan, knows: [] }, consequences, ...(guards.length && { guards }), ...rest },
  }))
  const saved = await keepPlan(service, caller, {
    digest: digestOfPlan(realms),
    sources: shown.sources,
    shown: JSON.stringify({ ...shown, realms }),
    kept: vault.seal(JSON.stringify(sources.map(packed))),
    runs,
    realms: realms.map((one): PlanOfRealm => {
      const { plan, guards = [] } = one
      const hasChanges = plan.creates || plan.actions.length > 0 || guards.length > 0
      return { name: plan.realm, digest: digestOfRealm(one), hasChanges, guards }
    }),
  })
  return { ...saved, expires: saved.expires.toISOString() }
}

/** Stores the plan of a realm that a run does not apply, since it is pending approval. */
export async function storePendingPlan(
  service: Service,
  caller: Caller,
  sources: readonly SourceState[],
  realm: RealmOutcome,
): Promise<PendingApproval> {
  const shown = { sources: sources.map(({ name, revision }) => ({ name, revision })), realms: [realm], notes: [] }
  const { id, expires } = await storePlan(service, caller, sources, shown, true)
  return { plan: id, guards: realm.guards ?? [], expires }
}

/** A saved plan that is applied, with its approval. */
export interface Permit {
  /** Id of the saved plan. */
  readonly plan: string
  readonly approval?: Approval
}

/** The approval of a plan. `users`: ids of existing users who get their declared credentials. */
export interface ApprovedPlan extends Required<Permit> {
  readonly users: ReadonlySet<string> | undefined
}

/** A plan needs an approval and has none. `notes`: why an earlier approval does not count any more. */
export interface MissingApproval {
  readonly notes: readonly Note[]
}

/**
 * Returns the approval of a plan; undefined, if it needs none. An approval is void once the objects that the plan deletes have
 * changed. `exactly`: only the approval of that saved plan counts. No statement, or one and a dry run.
 */
export async function findApproval(
  service: Service,
  caller: Caller,
  planned: PlannedRealm,
  exactly?: string,
): Promise<ApprovedPlan | MissingApproval | undefined> {
  if (!planned.guards.length) return undefined
  const { realm } = planned.plan
  const saved = await approvalOf(service, realm, digestOfRealm(planned), exactly)
  if (!saved) return { notes: [] }
  const { plan, by, at, withCredentials, shown } = saved
  const before = (shown as SavedOutcome).realms.find((one) => one.plan.realm === realm)!
  const { consequences } = await dryRun(service, caller, planned)
  const changed = findStaleDeletions(realm, { ...before.plan, ...before }, { ...planned.plan, consequences })
  if (changed.length) {
    await takeBack(service, plan)
    const names = changed.map(({ kind, key }) => describe(kind, key)).join(', ')
    return { notes: [{ message: `what ${by} has approved is void: what is deleted has changed since (${names})` }] }
  }
  const users = planned.guards.flatMap(({ guard, objects }) =>
    guard === 'adoption' || guard === 'recreated' ? objects : [],
  )
  return {
    plan,
    approval: { plan, by, at: at.toISOString() },
    users: withCredentials ? new Set(users) : undefined,
  }
}

/** The sources of a saved plan, as they were when it was saved. */
export function sourcesOfPlan({ vault }: Service, kept: string): SourceState[] {
  const texts = JSON.parse(vault.open(kept)) as ReturnType<typeof packed>[]
  return texts.map(({ ceiling, unstated, ...text }) => ({ ...unpackSource(text), ceiling, unstated }))
}

function packed({ name, revision, unknownFields, settings, files, ceiling, unstated }: SourceState) {
  const text: SourceText = { name, revision, unknownFields, settings, files }
  return { ...text, ceiling, unstated }
}

/** The realms of a saved plan, by their declared names. */
export function realmsOf({ realms }: Pick<WholePlan, 'realms'>): ReadonlySet<string> {
  return new Set(realms.map(({ name }) => name))
}
