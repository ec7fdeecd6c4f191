// Runs of sources: plan or apply all of their realms, one after the other, master last.
import { MASTER } from '../../kinds/built-in/index.ts'
import { reportProgress } from '../../lib/timing/progress.ts'
import { trace } from '../../lib/tracing.ts'
import { listEncryptedTexts } from '../../realm-file/literal-secrets.ts'
import { DocumentError } from '../../realm-file/yaml/problem.ts'
import { hasPermission } from '../../service/context/admin-permissions.ts'
import { type Caller, type Service, SYSTEM } from '../../service/context/service.ts'
import { findSourcePermissions } from '../../service/context/source-permissions.ts'
import type { AppliedSource } from '../../service/context/store-types.ts'
import { deleteSavedPlans } from '../../service/sources/saved-plans.ts'
import type { SavedPlanReference } from '../approve/plan-storage.ts'
import { ActionError } from '../execute/action-error.ts'
import type { PlannedRealm, RealmOutcome } from '../execute/realm-outcome.ts'
import { compareRealmNames, type DesiredRealm } from '../merge/desired-realm.ts'
import type { RunInput } from '../merge/merge-sources.ts'
import { FORMAT_VERSION, type Note } from '../model/action.ts'
import type { SourceContent } from '../read/source-content.ts'
import type { RenderedSource } from '../report/outcome-text.ts'
import { type QueuedRealm, readQueue } from './queue.ts'
import { applyRealm, createUnchangedOutcome, dryRunRealm, type SavedPlanToApply, type SourceRun } from './reconcile.ts'

/** The outcome of a run: of each realm, and notes about the sources. */
export interface RunOutcome {
  readonly formatVersion: typeof FORMAT_VERSION
  readonly sources: readonly RenderedSource[]
  readonly realms: readonly RealmOutcome[]
  readonly notes: readonly Note[]
  /** The saved plan, if saving was requested. */
  readonly saved?: SavedPlanReference
}

/** Plans sources in all of their realms. Each plan is executed once and rolled back, which shows its consequences. */
export function planSources(service: Service, caller: Caller, sources: readonly SourceContent[]): Promise<RunOutcome> {
  return planRun({ service, caller, sources })
}

/** Plans the sources of a run. Each plan is executed once and rolled back, which shows its consequences. */
export function planRun(input: RunInput): Promise<RunOutcome> {
  return withoutEncryptedTexts(input, () => planEach(input))
}

async function planEach(input: RunInput): Promise<RunOutcome> {
  const started = await startRun(input)
  const run = input.permission === 'plan-changes' ? { ...started, caller: await findPlanner(started) } : started
  return toRunOutcome(run, await reconcileEach(run, 'plan', (realm) => dryRunRealm(run, realm)))
}

/**
 * Plans a source on a new store, which finds what a plan in its realms would find. `realms`: those of its documents. What a realm has
 * that they do not create, such as master, is unknown: references to it are noted. Throws DocumentError, ActionError.
 */
export async function validateSource(
  service: Service,
  source: SourceContent,
  {
    realms,
    strict,
  }: Pick<RunInput, 'strict'> & { readonly realms: readonly Pick<DesiredRealm, 'name' | 'realmReference'>[] },
): Promise<RunOutcome> {
  const referenced = realms.filter(({ name, realmReference }) => realmReference && name !== MASTER)
  for (const { name } of referenced)
    await service.createRealm(SYSTEM, { representation: { realm: name } }, async () => {})
  const incompleteRealms = new Set([MASTER, ...referenced.map(({ name }) => name)])
  return planRun({ service, caller: SYSTEM, sources: [source], incompleteRealms, strict })
}

/** A plan, and the outcome of its dry run. */
export interface DryRunPlan {
  readonly planned: PlannedRealm
  readonly outcome: RealmOutcome
}

/** Returns the plans that applying the sources would execute, each with the outcome of a dry run. */
export async function dryRunPlans(input: RunInput): Promise<DryRunPlan[]> {
  const run = await startRun(input)
  const plans: DryRunPlan[] = []
  for (const realm of run.queue.realms) {
    let last: PlannedRealm | undefined
    const outcome = await dryRunRealm(run, realm, (planned) => {
      last = planned
    })
    if (last) plans.push({ planned: last, outcome })
  }
  return plans
}

/**
 * Applies sources: the plan of each realm in one transaction, all or nothing. A plan that needs an approval is saved and left
 * pending; other realms are applied.
 */
export function applySources(service: Service, caller: Caller, sources: readonly SourceContent[]): Promise<RunOutcome> {
  return applyRun({ service, caller, sources })
}

/** Applies the sources of a run. `savedPlan`: the saved plan that the plan of each realm has to equal. */
export async function applyRun({
  savedPlan,
  ...input
}: RunInput & { readonly savedPlan?: SavedPlanToApply }): Promise<RunOutcome> {
  const { applyCounts } = input.service
  try {
    return await withoutEncryptedTexts(input, () => applyEach(input, savedPlan))
  } catch (error) {
    applyCounts.failed++
    throw error
  }
}

async function applyEach(input: RunInput, savedPlan: SavedPlanToApply | undefined): Promise<RunOutcome> {
  const { applyCounts } = input.service
  const run = { ...(await startRun(input)), savedPlan }
  const realms = await reconcileEach(run, 'apply', async (realm) => {
    const outcome = await applyRealm(run, realm)
    if (summarize(outcome) === 'changed') await reportProgress({ phase: 'applied', realm: realm.desired.name })
    return outcome
  })
  applyCounts[realms.some((realm) => summarize(realm) === 'changed') ? 'changed' : 'unchanged']++
  await deleteStalePlans(run, realms)
  return toRunOutcome(run, realms)
}

