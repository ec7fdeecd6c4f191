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
import type { SourcePart } from '../merge/merge-parts.ts'
import type { Guard, RealmPlan } from '../model/action.ts'
import type { PlanInput } from '../model/plan-input.ts'
import { findRecreated } from '../plan/binding.ts'
import {
  countNotableDeletions,
  evaluateGuards,
  findAdoptedUsers,
  type GuardFacts,
  isRealmDeletion,
  type RecreationEvidence,
} from '../plan/guards.ts'

/** A plan with its input and its sources. */
interface PlanToGuard {
  readonly plan: RealmPlan
  readonly input: PlanInput
  readonly parts: readonly SourcePart[]
}

/** Returns the guards that block a plan. `where`: the realm, or the service if the realm is new. No statement for most plans, else a few. */
export async function findGuards(where: Context | Service, { plan, input, parts }: PlanToGuard): Promise<Guard[]> {
  const former = plan.creates ? await findFormerRealm(where, plan.realm) : undefined
  const facts = 'tx' in where ? await readFacts(where, { plan, input, parts }) : {}
  return evaluateGuards({
    plan,
    input,
    settings: parts.map(({ settings }) => settings),
    facts: { former, ...facts },
  })
}

async function readFacts(context: Context, { plan, input, parts }: PlanToGuard): Promise<GuardFacts> {
  const sources = parts.map(({ source }) => source)
  const adopted = plan.creates ? [] : findAdoptedUsers(input).map(({ live }) => live.id!)
  return {
    size: isRealmDeletion(plan)
      ? { ...(await getRealmSize(context)), revision: getRevisionBefore(context) }
      : undefined,
    managedCount: countNotableDeletions(plan, input) ? await countManagedBy(context, sources) : undefined,
    recreated: await findRecreatedByOthers(context, input, sources),
    creators: adopted.length ? await findUserCreators(context, adopted) : undefined,
  }
}

/** Throws `changed` if a plan is blocked by a guard that did not block it when it was planned. */
export function requireSameGuards(planned: readonly Guard[], current: readonly Guard[]): void {
  const wasPlanned = (guard: Guard) =>
    planned.some((earlier) => earlier.guard === guard.guard && earlier.revision === guard.revision)
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
