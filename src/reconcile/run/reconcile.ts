// The reconciliation of one realm, step by step: observe, plan, dry run, approve, apply, record.
import { MASTER } from '../../kinds/built-in/index.ts'
import { memoize } from '../../lib/timing/memoize.ts'
import { reportProgress } from '../../lib/timing/progress.ts'
import { DocumentError, type DocumentProblem, sortByPosition } from '../../realm-file/yaml/problem.ts'
import { toGrantablePermissions } from '../../service/context/admin-permissions.ts'
import type { Context } from '../../service/context/context.ts'
import { ServiceError } from '../../service/context/errors.ts'
import type { Caller } from '../../service/context/service.ts'
import type { AppliedSource } from '../../service/context/store-types.ts'
import { flushJournal } from '../../service/journal/journal.ts'
import { enqueueNotification, withMasterRealm } from '../../service/messages/notifications.ts'
import { recordObjectEvents } from '../../service/objects/object-events.ts'
import { markPlanApplied } from '../../service/sources/saved-plans.ts'
import { hashPassword } from '../../service/users/password-hashing.ts'
import { type AppliedPlanReference, findApproval } from '../approve/approvals.ts'
import { type EvaluatedGuards, findGuards, requireSameGuards } from '../approve/find-guards.ts'
import { findPlanAuthors } from '../approve/plan-authors.ts'
import { storePendingPlan } from '../approve/plan-storage.ts'
import { ActionError } from '../execute/action-error.ts'
import { recordsAdminEvents } from '../execute/apply.ts'
import { prepareDeclaredState } from '../execute/credentials.ts'
import { dryRun, executePlan } from '../execute/execute.ts'
import { type PlannedRealm, type RealmOutcome, toObjectChanges, toRealmOutcome } from '../execute/realm-outcome.ts'
import { findLintFindings } from '../lint/lint.ts'
import { listDocuments, type RunInput } from '../merge/merge-sources.ts'
import { findTenantProblems } from '../merge/tenant-problems.ts'
import type { Note, PendingApproval } from '../model/action.ts'
import { getActorName } from '../model/attribution.ts'
import type { ObservedRealm } from '../model/plan-input.ts'
import { observe } from '../observe/observe.ts'
import { findUnresolvedSecrets } from '../observe/unresolved-secrets.ts'
import { isRealmDeletion } from '../plan/guards.ts'
import { planRealm } from '../plan/plan-realm.ts'
import { recordApply } from '../record/record.ts'
import { notifyApplied } from '../report/notifications.ts'
import type { Queue, QueuedRealm } from './queue.ts'

/** The number of attempts to plan and apply a realm that others change meanwhile. */
const MAX_ATTEMPTS = 3

/** A saved plan to apply. */
export interface SavedPlanToApply extends AppliedPlanReference {
  /** Throws StalePlanError unless the plan of a realm equals the saved one. */
  readonly requireSame: (planned: PlannedRealm) => Promise<void>
}

/** A run of sources over the realms of its queue. */
export interface SourceRun extends RunInput {
  readonly queue: Queue
  /** The saved plan that the plans of this run have to equal. */
  readonly savedPlan?: SavedPlanToApply | undefined
  /** The last plan of this run that is pending approval: realms that need its realm are pending, too. */
  pending?: PendingApproval
}

/** A planned realm, and how to plan it again from the same observation. */
interface Planning {
  readonly planned: PlannedRealm
  /** Plans again so that the existing users with these ids get their declared credentials. */
  readonly planWithCredentials: (users: ReadonlySet<string>) => PlannedRealm
}

/** Plans a realm, and executes the plan once without committing it. Throws DocumentError, ActionError, Forbidden. */
export function dryRunRealm(
  run: SourceRun,
  realm: QueuedRealm,
  onPlanned: (planned: PlannedRealm) => void = () => {},
): Promise<RealmOutcome> {
  return withRetries(realm, async () => {
    const planning = await observeAndPlan(run, realm)
    if (!planning) return createUnchangedOutcome(realm.desired.name)
    const { planned } = planning
    onPlanned(planned)
    return { ...(await dryRun(run.service, run.caller, planned)), ...toSuspension(realm, planned) }
  })
}

