// Runs of sources: plan or apply all of their realms, one after the other, master last.
import type { Caller, Service } from '../../service/context/service.ts'
import { dropPlans } from '../../service/sources/plans.ts'
import type { SavedPlan } from '../approve/saved-plans.ts'
import type { PlannedRealm, RealmOutcome } from '../execute/execute.ts'
import { inOrder } from '../merge/desired-realm.ts'
import { FORMAT_VERSION, type Note } from '../model/action.ts'
import type { SourceState } from '../read/source-state.ts'
import { type QueuedRealm, type RunInput, readQueue } from './queue.ts'
import { applyRealm, nothingToDo, type Run, tryRealm } from './reconcile.ts'

/** The outcome of a run: of each realm, and notes about the sources. */
export interface Outcome {
  readonly formatVersion: typeof FORMAT_VERSION
  readonly sources: readonly { readonly name: string; readonly revision: string }[]
  readonly realms: readonly RealmOutcome[]
  readonly notes: readonly Note[]
  /** The plan as it was saved, if that was requested. */
  readonly saved?: SavedPlan
}

/** Plans the sources, in all realms or only these: each plan is executed once and rolled back, which shows its consequences. */
export async function planSources(
  service: Service,
  caller: Caller,
  sources: readonly SourceState[],
  only?: ReadonlySet<string>,
): Promise<Outcome> {
  const run = await startRun({ service, caller, sources, only })
  return outcomeOfRun(run, await eachRealm(run, (realm) => tryRealm(run, realm)))
}

/** A plan, and the outcome of its dry run. */
export interface TriedPlan {
  readonly planned: PlannedRealm
  readonly outcome: RealmOutcome
}

/** Returns the plans that applying the sources would execute in these realms, each with the outcome of a dry run. */
export async function plansOf(
  service: Service,
  caller: Caller,
  sources: readonly SourceState[],
  only: ReadonlySet<string>,
): Promise<TriedPlan[]> {
  const run = await startRun({ service, caller, sources, only })
  const plans: TriedPlan[] = []
  for (const realm of run.queue.realms) {
    let last: PlannedRealm | undefined
    const outcome = await tryRealm(run, realm, (planned) => {
      last = planned
    })
    if (last) plans.push({ planned: last, outcome })
  }
  return plans
}

/**
 * Applies the sources: each realm's plan in one transaction, all or nothing. A plan that needs an approval is saved and left
 * pending; other realms are applied. `exactly`: the saved plan that each plan has to equal.
 */
export async function applySources(
  service: Service,
  caller: Caller,
  sources: readonly SourceState[],
  { only, exactly }: Pick<Run, 'only' | 'exactly'> = {},
): Promise<Outcome> {
  try {
    const run = { ...(await startRun({ service, caller, sources, only })), exactly }
    const realms = await eachRealm(run, (realm) => applyRealm(run, realm))
    const isChanged = ({ plan, suspended, pendingApproval }: RealmOutcome) =>
      !suspended && !pendingApproval && (plan.creates || plan.actions.length > 0)
    service.applies[realms.some(isChanged) ? 'changed' : 'unchanged']++
    await dropStalePlans(run, realms)
    return outcomeOfRun(run, realms)
  } catch (error) {
    service.applies.failed++
    throw error
  }
}

async function startRun(input: RunInput): Promise<Run> {
  return { ...input, queue: await readQueue(input) }
}

/** Reconciles the realms of the queue one after the other. */
async function eachRealm(
  { queue }: Run,
  reconcile: (realm: QueuedRealm) => Promise<RealmOutcome>,
): Promise<RealmOutcome[]> {
  const byName = new Map(queue.realms.map((realm) => [realm.desired.name, realm]))
  const outcomes: RealmOutcome[] = []
  for (const name of [...queue.settled, ...byName.keys()].sort(inOrder)) {
    const realm = byName.get(name)
    outcomes.push(realm ? await reconcile(realm) : nothingToDo(name))
  }
  return outcomes
}

function outcomeOfRun({ sources, queue }: Run, realms: readonly RealmOutcome[]): Outcome {
  return {
    formatVersion: FORMAT_VERSION,
    sources: sources.map(({ name, revision }) => ({ name, revision })),
    realms,
    notes: [...sources.flatMap(({ notices }) => notices ?? []), ...queue.notes],
  }
}

/** Drops plans of earlier runs that were pending and are not any more: they are applied by now, or the declarations have changed. */
async function dropStalePlans({ service, queue }: Run, realms: readonly RealmOutcome[]): Promise<void> {
  const stale = queue.pending.filter(
    ({ plan }) => !realms.some(({ pendingApproval }) => pendingApproval?.plan === plan),
  )
  if (stale.length)
    await dropPlans(
      service,
      stale.map(({ plan }) => plan),
    )
}
