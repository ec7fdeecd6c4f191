// The reconciliation of one realm, step by step: observe, plan, dry run, approve, apply, record.
import { MASTER } from '../../kinds/built-in/index.ts'
import { once } from '../../lib/timing/once.ts'
import { byPlace, DocumentError } from '../../realm-file/yaml/problem.ts'
import { ServiceError } from '../../service/context/errors.ts'
import { underCeilings } from '../../service/context/power.ts'
import type { Caller } from '../../service/context/service.ts'
import { flush } from '../../service/journal/journal.ts'
import { noteChanges } from '../../service/objects/object-events.ts'
import { take } from '../../service/sources/plans.ts'
import { hashPassword } from '../../service/users/passwords.ts'
import { demandSameGuards, findGuards } from '../approve/find-guards.ts'
import { findApproval, type Permit, storePendingPlan } from '../approve/saved-plans.ts'
import { ActionError, eventsAreKept } from '../execute/apply.ts'
import { withCredentials } from '../execute/credentials.ts'
import { changesOf, dryRun, executePlan, outcomeOf, type PlannedRealm, type RealmOutcome } from '../execute/execute.ts'
import { lint } from '../lint/index.ts'
import { documentsIn } from '../merge/merge-sources.ts'
import type { Note, PendingApproval } from '../model/action.ts'
import { observe } from '../observe/observe.ts'
import type { Observed } from '../observe/observed.ts'
import { endsRealm } from '../plan/guards.ts'
import { planRealm } from '../plan/plan-realm.ts'
import { recordApply } from '../record/record.ts'
import type { Queue, QueuedRealm, RunInput } from './queue.ts'

/** How often a plan is made anew if its preconditions fail. */
const ATTEMPTS = 3

/** A run of its sources over the realms of a queue. */
export interface Run extends RunInput {
  readonly queue: Queue
  /** A saved plan that is applied, which the plan of each realm has to equal. */
  readonly exactly?: (Permit & { readonly demand: (planned: PlannedRealm) => Promise<void> }) | undefined
  /** The last plan of this run that is pending approval: realms that need its realm wait, too. */
  pending?: PendingApproval
}

/** A planned realm, and how to plan it again from the same observation. */
interface Planning {
  readonly planned: PlannedRealm
  /** Plans again; the existing users with these ids get their declared credentials. */
  readonly planWith: (users: ReadonlySet<string>) => PlannedRealm
}

/** Plans a realm, and executes the plan once without keeping it. Throws DocumentError, ActionError, forbidden. */
export function tryRealm(
  run: Run,
  realm: QueuedRealm,
  onPlanned: (planned: PlannedRealm) => void = () => {},
): Promise<RealmOutcome> {
  return withRetries(realm, async () => {
    const { planned } = (await observeAndPlan(run, realm)) ?? {}
    if (!planned) return nothingToDo(realm.desired.name)
    onPlanned(planned)
    return dryRun(run.service, run.caller, planned)
  })
}

/** Applies a realm in one transaction, or leaves its plan pending approval. Throws DocumentError, ActionError, forbidden. */
export function applyRealm(run: Run, realm: QueuedRealm): Promise<RealmOutcome> {
  const { service, caller, exactly } = run
  return withRetries(realm, async () => {
    const planning = await observeAndPlan(run, realm)
    if (!planning) return nothingToDo(realm.desired.name)
    const { planned } = planning
    await exactly?.demand(planned)
    if (realm.suspended && planned.plan.actions.length)
      return { ...(await dryRun(service, caller, planned)), suspended: realm.suspended }
    const approval = await findApproval(service, caller, planned, exactly?.plan)
    if (approval && 'notes' in approval) return leavePending(run, planned, approval.notes)
    if (planned.needsEarlierRealm && run.pending) return leavePending(run, planned)
    return applyAndRecord(
      run,
      realm,
      approval?.users ? planning.planWith(approval.users) : planned,
      approval ?? exactly,
    )
  })
}

