// Plans a realm: resolves renames, compares, and checks that the plan can be applied. Pure.
import type { RealmPlan } from '../model/action.ts'
import type { LiveState, PlanInput } from '../model/plan-input.ts'
import { findObstacles, type Obstacle } from './obstacles.ts'
import { buildPlan } from './plan.ts'
import { resolveRenames } from './renames.ts'

/** A plan, and the input that it was made from. */
export interface PlanResult<Input extends PlanInput> {
  /** The input with renamed objects under their new keys. */
  readonly input: Input
  readonly plan: RealmPlan
  /** The reasons why the plan cannot be applied; empty if it can. */
  readonly obstacles: readonly Obstacle[]
  /** Whether the plan needs objects that an earlier realm of the same run creates. */
  readonly needsEarlierRealm: boolean
}

/** Plans a realm. `created`: objects that earlier realms of the same run create in it before the plan is applied. */
export function planRealm<Input extends PlanInput>(
  observed: Input,
  created: readonly LiveState[] = [],
): PlanResult<Input> {
  const { input, notes } = resolveRenames(observed)
  const plan = buildPlan(input)
  const obstacles = findObstacles(input, plan)
  if (obstacles.length && created.length)
    return { ...planRealm({ ...observed, live: [...observed.live, ...created] }), needsEarlierRealm: true }
  return {
    input,
    plan: notes.length ? { ...plan, notes: [...plan.notes, ...notes] } : plan,
    obstacles,
    needsEarlierRealm: false,
  }
}