/** Runs the work. Its errors about documents do not contain texts that are encrypted in their files. */
async function withoutEncryptedTexts<T>({ sources }: RunInput, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof DocumentError || error instanceof ActionError)) throw error
    const texts = [...listEncryptedTexts(sources.flatMap(({ documents }) => documents))]
    // A message may quote a part of a value, such as the name of a password policy.
    const parts = texts.flatMap((text) => text.match(/[\w.-]{4,}/g) ?? [])
    const quotable = [...texts, ...parts].filter((text) => text !== '').sort((a, b) => b.length - a.length)
    const redact = (message: string) =>
      quotable.reduce((redacted, text) => redacted.replaceAll(text, '(encrypted)'), message)
    if (error instanceof ActionError) throw error.withMessages(redact)
    throw new DocumentError(error.problems.map((problem) => ({ ...problem, message: redact(problem.message) })))
  }
}

/**
 * Returns the caller of a dry run. One who may only plan could not write what is rolled back, so the plan is that of an administrator of
 * all realms.
 */
export async function findPlanner({ service, caller, queue }: SourceRun): Promise<Caller> {
  const permissions = await service.getPermissions(caller)
  const isAdministrator = queue.realms.every(({ currentName }) =>
    hasPermission(permissions, currentName, 'administer-realm'),
  )
  const { actor, deadline, allowLockOut } = caller
  return isAdministrator ? caller : { actor, deadline, ...(allowLockOut && { allowLockOut }) }
}

/** Starts a run: finds its realms, and the permissions of its sources. */
export async function startRun(input: RunInput): Promise<SourceRun> {
  const run = { ...input, sources: input.sources.map((source) => withPermissions(input.service, source)) }
  return { ...run, queue: await readQueue(run) }
}

/** Returns a source with the permissions that the server gives to its name, unless it has others. */
function withPermissions({ sourcePermissionLookups }: Service, source: SourceContent): SourceContent {
  const sourcePermissions = source.sourcePermissions ?? findSourcePermissions(sourcePermissionLookups, source.name)
  return { ...source, sourcePermissions }
}

/** Returns the outcome of a realm in a word. */
function summarize({ plan, suspended, pendingApproval }: RealmOutcome): string {
  if (suspended) return 'suspended'
  if (pendingApproval) return 'pending approval'
  return plan.creates || plan.actions.length > 0 ? 'changed' : 'unchanged'
}

/** Reconciles the realms of the queue one after the other, and traces each. */
async function reconcileEach(
  { queue, sources }: SourceRun,
  mode: 'plan' | 'apply',
  reconcile: (realm: QueuedRealm) => Promise<RealmOutcome>,
): Promise<RealmOutcome[]> {
  const byName = new Map(queue.realms.map((realm) => [realm.desired.name, realm]))
  const outcomes: RealmOutcome[] = []
  for (const name of [...queue.unchanged, ...byName.keys()].sort(compareRealmNames)) {
    const realm = byName.get(name)
    if (!realm) outcomes.push(createUnchangedOutcome(name))
    else outcomes.push(await traceRealm(name, { mode, sources }, () => reconcile(realm)))
  }
  return outcomes
}

/** Traces the reconciliation of a realm. */
function traceRealm(
  realm: string,
  { mode, sources }: { readonly mode: string; readonly sources: readonly SourceContent[] },
  work: () => Promise<RealmOutcome>,
): Promise<RealmOutcome> {
  const source = () => sources.map(({ name }) => name).join(',')
  const describe = () => ({
    name: `${mode} realm`,
    attributes: { 'regent.realm': realm, 'regent.source': source() },
  })
  return trace(describe, async (span) => {
    const outcome = await work()
    span?.setAttributes({ 'regent.outcome': summarize(outcome) })
    return outcome
  })
}

function toRunOutcome({ sources, queue }: SourceRun, realms: readonly RealmOutcome[]): RunOutcome {
  return {
    formatVersion: FORMAT_VERSION,
    sources: sources.map(({ name, revision, removals }) => ({
      name,
      revision,
      ...(removals?.scope !== undefined && { scope: removals.scope }),
      ...toLastApply(queue.applied.get(name)),
    })),
    realms,
    notes: [...sources.flatMap(({ warnings }) => warnings ?? []), ...queue.notes],
  }
}

/** Returns the last apply among those to several realms. */
function toLastApply(applied: readonly AppliedSource[] = []): Pick<RenderedSource, 'lastApplied'> {
  const last = applied.toSorted((a, b) => b.appliedAt.getTime() - a.appliedAt.getTime())[0]
  return last ? { lastApplied: { revision: last.revision, at: last.appliedAt.toISOString() } } : {}
}

/** Deletes plans of earlier runs that are no longer pending: they are applied by now, or the declarations have changed. */
async function deleteStalePlans({ service, queue }: SourceRun, realms: readonly RealmOutcome[]): Promise<void> {
  const stale = queue.pending.filter(
    ({ plan }) => !realms.some(({ pendingApproval }) => pendingApproval?.plan === plan),
  )
  if (stale.length)
    await deleteSavedPlans(
      service,
      stale.map(({ plan }) => plan),
    )
}
