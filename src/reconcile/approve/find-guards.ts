// The guards that block a plan, with the facts that they need from the store.
import type { Context, WriteContext } from '../../service/context/context.ts'
import { failure } from '../../service/context/errors.ts'
import type { Service } from '../../service/context/service.ts'
import { formerRealm, makersOf, namingEntries, ownedBy, sizeOf } from '../../service/kinds/guarded.ts'
import type { Part } from '../merge/merge-parts.ts'
import type { Guard, RealmPlan } from '../model/action.ts'
import type { PlanInput } from '../model/plan-input.ts'
import { findRecreated } from '../plan/binding.ts'
import { adoptedUsers, deletionsOf, endsRealm, guards, type NamedAgain } from '../plan/guards.ts'

/** Returns why a plan needs an approval. `where`: the realm, or the service if the realm is new. No statement for most plans, else a few. */
export async function findGuards(
  where: Context | Service,
  plan: RealmPlan,
  input: PlanInput,
  parts: readonly Part[],
): Promise<Guard[]> {
  const context = 'tx' in where ? where : undefined
  const people = plan.creates ? [] : adoptedUsers(input).map(({ live }) => live.id!)
  const sources = parts.map(({ source }) => source)
  return guards(
    plan,
    input,
    parts.map(({ settings }) => settings),
    {
      former: plan.creates ? await formerRealm(where, plan.realm) : undefined,
      ...(context && {
        size: endsRealm(plan) ? { ...(await sizeOf(context)), revision: revisionBefore(context) } : undefined,
        owned: deletionsOf(plan, input) ? await ownedBy(context, sources) : undefined,
        recreated: await recreatedByOthers(context, input, sources),
        makers: people.length ? await makersOf(context, people) : undefined,
      }),
    },
  )
}

/** Throws changed if a plan needs an approval for more than was found when it was planned. */
export function demandSameGuards(planned: readonly Guard[], now: readonly Guard[]): void {
  const isKnown = (guard: Guard) =>
    planned.some((known) => known.guard === guard.guard && known.revision === guard.revision)
  const added = now.find((guard) => !isKnown(guard))
  if (added) throw failure('changed', `this ${added.message}, which needs an approval`)
}

/** The revision of the realm before what this transaction does: under the lock of the realm it is exact. */
function revisionBefore(context: Context | WriteContext): number {
  return 'version' in context ? context.version - 1 : context.realm.revision
}

/** The recreated objects that none of the sources made itself. Two statements at most, none where there are none. */
async function recreatedByOthers(
  context: Context,
  input: PlanInput,
  sources: readonly string[],
): Promise<NamedAgain[]> {
  const recreated = [...findRecreated(input).values()]
  const entries = await namingEntries(
    context,
    recreated.map(({ live }) => ({ kind: live.kind, object: live.id! })),
  )
  return recreated
    .map((one) => ({ ...one, entry: entries.get(`${one.live.kind} ${one.live.id}`) }))
    .filter(({ entry }) => entry?.operation !== 'create' || !isOneOf(entry.actor.source, sources))
}

/** Whether a run of several sources, as the journal names them, had one of these. */
function isOneOf(named: string | undefined, sources: readonly string[]): boolean {
  return named?.split(', ').some((source) => sources.includes(source)) === true
}
