import type { InventoryRow } from '../../service/context/store-types.ts'
import type { PlanInput } from '../model/plan-input.ts'

/** What was observed, as a plan is made of it, and the rows of the inventory as they are kept, source by source. */
export interface Observed extends PlanInput {
  readonly rows: readonly InventoryRow[]
}