/** Applies a realm in one transaction, or leaves its plan pending approval. Throws DocumentError, ActionError, Forbidden. */
export function applyRealm(run: SourceRun, realm: QueuedRealm): Promise<RealmOutcome> {
  const { service, caller, savedPlan } = run
  return withRetries(realm, async () => {
    const planning = await observeAndPlan(run, realm)
    if (!planning) return createUnchangedOutcome(realm.desired.name)
    const { planned } = planning
    await savedPlan?.requireSame(planned)
    const suspension = toSuspension(realm, planned)
    if (suspension.suspended) return { ...(await dryRun(service, caller, planned)), ...suspension }
    const approval = await findApproval(service, caller, { planned, savedPlan: savedPlan?.plan })
    if (approval && 'notes' in approval) return leavePending(run, planned, approval.notes)
    if (planned.needsEarlierRealm && run.pending) return leavePending(run, planned)
    return applyAndRecord(run, realm, {
      planned: approval?.users ? planning.planWithCredentials(approval.users) : planned,
      reference: approval ?? savedPlan,
    })
  })
}

/** Returns the rollback that suspends the sources of a realm, if the plan has changes. A plan without changes ends it. */
function toSuspension({ suspended }: QueuedRealm, { plan }: PlannedRealm): Pick<RealmOutcome, 'suspended'> {
  return suspended && plan.actions.length ? { suspended } : {}
}

/** Observes and plans a realm in one snapshot. Returns undefined if the realm to delete does not exist. Throws DocumentError. */
async function observeAndPlan(
  run: SourceRun,
  { desired, parts, currentName }: QueuedRealm,
): Promise<Planning | undefined> {
  const { service, caller, sources, queue, strict } = run
  await reportProgress({ phase: 'compare', realm: desired.name })
  const grantablePermissions = toGrantablePermissions({ name: currentName, declaredName: desired.name }, [
    ...sources.map(({ sourcePermissions = {} }) => sourcePermissions),
    ...parts.map(({ tenant }) => ({ tenant })),
  ])
  const unresolvedSecrets = await findUnresolvedSecrets(service, desired)
  const refuseForbidden = async (context: Context | undefined) => {
    const problems = await findTenantProblems(context, parts)
    if (problems.length) throw new DocumentError(sortByPosition(problems, listDocuments(sources)))
  }
  const plan = (observed: ObservedRealm): Omit<PlannedRealm, keyof EvaluatedGuards> => {
    const { obstacles, ...result } = planRealm(observed, desired.name === MASTER ? queue.created : [])
    const problems = [...obstacles, ...(strict ? listUnenforcedProblems(result.plan.notes) : [])]
    if (problems.length) throw new DocumentError(sortByPosition(problems, listDocuments(sources)))
    return { desired, ...result, grantablePermissions }
  }
  const { observed, planned, ...snapshot } = await service.readSnapshot(caller, currentName, async (context) => {
    await refuseForbidden(context)
    const observed = { ...(await observe(context, parts, desired)), unresolvedSecrets }
    const planned = plan(observed)
    return { observed, planned, blocking: context && (await findGuards(context, { ...planned, parts })) }
  })
  if (!observed.exists && !desired.objects.size) return undefined
  const blocking = snapshot.blocking ?? (await findGuards(service, { ...planned, parts }))
  return {
    planned: { ...planned, ...blocking },
    planWithCredentials: (users) => ({ ...plan({ ...observed, credentialRecipients: users }), ...blocking }),
  }
}

/** Returns the notes about declared values that are not enforced as problems. */
function listUnenforcedProblems(notes: readonly Note[]): DocumentProblem[] {
  return notes.flatMap(({ message, position, effect }) =>
    effect && position ? [{ message: `${message} (refused by --strict)`, position }] : [],
  )
}

/** Saves a plan that needs an approval. Without notes, the plan only needs an earlier realm that is pending itself. */
async function leavePending(run: SourceRun, planned: PlannedRealm, notes?: readonly Note[]): Promise<RealmOutcome> {
  const { service, caller, sources } = run
  const outcome = await dryRun(service, caller, planned)
  const authors = notes && (await findPlanAuthors(service, caller, { sources, applied: findApplied(run, planned) }))
  run.pending = notes
    ? await storePendingPlan(service, caller, { sources, realm: outcome, authors: authors ?? null })
    : { ...run.pending!, guards: [] }
  return {
    ...outcome,
    plan: { ...outcome.plan, notes: [...outcome.plan.notes, ...(notes ?? [])] },
    pendingApproval: run.pending,
  }
}

/** Returns what each source has applied last to the realm of a plan. */
function findApplied({ queue }: SourceRun, { plan }: PlannedRealm): ReadonlyMap<string, AppliedSource> {
  const toApplied = (applied: readonly AppliedSource[]) =>
    applied.filter(({ realm, declaredName }) => (declaredName ?? realm) === plan.realm)
  return new Map(
    [...queue.applied].flatMap(([name, applied]) => toApplied(applied).map((last) => [name, last] as const)),
  )
}

