// Saved plans: made, applied exactly as they are, approved.
import { address } from '../../kinds/tree.ts'
import { failure } from '../../service/context/errors.ts'
import type { Caller, Service } from '../../service/context/service.ts'
import { entriesOf } from '../../service/journal/journal.ts'
import { approve, demandOpen, getPlan, stateOf, type WholePlan } from '../../service/sources/plans.ts'
import { realmsOf, type SavedPlan, sourcesOfPlan, storePlan } from '../approve/saved-plans.ts'
import type { PlannedRealm, RealmOutcome } from '../execute/execute.ts'
import type { Attribution } from '../model/action.ts'
import { blame } from '../model/attribution.ts'
import { type DigestedPlan, digestOfRealm } from '../plan/plan-digest.ts'
import { findStaleDeletions, findStaleObjects, type StaleObject } from '../plan/stale.ts'
import type { SourceState } from '../read/source-state.ts'
import { applySources, type Outcome, planSources, plansOf } from './run.ts'

/** A plan that is not what it was: something has changed meanwhile. Nothing was applied by whoever is told. */
export class StalePlanError extends Error {
  readonly stale: readonly StaleObject[]
  constructor(plan: string, moved: readonly StaleObject[]) {
    super(`the plan ${plan} is not what would be applied now, since something has changed meanwhile: plan again`)
    this.stale = moved
  }
}

/** Plans, and keeps the plan with what the sources state. Throws invalid where that is about no realm. */
export async function savePlan(
  service: Service,
  caller: Caller,
  sources: readonly SourceState[],
): Promise<Outcome & { readonly saved: SavedPlan }> {
  const outcome = await planSources(service, caller, sources)
  if (!outcome.realms.length)
    throw failure('invalid', 'nothing was saved, since there is nothing to plan: the sources state no realm')
  return { ...outcome, saved: await storePlan(service, caller, sources, outcome) }
}

/**
 * Applies exactly what a kept plan says. `digest`: of the plan as the caller knows it. Throws PlanMoved where something has
 * changed meanwhile, conflict where it is not the caller's plan, waits for an approval, is applied, or its time is over.
 */
export async function applySaved(service: Service, caller: Caller, id: string, digest?: string): Promise<Outcome> {
  const plan = await getPlan(service, caller, id)
  const now = service.clock()
  demandOpen(plan, now)
  if (digest !== undefined && digest !== plan.digest)
    throw failure('conflict', `this is not the plan ${id} as it was saved: it was changed since`)
  if (stateOf(plan, now) === 'pending')
    throw failure('conflict', `the plan ${id} is pending approval: run "regent approve ${id}"`)
  const sources = sourcesOfPlan(service, plan.kept!)
  const only = realmsOf(plan)
  // What moved in any realm keeps all of them from being applied.
  const plans = await plansOf(service, caller, sources, only)
  const there = new Map(plans.map((one) => [one.planned.plan.realm, one]))
  await demandSame(
    service,
    caller,
    plan,
    [...only].map((realm) => there.get(realm) ?? realm),
  )
  const demand = (planned: PlannedRealm) => demandSame(service, caller, plan, [{ planned }])
  return applySources(service, caller, sources, { only, exactly: { plan: id, demand } })
}

/** What an approval led to: the plan, and the outcome where a run that had waited for it went on. */
export interface ApprovalOutcome {
  readonly plan: WholePlan
  readonly outcome?: Outcome
}

/**
 * Approves what a plan waits for. Where a run of its sources had wanted to apply it, that goes on at once; it plans anew. Throws
 * forbidden, invalid or conflict.
 */
export async function approveSaved(
  service: Service,
  caller: Caller,
  id: string,
  { withCredentials = false }: { withCredentials?: boolean | undefined } = {},
): Promise<ApprovalOutcome> {
  const plan = await approve(service, caller, id, withCredentials)
  if (!plan.runs) return { plan }
  // What a source wanted, it may by itself; a person may what they may.
  const { madeBy } = plan
  const goesOn = madeBy.kind === 'source' ? { actor: madeBy } : caller
  const outcome = await applySources(service, goesOn, sourcesOfPlan(service, plan.kept!), { only: realmsOf(plan) })
  return { plan, outcome }
}

/** Throws PlanMoved where a plan is not what it was. A realm by its name: nothing is to be done in it now. */
async function demandSame(
  service: Service,
  caller: Caller,
  plan: WholePlan,
  now: readonly ({ readonly planned: PlannedRealm; readonly outcome?: RealmOutcome } | string)[],
): Promise<void> {
  const shown = (plan.shown as { readonly realms: readonly RealmOutcome[] }).realms
  const digests = new Map(plan.realms.map(({ name, digest }) => [name, digest]))
  const all: StaleObject[] = []
  let same = true
  for (const one of now) {
    const realm = typeof one === 'string' ? one : one.planned.plan.realm
    const made: DigestedPlan = typeof one === 'string' ? { plan: { realm, creates: false, actions: [] } } : one.planned
    const then = shown.find(({ plan }) => plan.realm === realm)
    const before = { actions: then?.plan.actions ?? [], consequences: then?.consequences ?? [] }
    const after = { actions: made.plan.actions, consequences: before.consequences }
    const tried = typeof one === 'string' ? undefined : one.outcome
    const isOther = digestOfRealm(made) !== digests.get(realm)
    const found = [
      ...(isOther ? findStaleObjects(realm, before.actions, after.actions) : []),
      ...findStaleDeletions(realm, before, tried ? { ...after, consequences: tried.consequences } : after),
    ]
    // What a plan takes along with a realm it does not name.
    const moved = isOther && !found.length ? [insideOf(realm)] : found
    same &&= !isOther && !moved.length
    all.push(...(typeof one === 'string' ? moved : await attributed(service, caller, one.planned, moved)))
  }
  if (!same) throw new StalePlanError(plan.id, all)
}

const insideOf = (realm: string): StaleObject => ({ realm, kind: 'realm', key: [realm], object: 'changed' })

/** Who changed it, from the journal. */
async function attributed(
  service: Service,
  caller: Caller,
  { input }: PlannedRealm,
  moved: readonly StaleObject[],
): Promise<StaleObject[]> {
  if (!input.exists || !moved.length) return [...moved]
  // What is gone is known by the inventory.
  const ids = new Map([
    ...input.managed.map((one) => [address(one.kind, one.key), one.object] as const),
    ...input.live.flatMap((one) => (one.id ? [[address(one.kind, one.key), one.id] as const] : [])),
  ])
  const known = moved.map((one) => ({
    ...one,
    object: one.id ?? ids.get(address(one.kind, one.key)),
    what: one.object,
  }))
  const about = known.flatMap(({ kind, object }) => (object === undefined ? [] : [{ kind, object }]))
  const entries = await service.read(caller, input.currentName, (context) => entriesOf(context, about))
  const changedBy = blame(entries)
  return known.map(({ object, what, ...one }): StaleObject => {
    const by: Attribution | undefined = object === undefined ? undefined : changedBy(one.kind, object, one.path)
    return { ...one, ...(what && { object: what }), ...(by && { by }) }
  })
}