/** Observes the realm and plans it in one snapshot. Returns undefined if the realm to delete does not exist. Throws DocumentError. */
async function observeAndPlan(run: Run, { desired, parts, currentName }: QueuedRealm): Promise<Planning | undefined> {
  const { service, caller, sources, queue } = run
  const ceiling = underCeilings(
    currentName,
    sources.map(({ ceiling = {} }) => ceiling),
  )
  const plan = (observed: Observed): Omit<PlannedRealm, 'guards'> => {
    const { obstacles, ...result } = planRealm(observed, desired.name === MASTER ? queue.created : [])
    if (obstacles.length) throw new DocumentError(byPlace(obstacles, documentsIn(sources)))
    return { desired, ...result, ceiling }
  }
  const seen = await service.snapshot(caller, currentName, async (context) => {
    const observed = await observe(context, parts, desired)
    const planned = plan(observed)
    return { observed, planned, guards: context && (await findGuards(context, planned.plan, planned.input, parts)) }
  })
  if (!seen.observed.exists && !desired.objects.size) return undefined
  const guards = seen.guards ?? (await findGuards(service, seen.planned.plan, seen.planned.input, parts))
  return {
    planned: { ...seen.planned, guards },
    planWith: (users) => ({ ...plan({ ...seen.observed, credentialsOf: users }), guards }),
  }
}

/** Saves the plan for its approval, unless it only waits for an earlier realm that is pending. */
async function leavePending(run: Run, planned: PlannedRealm, notes?: readonly Note[]): Promise<RealmOutcome> {
  const { service, caller, sources } = run
  const outcome = await dryRun(service, caller, planned)
  run.pending = notes ? await storePendingPlan(service, caller, sources, outcome) : { ...run.pending!, guards: [] }
  return {
    ...outcome,
    plan: { ...outcome.plan, notes: [...outcome.plan.notes, ...(notes ?? [])] },
    pendingApproval: run.pending,
  }
}

/**
 * Executes the plan and commits it, with the record of what each source manages now. `permit`: the saved plan that this is, which
 * is marked as applied. Throws changed if the plan is blocked by other guards than when it was planned, or its permit is void.
 */
async function applyAndRecord(
  { service, caller }: Run,
  { parts }: QueuedRealm,
  planned: PlannedRealm,
  permit: Permit | undefined,
): Promise<RealmOutcome> {
  const { desired, input, plan } = planned
  const hash: typeof hashPassword = (password, wanted) => hashPassword(password, wanted, caller.deadline)
  const statement = await withCredentials(service, desired, plan, hash)
  const approval = permit?.approval && { approval: permit.approval }
  const actor = actorOf(caller, parts, permit)
  return executePlan(service, { ...caller, actor }, planned, statement, async (context, applied, effects) => {
    const outcome = { ...outcomeOf(context, plan, effects), ...approval }
    const isDeleted = endsRealm(plan)
    if (!isDeleted && eventsAreKept(context, plan, applied)) noteChanges(context, changesOf(plan, applied))
    await flush(
      context,
      parts.map(({ source }) => source),
    )
    demandSameGuards(planned.guards, await findGuards(context, plan, input, parts))
    if (permit) await take(context, permit.plan, plan.realm)
    // The records of a realm are deleted with it.
    if (!isDeleted) await recordApply(context, planned, parts, applied, approval)
    return outcome
  })
}

function actorOf({ actor }: Caller, parts: QueuedRealm['parts'], permit: Permit | undefined): Caller['actor'] {
  return {
    ...actor,
    source: parts.map(({ source }) => source).join(', '),
    revision: parts.map(({ revision }) => revision).join(', '),
    ...(permit && { plan: permit.plan }),
    ...(permit?.approval && { approvedBy: permit.approval.by }),
  }
}

/** Reconciles a realm; again if somebody else changed it meanwhile. The result is linted when its findings are read. */
async function withRetries({ desired }: QueuedRealm, reconcile: () => Promise<RealmOutcome>): Promise<RealmOutcome> {
  for (let attempt = 1; ; attempt++) {
    try {
      const outcome = await reconcile()
      if (outcome.findings) return outcome
      const findings = once(() => lint(desired.name, [...desired.objects.values()]))
      return {
        ...outcome,
        get findings() {
          return findings()
        },
      }
    } catch (error) {
      if (!isStale(error) || attempt === ATTEMPTS) throw error
    }
  }
}

/** Returns whether a plan failed since a precondition does not hold any more, or a name that it creates was taken. */
function isStale(error: unknown): boolean {
  const cause = error instanceof ActionError ? error.cause : error
  return cause instanceof ServiceError && ['changed', 'conflict', 'duplicate'].includes(cause.code)
}

/** The outcome for a realm in which nothing has changed. */
export function nothingToDo(realm: string): RealmOutcome {
  return {
    plan: { realm, creates: false, actions: [], ignoredDrift: [], notes: [], preconditions: [] },
    consequences: [],
    effects: [],
    findings: [],
  }
}
