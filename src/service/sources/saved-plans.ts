// Saved plans: who may approve and apply them, and for how long.
import { randomInt } from 'node:crypto'
import { MASTER } from '../../kinds/built-in/index.ts'
import {
  approvePlan,
  countPendingPlans,
  deletePlans,
  findPlan,
  insertPlan,
  type NewSavedPlan,
  type PlanApproval,
  recordPlanApplied,
  renewPlan,
  type SavedPlan,
  type SavedRealmPlan,
  findPlanApproval as selectPlanApproval,
  selectPlans,
  updateAnnotator,
  withdrawApproval,
} from '../../store/sources/plans.ts'
import { hasPermission } from '../context/admin-permissions.ts'
import type { WriteContext } from '../context/context.ts'
import { failure } from '../context/errors.ts'
import { type Caller, type Service, SYSTEM } from '../context/service.ts'
import { asStoreOperator } from '../context/store-operator.ts'
import type { Actor, PlanAuthor } from '../context/store-types.ts'
import { getLastVersion } from '../journal/history.ts'
import { enqueueNotification, type Notification } from '../messages/notifications.ts'
import { getCallingAuthor, requireSecondApprover } from './plan-authors.ts'

/** A saved plan with its outcome and its sealed sources; null after they were deleted. */
export type SavedPlanWithContent = SavedPlan & { readonly outcome: unknown; readonly sealedSources: string | null }

/** The time in which a saved plan can be approved and applied, in milliseconds. */
export const PLAN_LIFETIME_MS = 24 * 60 * 60 * 1000

/** The state of a saved plan. `pending`: it needs an approval; `ready`: it needs none. */
export type SavedPlanState = 'pending' | 'approved' | 'ready' | 'applied' | 'expired'

/** Returns the state of a saved plan. */
export function getPlanState(plan: SavedPlan, now: Date): SavedPlanState {
  const changedRealms = plan.realms.filter(({ hasChanges }) => hasChanges)
  if (changedRealms.length && changedRealms.every(({ appliedAt }) => appliedAt !== null)) return 'applied'
  if (plan.expires <= now) return 'expired'
  if (plan.approvedAt) return 'approved'
  return plan.realms.some(({ guards }) => guards.length) ? 'pending' : 'ready'
}

/** A plan to save. */
export type PlanToSave = Pick<
  NewSavedPlan,
  'digest' | 'sources' | 'outcome' | 'sealedSources' | 'isFromRun' | 'authors'
> & {
  readonly realms: readonly SavedRealmPlan[]
  /** Returns the notification of a new plan. Absent: there is none. */
  readonly notify?: ((saved: Pick<SavedPlan, 'id' | 'expires'>) => Notification) | undefined
}

/**
 * Saves a plan, and notifies receivers of a new one. A run that would apply the same as an earlier one renews the plan of that. One
 * statement, or two, besides those of a notification.
 */
export async function savePlan(
  service: Service,
  { actor }: Caller,
  { realms, notify, ...plan }: PlanToSave,
): Promise<Pick<SavedPlan, 'id' | 'digest' | 'expires'>> {
  const createdAt = service.clock()
  const expires = new Date(createdAt.getTime() + PLAN_LIFETIME_MS)
  const newPlan = { ...plan, id: generatePlanId(), createdAt, createdBy: actor, expires }
  const renewed = plan.isFromRun ? await service.query((tx) => renewPlan(tx, newPlan, createdAt)) : undefined
  if (!renewed && notify && service.notificationReceivers.length)
    await service.writeRuntime(SYSTEM, MASTER, async (context) => {
      await insertPlan(context.tx, newPlan, realms)
      await enqueueNotification(service, context, notify(newPlan))
    })
  else if (!renewed) await service.query((tx) => insertPlan(tx, newPlan, realms))
  const saved = renewed ?? newPlan
  return { id: saved.id, digest: saved.digest, expires: saved.expires }
}

const CONSONANTS = 'bdfghjklmnprstv'
const VOWELS = 'aeiou'

/** Returns an id that is easy to say and to type: `lopa-nime-tura`. */
function generatePlanId(): string {
  const syllable = () => [CONSONANTS, VOWELS].map((letters) => letters[randomInt(letters.length)]).join('')
  return Array.from({ length: 3 }, () => syllable() + syllable()).join('-')
}

/** Returns the saved plans that the caller may approve in all of their realms, the newest first. One statement, besides those of a read. */
export function listSavedPlans(service: Service, caller: Caller): Promise<SavedPlan[]> {
  return service.read(caller, MASTER, async ({ tx, permissions }) =>
    (await selectPlans(tx)).filter(({ realms }) =>
      realms.every(({ name }) => hasPermission(permissions, name, 'approve-plans')),
    ),
  )
}

/** Returns a saved plan. Throws not_found, or forbidden unless the caller may approve it in all its realms. Two statements. */
export async function getSavedPlan(service: Service, caller: Caller, id: string): Promise<SavedPlanWithContent> {
  const plan = await service.query((tx) => findPlan(tx, id))
  if (!plan) throw failure('not_found', `There is no plan ${id}. "regent plans" lists the saved plans.`)
  const realms = plan.realms.map(({ name }) => name)
  await service.requirePermission(caller, 'approve-plans', realms)
  return plan
}

