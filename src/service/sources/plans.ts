// Plans that are kept until somebody applies them, or approves them: who may, and for how long.
import { randomInt } from 'node:crypto'
import { MASTER } from '../../kinds/built-in/index.ts'
import {
  type Approval,
  approvePlan,
  deletePlans,
  findPlan,
  insertPlan,
  type KeptPlan,
  type NewPlan,
  type PlanOfRealm,
  renewPlan,
  selectApproval,
  selectPlans,
  takePlan,
  voidApproval,
} from '../../store/sources/plans.ts'
import type { WriteContext } from '../context/context.ts'
import { failure } from '../context/errors.ts'
import { inPerson } from '../context/in-person.ts'
import { allows } from '../context/power.ts'
import type { Caller, Service } from '../context/service.ts'
import type { Actor } from '../context/store-types.ts'
import { lastVersion } from '../journal/history.ts'

/** A kept plan with the plan as people see it and what its sources stated, sealed; null: that is dropped. */
export type WholePlan = KeptPlan & { readonly shown: unknown; readonly kept: string | null }

/** So long a plan can be approved and applied, after it was made. */
export const PLAN_LIFE = 24 * 60 * 60 * 1000

/** Where a kept plan stands. */
export type PlanState = 'pending' | 'approved' | 'ready' | 'applied' | 'expired'

/** Where a kept plan stands: `waits` for an approval, is `approved`, or is `ready` because it needs none. */
export function stateOf(plan: KeptPlan, now: Date): PlanState {
  const acting = plan.realms.filter(({ hasChanges }) => hasChanges)
  if (acting.length && acting.every(({ appliedAt }) => appliedAt !== null)) return 'applied'
  if (plan.expires <= now) return 'expired'
  if (plan.approvedAt) return 'approved'
  return plan.realms.some(({ guards }) => guards.length) ? 'pending' : 'ready'
}

/** What a plan to keep says: the rest follows from when it is made, and by whom. */
export type PlanToKeep = Pick<NewPlan, 'digest' | 'sources' | 'shown' | 'kept' | 'runs'> & {
  readonly realms: readonly PlanOfRealm[]
}

/** Keeps a plan; a run that would apply the same as one before keeps that one. One statement, or two. */
export async function keepPlan(
  service: Service,
  { actor }: Caller,
  { realms, ...plan }: PlanToKeep,
): Promise<Pick<KeptPlan, 'id' | 'digest' | 'expires'>> {
  const madeAt = service.clock()
  const expires = new Date(madeAt.getTime() + PLAN_LIFE)
  const whole = { ...plan, id: speakable(), madeAt, madeBy: actor, expires }
  const known = plan.runs ? await service.look((tx) => renewPlan(tx, whole, madeAt)) : undefined
  if (!known) await service.look((tx) => insertPlan(tx, whole, realms))
  const { id, digest, expires: until } = known ?? whole
  return { id, digest, expires: until }
}

const CONSONANTS = 'bdfghjklmnprstv'
const VOWELS = 'aeiou'

/** A name that can be said and typed: `lopa-nime-tura`. */
function speakable(): string {
  const syllable = () => [CONSONANTS, VOWELS].map((letters) => letters[randomInt(letters.length)]).join('')
  return Array.from({ length: 3 }, () => syllable() + syllable()).join('-')
}

/** The plans about realms which the caller may administer, the latest first. One statement, besides those of a read. */
export function listPlans(service: Service, caller: Caller): Promise<KeptPlan[]> {
  return service.read(caller, MASTER, async ({ tx, power }) =>
    (await selectPlans(tx)).filter(({ realms }) => realms.every(({ name }) => allows(power, name, 'administer-realm'))),
  )
}

/** A plan by its id. Throws not_found, and forbidden where the caller may not administer all its realms. Two statements. */
export async function getPlan(service: Service, caller: Caller, id: string): Promise<WholePlan> {
  const found = await service.look((tx) => findPlan(tx, id))
  if (!found) throw failure('not_found', `there is no plan ${id}: "regent plans" lists those that there are`)
  await service.demand(
    caller,
    'administer-realm',
    found.realms.map(({ name }) => name),
  )
  return found
}

/** Throws conflict where the plan is applied, or its time is over. */
export function demandOpen(plan: KeptPlan, now: Date): void {
  const state = stateOf(plan, now)
  if (state === 'applied') throw failure('conflict', `the plan ${plan.id} is applied already`)
  if (state === 'expired')
    throw failure('conflict', `the time of plan ${plan.id} was over at ${plan.expires.toISOString()}: plan again`)
}

/** Approves what a plan waits for. Throws forbidden, invalid or conflict. Three statements. */
export async function approve(
  service: Service,
  caller: Caller,
  id: string,
  withCredentials: boolean,
): Promise<WholePlan> {
  const plan = await getPlan(service, caller, id)
  const [by, at] = [approver(caller.actor), service.clock()]
  demandOpen(plan, at)
  if (!plan.realms.some(({ guards }) => guards.length))
    throw failure('invalid', `the plan ${id} waits for no approval: apply it with "regent apply --plan ${id}"`)
  if (!(await service.look((tx) => approvePlan(tx, id, { at, by, withCredentials }))))
    throw failure('conflict', `the plan ${id} was applied meanwhile`)
  return { ...plan, approvedAt: at, approvedBy: by, withCredentials }
}

/** Forgets a plan: who applies the same again is asked again. Throws not_found, forbidden or conflict. Three statements. */
export async function reject(service: Service, caller: Caller, id: string): Promise<void> {
  const plan = await getPlan(service, caller, id)
  demandOpen(plan, service.clock())
  await dropPlans(service, [id])
}

/** Forgets plans that nobody has applied: their sources state something else by now. One statement. */
export function dropPlans(service: Service, ids: readonly string[]): Promise<void> {
  return service.look((tx) => deletePlans(tx, ids))
}

/** A person approves, by their name. */
function approver(actor: Actor): string {
  const { kind, user } = inPerson(actor)
  if (kind === 'administrator' && user !== undefined) return user
  throw failure('forbidden', 'HTTP 403 Forbidden', {
    reason: 'a plan is approved by a person who administers the realm',
  })
}

/** The approval of exactly what a plan does in a realm, if there is one; `plan`: of that kept plan only. One statement. */
export function approvalOf(
  service: Service,
  realm: string,
  digest: string,
  plan?: string,
): Promise<Approval | undefined> {
  return service.look((tx) => selectApproval(tx, { name: realm, digest, now: service.clock(), plan }))
}

/** Takes the approval of a plan back: what was approved is not what would be done. One statement. */
export function takeBack(service: Service, plan: string): Promise<void> {
  return service.look((tx) => voidApproval(tx, plan))
}

/** Notes in the transaction that does it that a plan is carried out in a realm. Throws changed where it may not be any more. Two statements. */
export async function take(context: WriteContext, plan: string, realm: string): Promise<void> {
  const taken = await takePlan(context.tx, plan, { name: realm, at: context.now, revision: lastVersion(context) })
  if (!taken) throw failure('changed', `the plan ${plan} was applied or rejected meanwhile, or its time is over`)
}