/** A plan to apply. `reference`: the saved plan that it equals, which is marked as applied. */
interface PlanToApply {
  readonly planned: PlannedRealm
  readonly reference: AppliedPlanReference | undefined
}

/**
 * Executes a plan and commits it, with a record of what each source manages now. Throws `stale` if the plan is blocked by other guards
 * than when it was planned, or its saved plan was applied or rejected meanwhile.
 */
async function applyAndRecord(
  { service, caller }: SourceRun,
  { parts }: QueuedRealm,
  { planned, reference }: PlanToApply,
): Promise<RealmOutcome> {
  const { input, plan } = planned
  const isDeletion = isRealmDeletion(plan)
  const hash: typeof hashPassword = (password, hashing) => hashPassword(password, hashing, caller.deadline)
  const actor = toSourceActor(caller, parts, reference)
  return executePlan(
    service,
    { ...caller, actor },
    {
      planned,
      declared: await prepareDeclaredState(service, planned, hash),
      finish: async (context, applied, effects) => {
        const approval = reference?.approval
        const outcome = { ...toRealmOutcome(context, plan, effects), ...(approval && { approval }) }
        if (!isDeletion && recordsAdminEvents(context, plan, applied))
          recordObjectEvents(context, toObjectChanges(plan, applied))
        await reportProgress({ phase: 'record', realm: plan.realm })
        await flushJournal(
          context,
          parts.map(({ source }) => source),
        )
        const { heldPermissions, formerlyImpassable } = planned
        const { guards } = await findGuards(context, { plan, input, parts, heldPermissions, formerlyImpassable })
        requireSameGuards(planned.guards, guards)
        if (reference) await markPlanApplied(context, reference.plan, plan.realm)
        // The records of a deleted realm are deleted with it.
        if (!isDeletion) await recordApply(context, { planned, parts, applied, approval })
        if (service.notificationReceivers.length && (plan.creates || plan.actions.length > 0)) {
          const sources = parts.map(({ source, revision }) => ({ name: source, revision }))
          const notification = notifyApplied(outcome, { sources, author: getActorName(caller.actor) })
          await enqueueNotification(service, isDeletion ? await withMasterRealm(context) : context, notification)
        }
        return outcome
      },
    },
  )
}

/** Returns the actor of an apply, with its sources and its saved plan. */
function toSourceActor(
  { actor }: Caller,
  parts: QueuedRealm['parts'],
  reference: AppliedPlanReference | undefined,
): Caller['actor'] {
  return {
    ...actor,
    source: parts.map(({ source }) => source).join(', '),
    revision: parts.map(({ revision }) => revision).join(', '),
    ...(reference && { plan: reference.plan }),
    ...(reference?.approval && { approvedBy: reference.approval.by }),
  }
}

/** Reconciles a realm, again if others change it meanwhile. The findings of the outcome are computed when they are read. */
async function withRetries({ desired }: QueuedRealm, reconcile: () => Promise<RealmOutcome>): Promise<RealmOutcome> {
  for (let attempt = 1; ; attempt++) {
    try {
      const outcome = await reconcile()
      if (outcome.findings) return outcome
      const findings = memoize(() => findLintFindings(desired.name, [...desired.objects.values()]))
      return {
        ...outcome,
        get findings() {
          return findings()
        },
      }
    } catch (error) {
      if (!isStale(error) || attempt === MAX_ATTEMPTS) throw error
    }
  }
}

/** Whether a plan failed since a precondition no longer holds, or a name that it creates was taken. */
function isStale(error: unknown): boolean {
  const cause = error instanceof ActionError ? error.cause : error
  return cause instanceof ServiceError && ['stale', 'conflict'].includes(cause.code)
}

const unplanned = new WeakSet<RealmOutcome>()

/** Whether the realm was not planned, since nothing has changed: its outcome has no notes. */
export const isUnplanned = (outcome: RealmOutcome): boolean => unplanned.has(outcome)

/** Returns the outcome for a realm in which nothing has changed. */
export function createUnchangedOutcome(realm: string): RealmOutcome {
  const outcome: RealmOutcome = {
    plan: { realm, creates: false, actions: [], ignoredDrift: [], notes: [], preconditions: [] },
    consequences: [],
    effects: [],
    findings: [],
  }
  unplanned.add(outcome)
  return outcome
}
