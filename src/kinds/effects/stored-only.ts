// The effects of kinds that are stored and exported, and have no effect: workflows.
import { type KindEffects, storedOnly } from './field-effect.ts'
import { NO_WORKFLOWS } from './reasons.ts'

/** The effects of the fields of workflows. */
export const workflowEffects: KindEffects = storedOnly(NO_WORKFLOWS, [
  'concurrency',
  'enabled',
  'if',
  'name',
  'on',
  'schedule',
  'steps.after',
  'steps.uses',
  'steps.with',
])
