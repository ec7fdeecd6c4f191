// Plans that are kept until somebody applies them, or approves them: who may, and for how long.
import { randomInt } from 'node:crypto'
import { MASTER } from '../../kinds/built-in/index.ts'
import {
  type PlanApproval,
  approvePlan,
  deletePlans,
  findPlan,
  insertPlan,
  type SavedPlan,
  type NewSavedPlan,
  type SavedRealmPlan,
  renewPlan,
  findPlanApproval as selectPlanApproval,
  selectPlans,
  recordPlanApplied,
  withdrawApproval,
} from '../../store/sources/plans.ts'
import type { WriteContext } from '../context/context.ts'
import { failure } from '../context/errors.ts'
import { asStoreOperator } from '../context/store-operator.ts'
import { hasPermission } from '../context/admin-permissions.ts'
import type { Caller, Service } from '../context/service.ts'
import type { Actor } from '../context/store-types.ts'
import { getLastVersion } from '../journal/history.ts'

/** A kept plan with the plan as people see it and what its sources stated, sealed; null: that is dropped. */
export type SavedPlanWithContent = SavedPlan & { readonly outcome: unknown; readonly sealedSources: string | null }

/** So long a plan can be approved and applied, after it was made. */
export const PLAN_LIFETIME_MS = 24 * 60 * 60 * 1000

/** Where a kept plan stands. */
export type SavedPlanState = 'pending' | 'approved' | 'ready' | 'applied' | 'expired'

/** Where a kept plan stands: `waits` for an approval, is `approved`, or is `ready` because it needs none. */
export function getPlanState(plan: SavedPlan, now: Date): SavedPlanState {
  const acting = plan.realms.filter(({ hasChanges }) => hasChanges)
  if (acting.length && acting.every(({ appliedAt }) => appliedAt !== null)) return 'applied'
  if (plan.expires <= now) return 'expired'
  if (plan.approvedAt) return 'approved'
  return plan.realms.some(({ guards }) => guards.length) ? 'pending' : 'ready'
}

/** What a plan to keep says: the rest follows from when it is made, and by whom. */
export type PlanToSave = Pick<NewSavedPlan, 'digest' | 'sources' | 'outcome' | 'sealedSources' | 'isFromRun'> & {
  readonly realms: readonly SavedRealmPlan[]
}

/** Keeps a plan; a run that would apply the same as one before keeps that one. One statement, or two. */
export async function savePlan(
  service: Service,
  { actor }: Caller,
  { realms, ...plan }: PlanToSave,
): Promise<Pick<SavedPlan, 'id' | 'digest' | 'expires'>> {
  const createdAt = service.clock()
  const expires = new Date(createdAt.getTime() + PLAN_LIFETIME_MS)
  const whole = { ...plan, id: generatePlanId(), createdAt, createdBy: actor, expires }
  const known = plan.isFromRun ? await service.query((tx) => renewPlan(tx, whole, createdAt)) : undefined
  if (!known) await service.query((tx) => insertPlan(tx, whole, realms))
  const { id, digest, expires: until } = known ?? whole
  return { id, digest, expires: until }
}

const CONSONANTS = 'bdfghjklmnprstv'
const VOWELS = 'aeiou'

/** A name that can be said and typed: `lopa-nime-tura`. */
function generatePlanId(): string {
  const syllable = () => [CONSONANTS, VOWELS].map((letters) => letters[randomInt(letters.length)]).join('')
  return Array.from({ length: 3 }, () => syllable() + syllable()).join('-')
}

/** The plans about realms which the caller may administer, the latest first. One statement, besides those of a read. */
export function listSavedPlans(service: Service, caller: Caller): Promise<SavedPlan[]> {
  return service.read(caller, MASTER, async ({ tx, permissions: power }) =>
    (await selectPlans(tx)).filter(({ realms }) => realms.every(({ name }) => hasPermission(power, name, 'administer-realm'))),
  )
}

/** A plan by its id. Throws not_found, and forbidden where the caller may not administer all its realms. Two statements. */
export async function getSavedPlan(service: Service, caller: Caller, id: string): Promise<SavedPlanWithContent> {
  const found = await service.query((tx) => findPlan(tx, id))
  if (!found) throw failure('not_found', `there is no plan ${id}: "regent plans" lists those that there are`)
  await service.requirePermission(
    caller,
    'administer-realm',
    found.realms.map(({ name }) => name),
  )
  return found
}

/** Throws conflict where the plan is applied, or its time is over. */
export function requireOpenPlan(plan: SavedPlan, now: Date): void {
  const state = getPlanState(plan, now)
  if (state === 'applied') throw failure('conflict', `the plan ${plan.id} is applied already`)
  if (state === 'expired')
    throw failure('conflict', `the time of plan ${plan.id} was over at ${plan.expires.toISOString()}: plan again`)
}

/** Approves what a plan waits for. Throws forbidden, invalid or conflict. Three statements. */
export async function recordApproval(
  service: Service,
  caller: Caller,
  id: string,
  withCredentials: boolean,
): Promise<SavedPlanWithContent> {
  const plan = await getSavedPlan(service, caller, id)
  const [by, at] = [getApprover(caller.actor), service.clock()]
  requireOpenPlan(plan, at)
  if (!plan.realms.some(({ guards }) => guards.length))
    throw failure('invalid', `the plan ${id} waits for no approval: apply it with "regent apply --plan ${id}"`)
  if (!(await service.query((tx) => approvePlan(tx, id, { at, by, withCredentials }))))
    throw failure('conflict', `the plan ${id} was applied meanwhile`)
  return { ...plan, approvedAt: at, approvedBy: by, withCredentials }
}

/** Forgets a plan: who applies the same again is asked again. Throws not_found, forbidden or conflict. Three statements. */
export async function rejectSavedPlan(service: Service, caller: Caller, id: string): Promise<void> {
  const plan = await getSavedPlan(service, caller, id)
  requireOpenPlan(plan, service.clock())
  await deleteSavedPlans(service, [id])
}

/** Forgets plans that nobody has applied: their sources state something else by now. One statement. */
export function deleteSavedPlans(service: Service, ids: readonly string[]): Promise<void> {
  return service.query((tx) => deletePlans(tx, ids))
}

/** A person approves, by their name. */
function getApprover(actor: Actor): string {
  const { kind, user } = asStoreOperator(actor)
  if (kind === 'administrator' && user !== undefined) return user
  throw failure('forbidden', 'HTTP 403 Forbidden', {
    reason: 'a plan is approved by a person who administers the realm',
  })
}

/** The approval of exactly what a plan does in a realm, if there is one; `plan`: of that kept plan only. One statement. */
export function findPlanApproval(
  service: Service,
  realm: string,
  digest: string,
  plan?: string,
): Promise<PlanApproval | undefined> {
  return service.query((tx) => selectPlanApproval(tx, { name: realm, digest, now: service.clock(), plan }))
}

/** Takes the approval of a plan back: what was approved is not what would be done. One statement. */
export function revokeApproval(service: Service, plan: string): Promise<void> {
  return service.query((tx) => withdrawApproval(tx, plan))
}

/** Notes in the transaction that does it that a plan is carried out in a realm. Throws changed where it may not be any more. Two statements. */
export async function markPlanApplied(context: WriteContext, plan: string, realm: string): Promise<void> {
  const taken = await recordPlanApplied(context.tx, plan, { name: realm, at: context.now, revision: getLastVersion(context) })
  if (!taken) throw failure('stale', `the plan ${plan} was applied or rejected meanwhile, or its time is over`)
}
