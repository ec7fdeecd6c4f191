// Finds the guards that block a plan, with the facts that they need from the store.
import type { Context, WriteContext } from '../../service/context/context.ts'
import { failure } from '../../service/context/errors.ts'
import type { Service } from '../../service/context/service.ts'
import {
  countManagedBy,
  findFormerRealm,
  findNamingEntries,
  findUserCreators,
  getRealmSize,
} from '../../service/sources/guard-queries.ts'
import type { HeldPermissions } from '../execute/realm-outcome.ts'
import type { SourcePart } from '../merge/merge-parts.ts'
import type { Guard, RealmPlan } from '../model/action.ts'
import type { PlanInput } from '../model/plan-input.ts'
import { findRecreated } from '../plan/binding.ts'
import {
  countNotableDeletions,
  evaluateGuards,
  filterAdoptedUsers,
  findAdoptedObjects,
  type GuardFacts,
  isRealmDeletion,
  type RecreationEvidence,
} from '../plan/guards.ts'
import { findAdminGrants } from './admin-grants.ts'

/** A plan with its input and its sources. */
interface PlanToGuard {
  readonly plan: RealmPlan
  readonly input: PlanInput
  readonly parts: readonly SourcePart[]
  /** Of a plan that was already applied: the admin permissions that adopted objects had before. */
  readonly heldPermissions?: HeldPermissions | undefined
}

/** The guards that block a plan, and the admin permissions that the objects it adopts have without it. */
export interface EvaluatedGuards {
  readonly guards: Guard[]
  readonly heldPermissions?: HeldPermissions | undefined
}

/** Returns the guards that block a plan. `where`: the realm, or the service if the realm is new. No statement for most plans, else a few. */
export async function findGuards(where: Context | Service, guarded: PlanToGuard): Promise<EvaluatedGuards> {
  const { plan, input, parts } = guarded
  const former = plan.creates ? await findFormerRealm(where, plan.realm) : undefined
  const { heldPermissions, ...facts } = 'tx' in where ? await readFacts(where, guarded) : {}
  const settings = parts.map((part) => part.settings)
  return { guards: evaluateGuards({ plan, input, settings, facts: { former, ...facts } }), heldPermissions }
}

async function readFacts(
  context: Context,
  { plan, input, parts, heldPermissions }: PlanToGuard,
): Promise<GuardFacts & Pick<EvaluatedGuards, 'heldPermissions'>> {
  const sources = parts.map(({ source }) => source)
  const adopted = plan.creates ? [] : findAdoptedObjects(input)
  const users = filterAdoptedUsers(adopted).map(({ live }) => live.id!)
  return {
    ...(await findAdminGrants(context, { plan, input, adopted, heldPermissions })),
    size: isRealmDeletion(plan)
      ? { ...(await getRealmSize(context)), revision: getRevisionBefore(context) }
      : undefined,
    managedCount: countNotableDeletions(plan, input) ? await countManagedBy(context, sources) : undefined,
    recreated: await findRecreatedByOthers(context, input, sources),
    creators: users.length ? await findUserCreators(context, users) : undefined,
  }
}

/** Throws `stale` if a plan is blocked by a guard, or for an object, that did not block it when it was planned. */
export function requireSameGuards(planned: readonly Guard[], current: readonly Guard[]): void {
  const wasPlanned = ({ guard, revision, objects }: Guard) =>
    planned.some((earlier) => {
      const earlierObjects = new Set(earlier.objects)
      const isSame = earlier.guard === guard && earlier.revision === revision
      return isSame && objects.every((object) => earlierObjects.has(object))
    })
  const added = current.find((guard) => !wasPlanned(guard))
  if (added) throw failure('stale', `The plan needs an approval since the realm has changed: it ${added.message}.`)
}

/** Returns the revision of the realm before this transaction. Under the lock of the realm it is exact. */
function getRevisionBefore(context: Context | WriteContext): number {
  return 'version' in context ? context.version - 1 : context.realm.revision
}

/** Returns the recreated objects that none of the sources created. Two statements at most; none if there are none. */
async function findRecreatedByOthers(
  context: Context,
  input: PlanInput,
  sources: readonly string[],
): Promise<RecreationEvidence[]> {
  const recreated = [...findRecreated(input).values()]
  const entries = await findNamingEntries(
    context,
    recreated.map(({ live }) => ({ kind: live.kind, object: live.id! })),
  )
  return recreated
    .map((object) => ({ ...object, entry: entries.get(`${object.live.kind} ${object.live.id}`) }))
    .filter(({ entry }) => entry?.operation !== 'create' || !isOneOf(entry.actor.source, sources))
}

/** Whether a run, whose sources the journal names as a list, included one of these sources. */
function isOneOf(runSources: string | undefined, sources: readonly string[]): boolean {
  return runSources?.split(', ').some((source) => sources.includes(source)) === true
}
