// The execution of one step of a workflow, for users or clients.
import type { WriteContext } from '../context/context.ts'
import type { WorkflowDefinition, WorkflowStep } from './definitions.ts'

/** A step that is being executed. */
export interface StepExecution {
  readonly context: WriteContext
  readonly workflow: WorkflowDefinition
  readonly step: WorkflowStep
  /** The step after it; undefined if it is the last one. */
  readonly nextStep: WorkflowStep | undefined
  /** Reports why the step has no effect. */
  readonly report: (reason: string) => void
}
