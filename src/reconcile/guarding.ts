// The guards of a plan, with what they ask of the store.
import type { Context, WriteContext } from '../service/context.ts'
import { formerRealm, makersOf, ownedBy, sizeOf } from '../service/guarded.ts'
import type { Service } from '../service/service.ts'
import type { Guard, RealmPlan } from './action.ts'
import { adopted, deletionsOf, endsRealm, guards } from './guards.ts'
import type { Part } from './parts.ts'
import type { PlanInput } from './plan-input.ts'

/** Why the plan waits for an approval. `where`: the realm, or the service while there is none. Statements: none for most plans, else a few. */
export async function guardsOf(
  where: Context | Service,
  plan: RealmPlan,
  input: PlanInput,
  parts: readonly Part[],
): Promise<Guard[]> {
  const context = 'tx' in where ? where : undefined
  const people = plan.creates ? [] : adopted(input).map(({ live }) => live.id!)
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
        makers: people.length ? await makersOf(context, people) : undefined,
      }),
    },
  )
}

/** The revision of the realm before what this transaction does: under the lock of the realm it is exact. */
function revisionBefore(context: Context | WriteContext): number {
  return 'version' in context ? context.version - 1 : context.realm.revision
}
