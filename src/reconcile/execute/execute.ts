// Executes a plan in one transaction. A dry run rolls it back, an apply records and commits it.
import { address } from '../../kinds/tree.ts'
import type { WriteContext } from '../../service/context/context.ts'
import { failure, isOfAll, ServiceError } from '../../service/context/errors.ts'
import { everything, type Power, within } from '../../service/context/power.ts'
import type { Caller, Service } from '../../service/context/service.ts'
import { type JournalEntry, Rollback, type RollbackSuspension } from '../../service/context/store-types.ts'
import { ownedByOthers } from '../../service/kinds/guarded.ts'
import { demandAdministrator, demandOwnAccess, reachOfCaller } from '../../service/kinds/last-administrator.ts'
import type { ObjectChange } from '../../service/objects/object-events.ts'
import { demand } from '../../service/permissions/administrators.ts'
import type { Finding } from '../lint/index.ts'
import type { DesiredRealm } from '../merge/desired-realm.ts'
import type { Action, Approval, Guard, PendingApproval, RealmPlan } from '../model/action.ts'
import type { Observed } from '../observe/observed.ts'
import { endsRealm } from '../plan/guards.ts'
import { ActionError, type Applied, apply, type Statement } from './apply.ts'
import { noHash, withCredentials } from './credentials.ts'
import { effectsOfPlan, type PlanEffect } from './effects.ts'

/** The outcome for one realm. */
export interface RealmOutcome {
  readonly plan: RealmPlan
  /** What follows that no document states: journal entries that no action of the plan foresees. */
  readonly consequences: readonly JournalEntry[]
  /** What people lose by it, which no journal says. */
  readonly effects: readonly PlanEffect[]
  /** What is stated and works, and the field advises against. Absent: nobody looked. */
  readonly findings?: readonly Finding[]
  /** Somebody went back to an earlier revision: this was planned, and not applied. */
  readonly suspended?: RollbackSuspension
  /** Why an apply of the plan waits for an approval. */
  readonly guards?: readonly Guard[]
  /** It waits for one: this was planned, and not applied. */
  readonly pendingApproval?: PendingApproval
  /** The approval with which it was applied. */
  readonly approval?: Approval
}

/** A realm's plan, and what it was made from. */
export interface PlannedRealm {
  /** The realm as its sources declare it together. */
  readonly desired: DesiredRealm
  readonly input: Observed
  readonly plan: RealmPlan
  /** Whether the plan needs objects that an earlier realm of the same run creates. */
  readonly needsEarlierRealm: boolean
  /** Why the plan needs an approval. */
  readonly guards: readonly Guard[]
  /** The admin permissions that its sources may grant at most; absent: those of the caller. */
  readonly ceiling?: Power
}

const WAITS = {
  message: 'what follows from this is not shown: it needs what another realm of this run brings first',
}

/** Executes the plan once and rolls it back, which shows its consequences. */
export async function dryRun(service: Service, caller: Caller, planned: PlannedRealm): Promise<RealmOutcome> {
  const { desired, plan, needsEarlierRealm } = planned
  const guards = planned.guards.length ? { guards: planned.guards } : {}
  const nothing = { consequences: [], effects: [], ...guards }
  if (needsEarlierRealm) return { plan: { ...plan, notes: [...plan.notes, WAITS] }, ...nothing }
  if (!plan.actions.length) return { plan, ...nothing }
  const statement = await withCredentials(service, desired, plan, noHash)
  return executePlan(service, caller, planned, statement, async (context, _applied, effects) => {
    throw new Rollback({ ...outcomeOf(context, plan, effects), ...guards })
  })
}

/** Another source may have come to a realm since its end was planned. */
async function refuseShared(context: WriteContext, sources: readonly string[]): Promise<void> {
  if (await ownedByOthers(context, sources))
    throw failure('changed', `another source states something of the realm ${context.realm.name} by now`)
}

/** What the context has done by the plan so far. */
export function outcomeOf(context: WriteContext, plan: RealmPlan, effects: readonly PlanEffect[]): RealmOutcome {
  return { plan, consequences: consequences(plan, [...context.entries, ...context.people]), effects }
}

/**
 * Executes the plan in one transaction, which `finish` ends before the commit. If that fails, it is repeated action by action
 * and rolled back, so that the error names the action. Throws ActionError, forbidden, changed.
 */
export async function executePlan(
  service: Service,
  caller: Caller,
  { desired, input, plan: made, ceiling = everything }: PlannedRealm,
  statement: Statement,
  finish: (context: WriteContext, applied: Applied, effects: readonly PlanEffect[]) => Promise<RealmOutcome>,
): Promise<RealmOutcome> {
  const work = (stepwise: boolean) => async (context: WriteContext) => {
    demand(context, 'administer-realm')
    // Who deletes their realm knows that they go with it.
    const reach = endsRealm(made) ? undefined : await reachOfCaller(context, caller)
    if (endsRealm(made)) await refuseShared(context, [...input.marked.keys()])
    const effects = await effectsOfPlan(context, made)
    const applied = await apply(
      { ...context, ofSources: true, power: within(context.power, ceiling) },
      made,
      statement,
      stepwise,
    )
    // Found out or not: what failed once is never kept by the search for its name.
    if (stepwise) throw new Rollback(undefined)
    await demandAdministrator(context)
    if (reach !== undefined) await demandOwnAccess(context, caller, reach)
    return finish(context, applied, effects)
  }
  const attempt = (stepwise: boolean) =>
    made.creates
      ? service.create(caller, newRealm(desired, made), work(stepwise))
      : service.write(caller, made.currentName ?? made.realm, work(stepwise), {
          master: made.actions.some(({ kind }) => kind === 'realm'),
        })
  try {
    return await attempt(false)
  } catch (error) {
    if (isOfAll(error)) throw error
    // The set-based execution does not know which of its rows failed: done again one by one, the failure has a name.
    await attempt(true).catch((again: unknown) => {
      const refused = made.creates && again instanceof ServiceError && again.code !== 'forbidden'
      throw refused ? new ActionError(creationOf(desired), again) : again
    })
    throw error
  }
}

/** The creation of a realm, which no action of its plan says. */
function creationOf({ name, objects }: DesiredRealm): Action {
  const { position } = objects.get(address('realm', [name]))!.origin
  return { operation: 'create', kind: 'realm', key: [name], changes: [], position }
}

/** A new realm is made with its settings; what is late of them follows as a change. */
function newRealm(desired: DesiredRealm, made: RealmPlan) {
  const ids = new Map(
    [...desired.objects].flatMap(([id, object]) => (object.id === undefined ? [] : [[id, object.id] as const])),
  )
  return { representation: { realm: made.realm }, id: ids.get(address('realm', [made.realm])), ids }
}

/** What the plan's actions did, for admin events. */
export function changesOf(made: RealmPlan, applied: Applied): ObjectChange[] {
  return made.actions.map(({ operation, kind, key }) => ({ operation, object: applied.get(address(kind, key))! }))
}

/** Journal entries about objects that no action of the plan is about: by what they are called, or by their ids. */
function consequences(made: RealmPlan, entries: readonly JournalEntry[]): JournalEntry[] {
  const foreseen = new Set(made.actions.map(({ kind, key }) => address(kind, key)))
  if (made.creates) foreseen.add(address('realm', [made.realm]))
  const known = new Set(made.actions.flatMap(({ kind, id }) => (id === undefined ? [] : [`${kind} ${id}`])))
  return entries.filter(
    ({ kind, key, object }) => !foreseen.has(address(kind as never, key)) && !known.has(`${kind} ${object}`),
  )
}
