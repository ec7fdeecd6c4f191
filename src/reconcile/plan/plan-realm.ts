// The plan of a realm, renames included, with everything that prevents it. Pure.
import type { RealmPlan } from '../model/action.ts'
import type { LiveState, PlanInput } from '../model/plan-input.ts'
import { type Obstacle, obstacles } from './obstacles.ts'
import { plan } from './plan.ts'
import { withRenames } from './renames.ts'

/** A plan, and what it was made from. */
export interface PlanResult<Input extends PlanInput> {
  /** The input with renamed objects under their new keys. */
  readonly input: Input
  readonly plan: RealmPlan
  /** Why the plan cannot be carried out; empty if it can. */
  readonly obstacles: readonly Obstacle[]
  /** Whether the plan needs objects that an earlier realm of the same run creates. */
  readonly needsEarlierRealm: boolean
}

/** Plans a realm. `created`: objects that earlier realms of the same run create in it before the plan is applied. */
export function planRealm<Input extends PlanInput>(
  observed: Input,
  created: readonly LiveState[] = [],
): PlanResult<Input> {
  const { input, notes } = withRenames(observed)
  const result = plan(input)
  const found = obstacles(input, result)
  if (found.length && created.length)
    return { ...planRealm({ ...observed, live: [...observed.live, ...created] }), needsEarlierRealm: true }
  return {
    input,
    plan: notes.length ? { ...result, notes: [...result.notes, ...notes] } : result,
    obstacles: found,
    needsEarlierRealm: false,
  }
}