/** Throws conflict if the plan was applied, or has expired. */
export function requireOpenPlan(plan: SavedPlan, now: Date): void {
  const state = getPlanState(plan, now)
  if (state === 'applied')
    throw failure('conflict', `The plan ${plan.id} was applied already. Plan again to apply later changes.`)
  if (state === 'expired')
    throw failure('conflict', `The plan ${plan.id} expired at ${plan.expires.toISOString()}. Create it again.`)
}

/** An approval of a saved plan; `withCredentials`: also for credentials that the plan sets. */
export interface NewApproval {
  readonly plan: string
  readonly withCredentials: boolean
  /** An annotation of a resource approves the plan: only an admission review knows its author. */
  readonly isAnnotation?: true
}

/** Records the approval of a saved plan. Throws not_found, forbidden, invalid or conflict. Three statements. */
export async function recordApproval(
  service: Service,
  caller: Caller,
  { plan: id, withCredentials, isAnnotation }: NewApproval,
): Promise<SavedPlanWithContent> {
  const plan = await getSavedPlan(service, caller, id)
  const at = service.clock()
  requireOpenPlan(plan, at)
  if (!plan.realms.some(({ guards }) => guards.length))
    throw failure('invalid', `The plan ${id} needs no approval. Apply it with "regent apply --plan ${id}".`)
  if (service.requiresSecondApprover)
    requireSecondApprover(plan, isAnnotation ? getAnnotator(plan) : await getCallingAuthor(service, caller))
  const by = (isAnnotation && plan.annotatedBy) || getApprover(caller.actor)
  if (!(await service.query((tx) => approvePlan(tx, id, { at, by, withCredentials }))))
    throw failure('conflict', `The plan ${id} was applied meanwhile.`)
  return { ...plan, approvedAt: at, approvedBy: by, withCredentials }
}

/**
 * Records that a user of a cluster sets the annotation that approves a plan. `isDryRun`: only checks it. Throws forbidden if the user
 * made changes of the plan, and a second approver is required. Unknown plans are ignored. Two statements.
 */
export async function recordAnnotator(
  service: Service,
  { plan: id, annotator, isDryRun }: { readonly plan: string; readonly annotator: string; readonly isDryRun: boolean },
): Promise<void> {
  const plan = await service.query((tx) => findPlan(tx, id))
  if (!plan) return
  if (service.requiresSecondApprover) requireSecondApprover(plan, { names: [annotator] })
  if (!isDryRun) await service.query((tx) => updateAnnotator(tx, id, annotator))
}

/** Rejects and deletes a saved plan; the same plan would need an approval again. Throws not_found, forbidden or conflict. Three statements. */
export async function rejectSavedPlan(service: Service, caller: Caller, id: string): Promise<void> {
  const plan = await getSavedPlan(service, caller, id)
  requireOpenPlan(plan, service.clock())
  await deleteSavedPlans(service, [id])
}

/** Returns the number of plans that are pending approval, so that their changes are not applied. One statement. */
export function countPlansPendingApproval(service: Service): Promise<number> {
  return service.query((tx) => countPendingPlans(tx, service.clock()))
}

/** Deletes saved plans that were not applied, such as those whose sources have changed. One statement. */
export function deleteSavedPlans(service: Service, ids: readonly string[]): Promise<void> {
  return service.query((tx) => deletePlans(tx, ids))
}

/** Returns the user who set the annotation that approves a plan. Throws forbidden if that is unknown. */
function getAnnotator({ id, annotatedBy }: SavedPlan): PlanAuthor {
  if (annotatedBy !== null) return { names: [annotatedBy] }
  const reason = `Regent does not know who set the annotation with the plan ${id}, since no admission review has seen it. Approve it with "regent approve ${id}", or enable admission, remove the annotation and set it again.`
  throw failure('forbidden', 'HTTP 403 Forbidden', { reason })
}

/** Returns the name of the user who approves. Throws forbidden if it is not a user. */
function getApprover(actor: Actor): string {
  const { kind, user } = asStoreOperator(actor)
  if (kind === 'administrator' && user !== undefined) return user
  const reason = 'Only a user who administers the realm can approve a plan'
  throw failure('forbidden', 'HTTP 403 Forbidden', { reason })
}

/** Finds the approval of the part of a plan for one realm, by its digest; `plan`: only of that saved plan. */
export interface ApprovalSearch {
  readonly realm: string
  readonly digest: string
  readonly plan?: string | undefined
}

/** Returns the approval of exactly these changes in a realm. One statement. */
export function findPlanApproval(
  service: Service,
  { realm, digest, plan }: ApprovalSearch,
): Promise<PlanApproval | undefined> {
  return service.query((tx) => selectPlanApproval(tx, { name: realm, digest, now: service.clock(), plan }))
}

/** Revokes the approval of a saved plan. One statement. */
export function revokeApproval(service: Service, plan: string): Promise<void> {
  return service.query((tx) => withdrawApproval(tx, plan))
}

/** Marks a saved plan as applied in a realm, in the transaction of the apply. Throws stale if it may not be applied any more. Two statements. */
export async function markPlanApplied(context: WriteContext, plan: string, realm: string): Promise<void> {
  const { tx, now } = context
  const revision = getLastVersion(context)
  if (!(await recordPlanApplied(tx, plan, { name: realm, at: now, revision })))
    throw failure('stale', `The plan ${plan} was applied or rejected meanwhile, or it has expired.`)
}
