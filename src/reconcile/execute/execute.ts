// Executes a plan in one transaction. A dry run rolls it back; an apply records and commits it.
import { formatAddress } from '../../kinds/tree.ts'
import { ALL_PERMISSIONS, intersectPermissions } from '../../service/context/admin-permissions.ts'
import type { WriteContext } from '../../service/context/context.ts'
import { concernsWholeChange, failure, ServiceError } from '../../service/context/errors.ts'
import type { Caller, Service, WriteTarget } from '../../service/context/service.ts'
import { Rollback } from '../../service/context/store-types.ts'
import {
  getCallerAccess,
  requireAdministratorLeft,
  requireOwnAccessLeft,
} from '../../service/objects/last-administrator.ts'
import { requirePermissions } from '../../service/permissions/require-permissions.ts'
import { hasOtherSources } from '../../service/sources/guard-queries.ts'
import type { DesiredRealm } from '../merge/desired-realm.ts'
import type { Action, RealmPlan } from '../model/action.ts'
import { maskEncryptedValues } from '../model/action.ts'
import { isRealmDeletion } from '../plan/guards.ts'
import { ActionError } from './action-error.ts'
import { type AppliedObjects, apply, type DeclaredState } from './apply.ts'
import { prepareDeclaredState, skipHashing } from './credentials.ts'
import { countEffects, type UserEffect } from './effects.ts'
import { type PlannedRealm, type RealmOutcome, toRealmOutcome } from './realm-outcome.ts'

const NO_DRY_RUN = {
  message: 'The consequences are not shown, since the plan needs objects that another realm of this run creates first.',
}

/** Executes a plan once and rolls it back, which shows its consequences. */
export async function dryRun(service: Service, caller: Caller, planned: PlannedRealm): Promise<RealmOutcome> {
  const { plan, needsEarlierRealm } = planned
  const guards = planned.guards.length ? { guards: planned.guards } : {}
  const noConsequences = { consequences: [], effects: [], ...guards }
  if (needsEarlierRealm)
    return { plan: { ...maskEncryptedValues(plan), notes: [...plan.notes, NO_DRY_RUN] }, ...noConsequences }
  if (!plan.creates && !plan.actions.length) return { plan: maskEncryptedValues(plan), ...noConsequences }
  return executePlan(service, caller, {
    planned,
    declared: await prepareDeclaredState(service, planned, skipHashing),
    isDryRun: true,
    finish: async (context, _applied, effects) => {
      throw new Rollback({ ...toRealmOutcome(context, plan, effects), ...guards })
    },
  })
}

/** A plan to execute, and the end of its transaction. */
export interface PlanExecution {
  readonly planned: PlannedRealm
  readonly declared: DeclaredState
  /** Whether `finish` rolls back the transaction. */
  readonly isDryRun?: true
  /** Ends the transaction after the plan was applied: it returns the outcome to commit, or throws. */
  readonly finish: (
    context: WriteContext,
    applied: AppliedObjects,
    effects: readonly UserEffect[],
  ) => Promise<RealmOutcome>
}

/**
 * Executes a plan in one transaction. If that fails, it is repeated action by action and rolled back, so that the error names the
 * action. Throws ActionError, Forbidden, `stale`.
 */
export async function executePlan(service: Service, caller: Caller, execution: PlanExecution): Promise<RealmOutcome> {
  const { desired, plan } = execution.planned
  const attempt = (isStepwise: boolean) => {
    const work = (context: WriteContext) => executeInTransaction(context, caller, { ...execution, isStepwise })
    return plan.creates
      ? service.createRealm(caller, toNewRealm(desired, plan), work)
      : service.write(caller, toWriteTarget(plan), work)
  }
  try {
    return await attempt(false)
  } catch (error) {
    if (concernsWholeChange(error)) throw error
    // A statement for many rows does not say which row failed, so the plan is repeated action by action.
    await attempt(true).catch((stepError: unknown) => {
      const isRealmRefused = plan.creates && stepError instanceof ServiceError && stepError.code !== 'forbidden'
      throw isRealmRefused ? new ActionError(toRealmCreation(desired, plan), stepError) : stepError
    })
    throw error
  }
}

async function executeInTransaction(
  context: WriteContext,
  caller: Caller,
  { planned, declared, finish, isStepwise, isDryRun }: PlanExecution & { readonly isStepwise: boolean },
): Promise<RealmOutcome> {
  const { input, plan, grantablePermissions = ALL_PERMISSIONS } = planned
  requirePermissions(context, 'administer-realm')
  // An administrator of the realm who deletes it loses access by intent.
  const access = isRealmDeletion(plan) ? undefined : await getCallerAccess(context, caller)
  if (isRealmDeletion(plan)) await requireNoOtherSource(context, [...input.markedRows.keys()])
  const effects = await countEffects(context, plan)
  const permissions = intersectPermissions(context.permissions, grantablePermissions)
  const applied = await apply({ ...context, isApply: true, permissions }, { plan, declared, isStepwise, isDryRun })
  // A stepwise execution only searches for the failing action, so it is never committed.
  if (isStepwise) throw new Rollback(undefined)
  await requireAdministratorLeft(context)
  if (access !== undefined) await requireOwnAccessLeft(context, caller, access)
  return finish(context, applied, effects)
}

/** Throws `stale` if another source has declared something of the realm since its deletion was planned. */
async function requireNoOtherSource(context: WriteContext, sources: readonly string[]): Promise<void> {
  if (await hasOtherSources(context, sources))
    throw failure('stale', `another source declares objects of the realm ${context.realm.name} now`)
}

/** Returns the action that creates the realm: the plan of a new realm has only an update of its settings. */
function toRealmCreation({ name, objects }: DesiredRealm, plan: RealmPlan): Action {
  const { position } = objects.get(formatAddress('realm', [name]))!.origin
  const changes = plan.actions.find(({ kind }) => kind === 'realm')?.changes ?? []
  return { operation: 'create', kind: 'realm', key: [name], changes, position }
}

/** Returns the realm to write to. A change of the realm itself also writes to its admin client in master. */
function toWriteTarget({ realm, currentName, actions }: RealmPlan): WriteTarget {
  return { realm: currentName ?? realm, withMaster: actions.some(({ kind }) => kind === 'realm'), isLarge: true }
}

/** Returns the realm to create, with the declared ids of its objects by address. Its settings follow as an update. */
function toNewRealm(desired: DesiredRealm, { realm }: RealmPlan) {
  const ids = new Map(
    [...desired.objects].flatMap(([address, { id }]) => (id === undefined ? [] : [[address, id] as const])),
  )
  return { representation: { realm }, id: ids.get(formatAddress('realm', [realm])), ids }
}
